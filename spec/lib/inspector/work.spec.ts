import { expect } from 'chai';
import { fromPromise, setup } from 'xstate';
import type { Effect, Kind } from '../../../actors/contracts.js';
import { noteHere, type SpawnNote } from '../../../actors/engines/process/reap.js';
import { processTable } from '../../../actors/engines/process/table.js';
import type { Pulse, Work } from '../../../lib/inspector/answers.js';
import { openHouse, type House } from '../gateway/fixture.js';

/** How it goes with work at this moment, for one who opens the page long after it began. */
describe('GET /api/inspect/actors/:kind/:id/work and /api/inspect/pulse', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse({ kinds: [keeper] });
  });
  afterEach(() => house.close());

  const workOf = async (kind: string, id: string): Promise<Work> =>
    (await house.operator.get(`/api/inspect/actors/${kind}/${id}/work`)).body as Work;
  const pulse = async (): Promise<Pulse> => (await house.operator.get('/api/inspect/pulse')).body as Pulse;

  it('tells what an agent said last, to one who did not listen then', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'stream and hang' })).body;
    let work = await workOf('session', id as string);
    for (let tries = 0; work.said === null && tries < 1_000; tries += 1)
      work = await workOf('session', id as string);
    expect(work.said).to.include({ text: 'did' });
    expect(work.said?.at).to.be.closeTo(house.supervisor.environment.clock.now(), 60_000);
    expect(work.place).to.equal(null);
    expect((await house.operator.get('/api/inspect/actors/session/none/work')).status).to.equal(404);
    expect((await house.agent(id as string).get(`/api/inspect/actors/session/${id}/work`)).status).to.equal(
      403,
    );
  });

  // It answered the words of an erased session until the next start
  it('forgets what was said once the turn is over, so that nothing outlives an erasure', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'stream and hang' })).body;
    let work = await workOf('session', id as string);
    for (let tries = 0; work.said === null && tries < 1_000; tries += 1)
      work = await workOf('session', id as string);
    await house.operator.post(`/api/sessions/${id}/stop`);
    for (let tries = 0; work.said !== null && tries < 1_000; tries += 1)
      work = await workOf('session', id as string);
    expect(work.said).to.equal(null);
  });

  it('tells of each process that was noted whether it is still that one', async () => {
    const startTime = (await processTable().startTime(process.pid)) as string;
    const mine: SpawnNote = noteHere({ spawnId: 'k', tokenHash: 'secret', pid: process.pid, startTime });
    for (const [id, note, isAlive] of [
      ['alive', mine, true],
      ['another with its number', { ...mine, startTime: 'another boot:1' }, false],
      ['on another machine', { ...mine, machine: 'elsewhere' }, null],
    ] as const) {
      const key = id.replaceAll(' ', '-');
      await house.supervisor.spawn('keeper', { id: key, input: { ...note } });
      let work = await workOf('keeper', key);
      for (let tries = 0; work.processes.length === 0 && tries < 1_000; tries += 1)
        work = await workOf('keeper', key);
      expect(work.processes, id).to.deep.equal([
        { pid: process.pid, isAlive, machine: isAlive === null ? 'elsewhere' : null },
      ]);
      expect(JSON.stringify(work)).to.not.include('secret');
    }
  });

  it('remembers rates and refusals from when the gateway began', async () => {
    const { workItem } = (await house.operator.post('/api/work-items', { title: 'x' })).body;
    await house.operator.post(`/api/work-items/${workItem.id}/approval`, { decision: 'approve' });
    const { perSecond, perKind, refused, refusals } = await pulse();
    expect(perSecond).to.have.length(60);
    expect(perSecond.reduce((sum, count) => sum + count, 0)).to.be.at.least(1);
    expect(perKind['work-item']).to.be.greaterThan(0);
    expect(refused).to.equal(1);
    expect(refusals).to.have.length(1);
    expect(refusals[0]).to.deep.include({ kind: 'work-item', id: workItem.id });
  });
});

/** Notes what it was given, and works until it is stopped. */
const machine = setup({
  types: {} as { context: { note: object }; input: object },
  actors: { keep: fromPromise(() => new Promise<never>(() => undefined)) },
}).createMachine({
  id: 'keeper',
  context: ({ input }) => ({ note: input }),
  initial: 'keeping',
  states: {
    keeping: { invoke: { src: 'keep', input: ({ context }: { context: { note: object } }) => context.note } },
  },
});
const keep: Effect = {
  guarantee: 'at-most-once',
  async run(note, context) {
    await context.checkpoint(note as never);
    await new Promise<void>((resolve) => {
      if (context.signal.aborted) resolve();
      context.signal.addEventListener('abort', () => resolve());
    });
    return null;
  },
  recover: async () => null,
} as Effect;
const keeper = {
  kind: 'keeper',
  version: 1,
  machine,
  view: ({ value }: { value: unknown }) => value,
  effects: { keep },
} as unknown as Kind; // a list of kinds forgets the type of each one's machine

describe('GET /api/inspect/actors/:kind/:id/history?revision=', () => {
  it('begins at a step of the actor, however far back it lies', async () => {
    const house = await openHouse();
    const { workItem } = (await house.operator.post('/api/work-items', { title: 'x' })).body;
    for (let n = 0; n < 120; n += 1)
      await house.operator.post(`/api/work-items/${workItem.id}/comments`, { text: `${n}` });
    const path = `/api/inspect/actors/work-item/${workItem.id}/history`;
    for (const asked of [1, 2, 33, 64, 121, 9_000]) {
      const first = Math.min(asked, 121);
      const { entries } = (await house.operator.get(`${path}?revision=${asked}&limit=3`)).body;
      expect(
        entries.map(({ rev }: { readonly rev: number }) => rev),
        String(asked),
      ).to.deep.equal([first, first - 1, first - 2].filter((rev) => rev > 0));
    }
    expect((await house.operator.get(`${path}?revision=1&before=9`)).status).to.equal(400);
    await house.close();
  });
});
