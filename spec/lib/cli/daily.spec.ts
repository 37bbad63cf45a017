import { expect } from 'chai';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  async function api(path: string, body: object): Promise<Record<string, unknown>> {
    const { url, token } = await troupe.announcement();
    const answer = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, unknown>;
  }

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

  it('says what agents have begun of what they may', async () => {
    expect(await done('quotas')).to.equal('No agent has begun anything yet.\n');
    expect(await done('run', '--engine', 'adder', 'add one')).to.include('201');
    expect(await done('quotas')).to.match(
      /^AGENT +PER +RESETS IN +SESSIONS +ITEMS +RUNS +BYTES +MET\nsession:\S+ +hour +\S+ .* 1 of 1000 .*\nsession:\S+ +total +- .* 1 of 100000 /,
    );
    expect(JSON.parse(await done('quotas', '--json')).agents[0].inHour.items).to.equal(1);
  });
});
