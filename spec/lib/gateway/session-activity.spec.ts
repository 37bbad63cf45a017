import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEngine } from '../../../actors/engines/engine.js';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { makeClient, type Client } from './fixture.js';
import { readFile } from 'node:fs/promises';

/** What an agent did, as clients of a real gateway read it. */
describe('the activity of an agent, through the gateway', () => {
  let home: string;
  let instance: Instance;
  let client: Client;
  let operatorToken: string;
  const long = `${'line of a log\n'.repeat(2_000)}needle at the end`;
  const busy = defineEngine({
    name: 'busy',
    effortMechanism: 'none',
    isInProcess: true,
    discover: async () => ({ available: true, defaultModel: null, models: [] }),
    async turn(request, io) {
      if (request.prompt.includes('oak')) {
        for (let n = 0; n < 1_100; n += 1)
          io.report({ type: 'file.changed', path: `leaf/${n}`, change: 'added' });
        return { outcome: 'succeeded', text: 'planted' };
      }
      io.report({ type: 'tool.started', toolId: 't1', tool: 'Bash', input: '{"command":"make plumtree"}' });
      io.report({
        type: 'tool.finished',
        toolId: 't1',
        output: `${operatorToken}\n${long}`,
        isError: false,
      });
      io.report({ type: 'file.changed', path: 'src/plum.ts', change: 'added' });
      return { outcome: 'succeeded', text: 'built' };
    },
  });

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'activity-'));
    instance = await startInstance({ home, port: 0, engines: [busy] });
    const announced = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    operatorToken = announced.token;
    client = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${operatorToken}` });
  });
  after(async () => {
    await instance.close();
    await rm(home, { recursive: true, force: true });
  });

  it('is messages of the session, a file where it is long, found by search, and free of the token', async () => {
    const { body } = await client.post('/api/sessions', { prompt: 'build', engine: 'busy' });
    let session = (await client.get(`/api/sessions/${body.id}`)).body;
    while (session.status === 'running') session = (await client.get(`/api/sessions/${body.id}`)).body;
    const [asked, tool, change, answer] = session.messages;
    expect([asked.content, tool.content, change.content, answer.content]).to.deep.equal([
      'build',
      'Using Bash',
      'Added src/plum.ts',
      'built',
    ]);
    expect(tool).to.deep.include({ role: 'assistant', toolCall: 'Bash', toolId: 't1' });
    expect(tool.meta).to.include({ kind: 'tool', state: 'done' });
    expect(tool.meta.toolOutputBytes).to.be.greaterThan(20_000);
    const file = await client.get(tool.media[0].url);
    expect(file.text).to.include('needle at the end').and.not.include(operatorToken);
    expect(JSON.stringify(session)).to.not.include(operatorToken);
    const found = (await client.get('/api/search/messages?query=plumtree')).body;
    expect(found.messages.map(({ messageId }: { messageId: string }) => messageId)).to.deep.equal([tool.id]);
  });

  // A search looked at the last thousand messages of a session and did not say so.
  it('is found however long ago, page by page, each once', async () => {
    const { body } = await client.post('/api/sessions', { prompt: 'plant the oak', engine: 'busy' });
    while ((await client.get(`/api/sessions/${body.id}`)).body.status === 'running');
    const search = `/api/search/messages?sessionId=${body.id}`;
    const [first] = (await client.get(`${search}&query=oak`)).body.messages;
    expect(first).to.include({ role: 'user', snippet: 'plant the oak' });
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { body: { messages: { messageId: string }[]; nextCursor: string | null } } =
        await client.get(
          `${search}&query=leaf&limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
      found.push(...page.body.messages.map(({ messageId }) => messageId));
      cursor = page.body.nextCursor;
    }
    expect(found).to.have.length(1_100);
    expect(new Set(found).size).to.equal(1_100);
  });
});
