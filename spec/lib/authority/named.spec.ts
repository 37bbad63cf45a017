import { expect } from 'chai';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { layoutOf } from '../../../lib/home/layout.js';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { Troupe } from '../cli/troupe.js';
import { makeClient, poll, type Client } from '../gateway/fixture.js';

/**
 * Whose action was it? The hand alone ("workflow-run:r1") did not say, the audit log had no line of it at all, and
 * what an agent wrote that a person must approve stood in no list of what waits.
 */
describe('what is done on behalf of another', () => {
  let troupe: Troupe;
  let instance: Instance;
  let operator: Client;
  let ann: Client;
  let annId: string;
  before(async () => {
    troupe = await Troupe.create();
    const home = troupe.home();
    await mkdir(join(home, 'org', 'build'), { recursive: true, mode: 0o700 });
    await writeFile(join(home, 'org', 'build', 'ann.yaml'), 'rank: employee\nreportsTo: bob\n');
    await writeFile(join(home, 'org', 'build', 'bob.yaml'), 'rank: executive\n');
    await writeFile(
      join(home, 'config.yaml'),
      'engines: {echo: {command: [/bin/cat]}, default: echo}\nagents: {sandbox: off}\n',
    );
    instance = await startInstance({ home, port: 0 });
    const { token } = await troupe.announcement();
    const port = Number(new URL(instance.url).port);
    operator = makeClient(port, { authorization: `Bearer ${token}` });
    const opened = await operator.post('/api/sessions', { prompt: 'x', employee: 'ann' });
    expect(opened.status, opened.text).to.equal(201);
    annId = opened.body.id as string;
    // the end of its turn takes the token of that turn away
    await poll(
      () => operator.get(`/api/sessions/${annId}`),
      ({ body }) => body.status === 'idle',
    );
    ann = makeClient(port, { authorization: `Bearer ${instance.tokens.mint(annId)}` });
  });
  after(async () => {
    await instance.close();
    await troupe.clear();
  });

  const audited = async (): Promise<readonly Record<string, unknown>[]> => {
    await instance.app.records?.audit.flush();
    const text = await readFile(join(layoutOf({ home: troupe.home() }).audit, '000001.jsonl'), 'utf8');
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const write = async (actor: object, title: string): Promise<string> => {
    const made = await ann.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: { title, owner: 'ann', nodes: [{ id: 'a', type: 'step', actor }], edges: [] },
    });
    expect(made.status, made.text).to.equal(201);
    return (made.body.definition ?? made.body).id as string;
  };
  const archives = (id: string) => ({ kind: 'work-item', operation: 'archive', id, fields: {} });
  const ended = (id: string, runId: string) =>
    poll(
      () => operator.get(`/api/workflow-definitions/${id}/runs/${runId}`),
      ({ body }) => ['completed', 'failed'].includes(body.status as string),
    );

  it('has hand and cause in the audit log and in why, allowed and refused', async () => {
    const own = (await ann.post('/api/work-items', { title: 'own' })).body.workItem.id as string;
    const foreign = (await operator.post('/api/work-items', { title: 'foreign' })).body.workItem.id as string;
    for (const [target, outcome] of [
      [own, 'completed'],
      [foreign, 'failed'],
    ] as const) {
      const id = await write(archives(target), `Archive ${target}`);
      const { runId } = (await ann.post(`/api/workflow-definitions/${id}/run`, {})).body;
      expect((await ended(id, runId as string)).body.status).to.equal(outcome);
      const line = (await audited()).find((one) => one['by'] === `workflow-run:${runId}` && one['target']);
      expect(line).to.deep.include({
        verdict: outcome === 'completed' ? 'allowed' : 'refused',
        onBehalfOf: [`session:${annId}`],
        authority: 'item.archive',
        method: 'WORK',
      });
      if (outcome === 'failed') continue;
      const { last } = (await operator.get(`/api/inspect/actors/work-item/${target}/why`)).body;
      expect(last).to.deep.include({
        event: 'item.archive',
        by: `workflow-run:${runId}`,
        onBehalfOf: [`session:${annId}`],
      });
    }
  });

  it('waits in the list of what waits where a person must approve it, and is decided from there', async () => {
    const post = { kind: 'http', method: 'GET', url: 'https://example.org/' };
    const id = await write(post, 'Send');
    const other = await write(post, 'Send more');
    const waiting = async () =>
      (await operator.get('/api/attention')).body.waiting.filter(
        ({ kind }: { kind: string }) => kind === 'workflow',
      );
    expect((await waiting())[0]).to.deep.include({ id, what: 'version', waitingId: '1', on: 'operator' });
    const at = ['--home', troupe.home()];
    expect((await troupe.run('waiting', ...at)).out).to.match(/version +you .*Send, version 1: .*sends/);
    expect((await troupe.run('approve', id, ...at)).out).to.include('Approved: Send');
    expect((await troupe.run('reject', other, ...at)).out).to.include('Rejected: Send more');
    expect(await waiting()).to.deep.equal([]);
    const state = async (of: string) =>
      (await operator.get(`/api/inspect/actors/workflow/${of}`)).body.view?.authority?.state;
    expect([await state(id), await state(other)]).to.deep.equal(['approved', 'rejected']);
  });
});
