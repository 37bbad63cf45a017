import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Troupe } from './troupe.js';

/**
 * Sixteen sessions were `running` where three processes were allowed, as was a run of a workflow that waited for the one
 * before it: no one could see which of them worked, and a cron job at work had never run.
 */
describe('what waits for its place, in a terminal', () => {
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
    await mkdir(troupe.home());
    await writeFile(join(troupe.home(), 'config.yaml'), 'engines: {maxProcesses: 1}\n');
    await troupe.start();
  });
  after(() => troupe.clear());
  async function done(...words: string[]): Promise<string> {
    const { code, out, err } = await troupe.run(...words, '--home', troupe.home());
    expect(code, err).to.equal(0);
    return out;
  }
  async function api(path: string, body: object): Promise<Record<string, unknown>> {
    const { url, token } = await troupe.announcement();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(new URL(path, url), { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, unknown>;
  }

  it('is said to be queued to who waits for its answer', async () => {
    const first = (await done('run', '--detach', 'count to 600 every 1 seconds')).trim();
    const second = troupe.begin('run', 'count to 1', '--home', troupe.home());
    await second.seen(/^\(queued: as many agents work as engines\.maxProcesses allows/m);
    await api(`/api/sessions/${first}/stop`, {});
    const { code, err } = await second.ended;
    expect(code, err).to.equal(0);
  });

  it('is queued, and what works is running', async () => {
    const prompt = 'count to 600 every 1 seconds';
    const { id: job } = await api('/api/cron', { name: 'tick', schedule: '0 3 * * *', prompt });
    await done('cron', 'run', String(job));
    expect(await done('cron', 'list')).to.match(/ running +tick\n/);
    let list = await done('list');
    while (!/ running +clerk/.test(list)) list = await done('list');
    const id = (await done('run', '--detach', 'count to 1')).trim();
    expect(await done('list')).to.match(new RegExp(`${id} +queued +clerk`));
    expect(await done('show', id)).to.match(/^.*\[queued, clerk\]\n/);
  });

  it('is a queued run of a workflow, behind one that waits for a person', async () => {
    const gate = { kind: 'approval', approvalRef: 'go', description: 'Go?' };
    await api('/api/workflow-definitions', {
      title: 'Held up',
      nodes: [
        { id: 'ask', type: 'gate', gate },
        { id: 'go', type: 'step', actor: { kind: 'noop' } },
      ],
      edges: [{ id: 'e', from: 'ask', to: 'go' }],
    });
    const [first, second] = [
      await done('workflow', 'run', 'Held up'),
      await done('workflow', 'run', 'Held up'),
    ];
    const runs = await done('workflow', 'runs', 'Held up');
    expect(runs)
      .to.match(new RegExp(`${second.trim()} +queued `))
      .and.match(new RegExp(`${first.trim()} +parked `));
  });
});
