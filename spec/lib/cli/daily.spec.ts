import { expect } from 'chai';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, isRefusal } from '../../../lib/client/index.js';
import { Troupe } from './troupe.js';

/** What a person does all day, without writing HTTP requests. */
describe('troupe items, workflow, cron, cost, attach and stop', () => {
  let troupe: Troupe;
  const peer = fileURLToPath(new URL('../../fixtures/agents/claude.js', import.meta.url));
  before(async () => {
    troupe = await Troupe.create();
    await mkdir(troupe.home());
    const agent = join(troupe.folder, 'claude');
    await writeFile(agent, `#!/bin/sh\nexec '${process.execPath}' '${peer}' "$@"\n`);
    await chmod(agent, 0o755);
    const adder = join(troupe.folder, 'adder.mjs');
    await writeFile(
      adder,
      `const { SVC_GATEWAY_URL: url, SVC_GATEWAY_TOKEN: token } = process.env;
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
console.log((await fetch(url + '/api/work-items', { method: 'POST', headers, body: '{"title":"x"}' })).status);`,
    );
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      `engines:\n  claude:\n    bin: ${agent}\n  adder:\n    command: [${process.execPath}, ${adder}]\n`,
    );
    await troupe.start();
  });
  after(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];
  async function done(...words: string[]): Promise<string> {
    const { code, out, err } = await troupe.run(...at(...words));
    expect(code, err).to.equal(0);
    return out;
  }
  function sure<Value>(answer: Value): Exclude<Value, { readonly refused: true }> {
    if (isRefusal(answer)) expect.fail(answer.message);
    return answer as Exclude<Value, { readonly refused: true }>;
  }
  async function api(path: string, body: object): Promise<Record<string, unknown>> {
    const { url, token } = await troupe.announcement();
    const answer = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, unknown>;
  }

  // The API could, the page could; a terminal had no way to be rid of a session
  it('renames, archives and deletes sessions, and says which one stays and why', async () => {
    const sessionOf = async (prompt: string): Promise<string> => {
      const { err } = await troupe.run(...at('run', '--engine', 'clerk', prompt));
      return /\(session ([0-9a-f-]{36});/.exec(err)?.[1] ?? err;
    };
    const [first, second] = [await sessionOf('one'), await sessionOf('two')];
    expect(await done('session', 'rename', first.slice(0, 8), 'The first')).to.equal(
      `Renamed ${first.slice(0, 8)}: The first\n`,
    );
    expect(await done('session', 'archive', second.slice(0, 8))).to.include(`session unarchive ${second}`);
    expect(await done('list'))
      .to.include(first)
      .and.not.include(second);
    expect(await done('session', 'unarchive', second)).to.equal('Restored the session.\n');
    expect(await done('list')).to.include(second);
    const gone = '00000000-0000-4000-8000-000000000000';
    const some = await troupe.run(...at('session', 'delete', first.slice(0, 8), second, second, gone));
    expect(some).to.include({ code: 6 });
    expect(some.out).to.match(new RegExp(`^${first}  The first\n${second}.*\nDeleted 2 sessions\\.\n$`));
    expect(some.err).to.match(/^00000000: .+\n1 of 3 could not be deleted\.\n$/);
    expect(await done('list'))
      .not.to.include(first)
      .and.not.include(second);
  });

  // Two typed characters sufficed, and the search for them sees titles too, and no more than 100 sessions
  it('deletes nothing by a few characters, nor where more sessions match than one answer holds', async () => {
    for (const deed of [['session', 'delete'], ['erase']]) {
      const short = await troupe.run(...at(...deed, 'abcdefg'));
      expect(short, deed.join(' ')).to.include({ code: 2, out: '' });
      expect(short.err).to.include('too short');
    }
    for (let n = 0; n < 100; n += 1)
      await api('/api/sessions', { prompt: 'hi', title: 'deadbeef', engine: 'clerk' });
    const many = await troupe.run(...at('session', 'delete', 'deadbeef'));
    expect(many).to.include({ code: 2, out: '' });
    expect(many.err).to.include('give the whole id');
  });

  it('adds, comments and moves work items, and passes a refusal on in its own words', async () => {
    expect(await done('items', 'add', 'Paint the fence', '--body', 'green')).to.equal(
      'Added TRP-1: Paint the fence  [backlog]\n',
    );
    expect(await done('items', 'comment', 'trp-1', 'with a brush')).to.equal('Commented on TRP-1.\n');
    expect(await done('items', 'move', 'trp-1', 'blocked', '--note', 'no paint')).to.match(/\[blocked\]/);
    expect(await done('items', 'done', 'TRP-1')).to.match(/^Done TRP-1: .*\[done\]/);
    const refused = await troupe.run(...at('items', 'move', 'TRP-1', 'blocked'));
    expect(refused.code).to.equal(6);
    expect(refused.err).to.match(/blocked/);
    expect((await troupe.run(...at('items', 'done', '../status'))).code).to.equal(2);
    expect(await done('show', 'TRP-1')).to.match(/Paint the fence[^]*comment/);
  });

  it('starts a run of a workflow by its title and lists its runs', async () => {
    expect(await done('workflow', 'list')).to.match(/^No workflows yet/);
    await api('/api/workflow-definitions', {
      title: 'Nothing much',
      nodes: [{ id: 'a', type: 'step', actor: { kind: 'noop' } }],
      edges: [],
    });
    const run = (await done('workflow', 'run', 'Nothing much')).trim();
    expect(await done('workflow', 'runs', 'Nothing much')).to.include(run);
    await api('/api/workflow-definitions', {
      title: 'Draft',
      nodes: [{ id: 't', type: 'trigger' }],
      edges: [],
    });
    const draft = await troupe.run(...at('workflow', 'run', 'Draft'));
    expect([draft.code, draft.err]).to.deep.equal([
      6,
      'The run cannot start: The workflow has no steps. (RUN_FAILED)\n',
    ]);
    expect((await troupe.run(...at('workflow', 'run', 'Something'))).err).to.match(
      /^There is no workflow "Something"\./,
    );
  });

  it('shows a workflow whole, and cancels a run by the beginning of its id', async () => {
    await api('/api/workflow-definitions', {
      title: 'Held up',
      nodes: [
        { id: 'ask', type: 'gate', gate: { kind: 'approval', approvalRef: 'go', description: 'Go?' } },
        { id: 'ship', type: 'step', actor: { kind: 'noop' } },
      ],
      edges: [{ id: 'e1', from: 'ask', to: 'ship' }],
    });
    expect(await done('workflow', 'show', 'Held up')).to.match(
      /^Held up {2}\[version 1, \w+\]\n\{[^]*\n {2}"nodes": \[[^]*"description": "Go\?"/,
    );
    const run = (await done('workflow', 'run', 'Held up')).trim();
    expect(await done('workflow', 'cancel', 'Held up', run.slice(0, 8))).to.include(`Cancelled ${run}.`);
    expect(await done('workflow', 'runs', 'Held up')).to.match(/cancelled/);
  });

  it('lists cron jobs and runs one now', async () => {
    expect(await done('cron', 'list')).to.match(/^No cron jobs yet/);
    const { id } = await api('/api/cron', { name: 'tick', schedule: '0 3 * * *', prompt: 'count to 1' });
    expect(await done('cron', 'list')).to.match(/0 3 \* \* \*/);
    expect(await done('cron', 'run', String(id))).to.equal(`Started ${String(id)}.\n`);
  });

  it('says what sessions have cost', async () => {
    await done('run', 'count to 1');
    expect(await done('cost', '--by', 'engine')).to.match(/^ENGINE +COST +SESSIONS +TURNS\nclerk +\$0\.00/);
  });

  it('watches a session that another terminal started, and stops it', async () => {
    const id = (await done('run', '--engine', 'claude', '--detach', '[[slow humming]]')).trim();
    const watching = troupe.begin(...at('attach', id));
    const second = troupe.begin(...at('attach', id));
    await Promise.race([watching.ended, done('stop', id)]);
    expect((await second.ended).code).to.equal(0);
    expect((await watching.ended).code).to.equal(0);
    expect(await done('attach', id)).to.match(/^The session is stopped\./);
    expect((await troupe.run(...at('status'))).code, 'the gateway runs on').to.equal(0);
  });

  // What a turn did is rows: neither the session's actor nor a page may grow with it.
  it('keeps a turn of 5,000 tool calls whole, and next to nothing of it with the actor', async () => {
    const client = createClient(await troupe.announcement());
    const fleet = async (): Promise<{ seq: number }> => sure(await client.get('/api/inspect/fleet'));
    const { seq: before } = await fleet();
    const words = ['--engine', 'claude', '--permissions', 'full', '--json', '[[tools 5000]]'];
    const { id } = JSON.parse(await done('run', ...words)) as { id: string };
    const steps = (await fleet()).seq - before;
    expect(steps, 'what comes together is committed together').to.be.below(2_500);
    const tools = new Map<unknown, string>();
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
      const query = { limit: '500', ...(cursor === undefined ? {} : { cursor }) };
      const page = sure(await client.get('/api/sessions/{id}/messages', { params: { path: { id }, query } }));
      for (const { toolId, meta } of page.messages)
        if (meta?.['kind'] === 'tool') tools.set(toolId, String(meta['state']));
      cursor = page.nextCursor;
    }
    expect([tools.size, new Set(tools.values()), pages]).to.deep.equal([5_000, new Set(['done']), 11]);
    const actor = await client.get('/api/inspect/actors/{kind}/{id}', {
      params: { path: { kind: 'session', id } },
    });
    expect(JSON.stringify(actor).length, 'bytes of the actor').to.be.below(8_192);
    for (const word of ['needle1x', 'needle4999x', 'needle100x']) {
      const { results } = sure(await client.get('/api/search/messages', { params: { query: { q: word } } }));
      expect(
        results.map(({ sessionId }) => sessionId),
        word,
      ).to.deep.equal([id]);
    }
  });

  it('says what agents have begun of what they may', async () => {
    expect(await done('quotas')).to.equal('No agent has begun anything yet.\n');
    expect(await done('run', '--engine', 'adder', 'add one')).to.include('201');
    expect(await done('quotas')).to.match(
      /^AGENT +PER +RESETS IN +SESSIONS +ITEMS +RUNS +BYTES +MET\nsession:\S+ +hour +\S+ .* 1 of 1000 .*\nsession:\S+ +total +- .* 1 of 100000 /,
    );
    expect(JSON.parse(await done('quotas', '--json')).agents[0].inHour.items).to.equal(1);
  });
});
