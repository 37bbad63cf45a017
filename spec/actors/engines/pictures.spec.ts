import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acpEngine } from '../../../actors/engines/acp/engine.js';
import { claudeEngine } from '../../../actors/engines/claude/engine.js';
import { codexEngine } from '../../../actors/engines/codex/engine.js';
import { imagesUnseen, type Engine } from '../../../actors/engines/engine.js';
import { openAiEngine } from '../../../actors/engines/openai/engine.js';
import { playTurn, type PlayedTurn } from '../../helpers/turn-bench.js';

/** Pictures had no spec on the wire, and a model for text alone refused the whole turn because of one. */
describe('pictures on the wire of engines', () => {
  const images = [{ name: 'dot.png', mimeType: 'image/png', data: 'iVBORw0KGgo=' }] as const;
  const peer = (name: string): string =>
    fileURLToPath(new URL(`../../fixtures/agents/${name}.js`, import.meta.url));
  let cwd: string;
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'pictures-'));
  });
  after(() => rm(cwd, { recursive: true, force: true }));
  const show = (engine: Engine): Promise<PlayedTurn> =>
    playTurn(engine, cwd, {}, { prompt: 'what is this?', images });
  const notices = ({ reports }: PlayedTurn): readonly string[] =>
    reports.flatMap((report) => (report.type === 'notice' ? [report.text] : []));

  it('reach Claude Code, Codex and agents of the protocol that take them', async () => {
    const bin = process.execPath;
    const { text } = await show(claudeEngine({ bin, args: [peer('claude')] }));
    expect(text).to.equal('echo: <base64 image/png iVBORw0KGgo=>what is this?');
    const codex = await show(codexEngine({ bin, args: [peer('codex')] }));
    expect(codex.text).to.equal('echo: what is this?<data:image/png;base64,iVBORw0KGgo=>');
    const acp = await show(acpEngine({ name: 'seer', bin, args: [peer('acp'), '--sees'] }));
    expect([acp.text, notices(acp)]).to.deep.equal(['echo: what is this?<image/png iVBORw0KGgo=>', []]);
    const blind = await show(acpEngine({ name: 'blind', bin, args: [peer('acp')] }));
    expect([blind.text, notices(blind)]).to.deep.equal(['echo: what is this?', [imagesUnseen]]);
  });

  describe('of endpoints', () => {
    const contents: unknown[] = [];
    let refusal: { readonly status: number; readonly message: string } | undefined;
    const server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
        const said = messages.at(-1)?.content;
        contents.push(said);
        if (refusal !== undefined && (Array.isArray(said) || refusal.status === 401)) {
          response.writeHead(refusal.status, { 'content-type': 'application/json' });
          return response.end(JSON.stringify({ error: { message: refusal.message } }));
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const choices = [{ index: 0, delta: { content: 'a dot' }, finish_reason: 'stop' }];
        return response.end(`data: ${JSON.stringify({ id: '1', choices })}\n\ndata: [DONE]\n\n`);
      });
    });
    const bodyOf = async (request: IncomingMessage): Promise<string> => {
      let body = '';
      for await (const piece of request) body += String(piece);
      return body;
    };
    const shown = [
      { type: 'text', text: 'what is this?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ];
    before(async () => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    beforeEach(() => {
      contents.length = 0;
      refusal = undefined;
    });
    after(() => {
      server.closeAllConnections();
      server.close();
    });
    const endpoint = (more: object = {}): Engine =>
      openAiEngine({
        name: 'local',
        baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
        models: ['m'],
        retryMs: 1,
        ...more,
      });

    it('reach the model', async () => {
      const played = await show(endpoint());
      expect([played.text, notices(played), contents]).to.deep.equal(['a dot', [], [shown]]);
    });

    for (const [status, message] of [
      [400, 'image_url is only supported by certain models'],
      [500, 'image input is not supported'],
    ] as const)
      it(`are left out, in words, where the model refuses them with ${status}`, async () => {
        refusal = { status, message };
        const played = await show(endpoint());
        expect([played.outcome, played.text, notices(played)]).to.deep.equal([
          'succeeded',
          'a dot',
          [imagesUnseen],
        ]);
        expect(contents.at(0)).to.deep.equal(shown);
        expect(contents.at(-1)).to.equal('what is this?');
      });

    it('are not what another refusal is taken for', async () => {
      refusal = { status: 401, message: 'no such key' };
      const played = await show(endpoint());
      expect([played.outcome, notices(played), contents.length]).to.deep.equal(['failed', [], 1]);
    });

    it('are not for an engine whose settings say that it takes text alone', () => {
      expect([endpoint().seesImages, endpoint({ seesImages: false }).seesImages]).to.deep.equal([
        true,
        false,
      ]);
    });
  });
});
