import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setup } from 'xstate';
import type { Kind } from '../../../actors/contracts.js';
import type { Stuck } from '../../../lib/inspector/stuck-answer.js';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { openHouse, type House } from '../gateway/fixture.js';

/** One reading for the inspector's list of what is stuck and for the number beside its name. */
describe('GET /api/inspect/stuck', () => {
  let house: House;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stuck-'));
    house = await openHouse({ kinds: [glass, vase], evidence: await openEvidence({ standard: folder }) });
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  const read = async (query = ''): Promise<Stuck> =>
    (await house.operator.get(`/api/inspect/stuck${query}`)).body as Stuck;
  const made = async (prompt: string, title: string): Promise<string> =>
    (await house.operator.post('/api/sessions', { prompt, title })).body.id as string;

  it('has what halted or failed, longest first, and each dead letter', async () => {
    const failed = await made('fail please', 'Fix the fence');
    await house.supervisor.spawn('glass', { id: 'one' });
    for (let n = 0; n < 2; n += 1)
      await house.supervisor.ask('glass', 'one', { type: 'break' }).catch(() => undefined);
    let now = await read();
    for (let looks = 0; now.stopped.length < 2 && looks < 1_000; looks += 1) now = await read();
    expect(now.stopped.map(({ id }) => id).sort()).to.deep.equal([failed, 'one'].sort());
    const halted = now.stopped.find(({ id }) => id === 'one');
    expect(halted?.reason).to.match(/^It failed 2 times within 60 s; last: [^]*it broke$/);
    expect(now.deadLetters.map(({ actor }) => actor.id)).to.deep.equal(['one', 'one']);
    expect(now.isCut).to.equal(false);
  });

  // It was known to be silent on its own page, and stood in the list a quarter of an hour later
  it('has a turn as quiet from when it has said nothing for so long, and as at work for long after that', async () => {
    const id = await made('hang on', 'Count the chairs');
    const why = async (query: string): Promise<string | undefined> =>
      (await read(query)).slow.find((one) => one.id === id)?.why;
    expect(await why('')).to.equal(undefined);
    // With no process free, all that waited for one were called silent after a minute, and their agents had not begun
    expect([await why('?quietSeconds=0'), await why('?longSeconds=0')]).to.deep.equal([undefined, undefined]);
    const { turn } = (await house.operator.get(`/api/inspect/actors/session/${id}`)).body.context;
    await house.supervisor.ask('session', id, { type: 'turn.began', turnId: turn.id });
    expect(await why('?quietSeconds=0')).to.equal('quiet');
    expect(await why('?longSeconds=0')).to.equal('long');
    const quiet = (await read('?quietSeconds=0')).slow.find((one) => one.id === id);
    expect(quiet?.slowSince).to.equal(turn.startedAt);
    await house.supervisor.ask('session', id, { type: 'turn.heard', turnId: turn.id, quietMs: 0 });
    const heard = (await read('?quietSeconds=0')).slow.find((one) => one.id === id);
    expect(heard?.slowSince, 'its silence begins with its last word').to.be.above(turn.startedAt as number);
    expect((await house.operator.get('/api/inspect/stuck?quietSeconds=-1')).status).to.equal(400);
  });

  // Once it was allowed its turn was listed as silent, for as long as it had waited for the permission
  it('has no turn that waits for a permission, and counts its silence from the decision', async () => {
    const id = await made('hang on', 'Clean the cellar');
    const ask = (event: { readonly type: string }): Promise<unknown> =>
      house.supervisor.ask('session', id, event);
    const quiet = async () => (await read('?quietSeconds=0')).slow.find((one) => one.id === id);
    await ask({ type: 'turn.began', turnId: `${id}:1` } as never);
    await ask({
      type: 'permission.asked',
      permissionId: 'p1',
      turnId: `${id}:1`,
      tool: 'Bash',
      title: 'ls',
      text: '{}',
      waitMs: 600_000,
    } as never);
    expect(await quiet()).to.equal(undefined);
    const path = `/api/sessions/${id}/permissions/p1`;
    expect((await house.operator.post(path, { decision: 'allow' })).status).to.equal(200);
    const { turn } = (await house.operator.get(`/api/inspect/actors/session/${id}`)).body.context;
    expect((await quiet())?.slowSince).to.equal(turn.heardAt);
    expect(turn.heardAt).to.be.above(turn.startedAt as number);
  });

  // The list said that it waits, and on which run stood two pages further
  it('says of a queued run which run of its workflow has to end first', async () => {
    const gate = { kind: 'approval', approvalRef: 'go', description: 'Go on?' };
    const nodes = [
      { id: 'ask', type: 'gate', label: 'Ask', gate },
      { id: 'send', type: 'step', label: 'Send', actor: { kind: 'noop' } },
    ];
    const edges = [{ id: 'e', from: 'ask', to: 'send' }];
    const workflows: string[] = [];
    const runs: string[] = [];
    for (const title of ['Ship it', 'Bake it']) {
      const made = await house.operator.post('/api/workflow-definitions/mutate', {
        operation: 'create',
        definition: { title, concurrency: 1, nodes, edges },
      });
      expect(made.status, made.text).to.equal(201);
      workflows.push(made.body.definition.id as string);
    }
    for (const workflow of [workflows[0], workflows[1], workflows[0]])
      runs.push(
        (await house.operator.post(`/api/workflow-definitions/${workflow}/run`, {})).body.runId as string,
      );
    const queuedNow = async () => (await read()).slow.filter(({ why }) => why === 'queued');
    let queued = await queuedNow();
    for (let reads = 0; queued[0]?.behind?.runs.length !== 1 && reads < 1_000; reads += 1)
      queued = await queuedNow();
    expect(queued.map(({ id, behind }) => [id, behind])).to.deep.equal([
      [runs[2], { workflow: workflows[0], runs: [{ id: runs[0], title: 'Ship it' }] }],
    ]);
  });

  // Supervision alone knew of it; the list of what is stuck had a session in error and nothing of its engine
  it('has an engine that cannot run once a session waits for it, and what would repair it', async () => {
    expect((await read()).engines).to.deep.equal([]);
    const { id } = (
      await house.operator.post('/api/sessions', { prompt: 'x', engine: 'ghost', title: 'Haunt' })
    ).body;
    const [engine, ...others] = (await read()).engines;
    expect(others).to.deep.equal([]);
    expect(engine).to.deep.include({
      name: 'ghost',
      reason: 'Its program was not found. Install ghost.',
      sessions: 1,
      first: { kind: 'session', id, title: 'Haunt' },
      isAtLeast: false,
    });
  });

  // Fifty of each state were read, and no one was told that there are more
  it('says which states hold more actors than were read, and how many dead letters there are', async () => {
    for (let n = 0; n < 51; n += 1) await house.supervisor.spawn('vase', { id: `vase-${n}` });
    const { stopped, more, isCut, deadLetters, deadLettersCount } = await read();
    expect(stopped.filter(({ kind }) => kind === 'vase')).to.have.length(50);
    expect(more).to.deep.equal([{ kind: 'vase', state: 'blocked', read: 50, count: 51 }]);
    expect(isCut).to.equal(true);
    expect(deadLettersCount).to.equal(deadLetters.length);
  });
});

const vase = {
  kind: 'vase',
  version: 1,
  machine: setup({}).createMachine({ id: 'vase', initial: 'blocked', states: { blocked: {} } }),
  view: ({ value }: { value: unknown }) => value,
} as unknown as Kind; // a list of kinds forgets the type of each one's machine

const machine = setup({
  types: {} as { events: { type: 'break' } },
  guards: {
    breaks: () => {
      throw new Error('it broke');
    },
  },
}).createMachine({
  id: 'glass',
  initial: 'whole',
  states: { whole: { on: { break: { guard: 'breaks', target: 'held' } } }, held: {} },
});
const glass = {
  kind: 'glass',
  version: 1,
  machine,
  view: ({ value }: { value: unknown }) => value,
  supervision: { intensity: 1, periodSeconds: 60, backoffMs: 0, giveUp: 'halt' },
} as unknown as Kind; // a list of kinds forgets the type of each one's machine
