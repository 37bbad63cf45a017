import { expect } from 'chai';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevelStore } from '../../../lib/store/level.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import type { EffectContext } from '../../../actors/contracts.js';
import { counterKind, parentKind, childKind, workerKind } from '../../fixtures/kinds.js';
import { seen } from '../../fixtures/house.js';

/**
 * The promises that matter most, on the real store: what a kill leaves on the disk is what the next life goes
 * on with.
 */
describe('a supervisor on LevelDB', () => {
  const homes: string[] = [];
  const newHome = async (): Promise<string> => {
    const home = await mkdtemp(join(tmpdir(), 'troupe-kernel-'));
    homes.push(home);
    return home;
  };
  after(async () => {
    for (const home of homes) await rm(home, { recursive: true, force: true });
  });

  const runs: string[] = [];
  const kinds = (finish: boolean) => [
    counterKind(),
    parentKind(),
    childKind(),
    workerKind({
      guarantee: 'at-most-once',
      async run(input: unknown, { checkpoint: note, signal }: EffectContext) {
        runs.push(`run ${String(input)}`);
        await note({ input: String(input) });
        if (!finish)
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
        return 'done';
      },
      async recover(_input: unknown, note: unknown) {
        runs.push(`recover ${JSON.stringify(note)}`);
        return 'unknown';
      },
    }),
  ];
  const open = async (home: string, finish = true): Promise<Supervisor> =>
    createSupervisor({ kinds: kinds(finish), store: await openLevelStore({ directory: home }) });
  const reached = async (
    supervisor: Supervisor,
    kind: string,
    id: string,
    test: (view: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown>> => {
    for await (const _ of (async function* () {
      yield 0;
      yield* supervisor.watch({ ids: [id] });
    })()) {
      const view = seen(await supervisor.get(kind, id));
      if (test(view)) return view;
    }
    throw new Error('the log ended');
  };

  it('goes on after a kill: messages, overdue timers, fenced effects, children, keys, numbers', async () => {
    const home = await newHome();
    const first = await open(home, false);
    await first.spawn('counter', { id: 'a' });
    await first.spawn('counter', { id: 'b' });
    await first.spawn('worker', { id: 'w' });
    await first.spawn('parent', { id: 'p' });
    await first.ask('parent', 'p', { type: 'adopt', name: 'Ada' });
    await first.ask('worker', 'w', { type: 'go', input: 'x' });
    await first.ask('counter', 'b', { type: 'wait', ms: 1 });
    await first.transact({ name: 'n', actors: [], run: (tx) => tx.next('numbers') });
    await first.ask(
      'counter',
      'a',
      { type: 'add', n: 5 },
      { idempotency: { key: 'k', scope: 's', hash: 'h' } },
    );
    await first.ask('worker', 'w', { type: 'poke' });
    const copy = await newHome(); // what a kill at this moment would leave
    await cp(home, copy, { recursive: true, filter: (path) => !path.endsWith('/lock') });
    await first.stop();

    const second = await open(copy);
    expect((await reached(second, 'worker', 'w', ({ state }) => state === 'idle'))['results']).to.deep.equal([
      'unknown',
    ]);
    expect(runs).to.deep.equal(['run x', 'recover {"input":"x"}']);
    expect(await reached(second, 'counter', 'b', ({ state }) => state === 'open')).to.include({ rang: 1 });
    expect(
      await second.ask(
        'counter',
        'a',
        { type: 'add', n: 5 },
        { idempotency: { key: 'k', scope: 's', hash: 'h' } },
      ),
    ).to.include({ replayed: true });
    expect(seen(await second.get('counter', 'a'))).to.include({ n: 5 });
    expect(await second.transact({ name: 'n', actors: [], run: (tx) => tx.next('numbers') })).to.include({
      result: 2,
    });
    await second.ask('child', 'adopted-child', { type: 'finish', output: 'bye' });
    expect(
      (await reached(second, 'parent', 'p', ({ heard }) => (heard as string[]).length === 2))['heard'],
    ).to.deep.equal(['born Ada', 'adopted done {"said":"Ada: bye"}']);
    await second.stop();
  });

  it('delivers a backlog of more than a page once at boot, in order', async () => {
    const home = await newHome();
    const first = await createSupervisor({
      kinds: [counterKind()],
      store: await openLevelStore({ directory: home }),
    });
    await first.spawn('counter', { id: 'a' });
    const what = Array.from({ length: 300 }, (_, n) => String(n));
    for (let at = 0; at < 1_200; at += 300)
      await first.ask('counter', 'a', {
        type: 'tell',
        to: { kind: 'worker', id: 'w' },
        what: what.map((n) => String(Number(n) + at)),
      });
    await first.stop();

    // The receiver is written beside the backlog, as a program that knows its kind would have left it.
    const store = await openLevelStore({ directory: home });
    const record = {
      kind: 'worker',
      id: 'w',
      machine: 'worker',
      version: 1,
      rev: 1,
      seq: 1,
      base: 1,
      sinceBase: 0,
      createdAt: 1,
      updatedAt: 1,
      state: { value: 'idle', context: { results: [], errors: [] } },
    };
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [['a/worker/w', JSON.stringify(record)]],
    });
    await store.close();
    const second = await open(home);
    const { results } = await reached(
      second,
      'worker',
      'w',
      (view) => (view['results'] as string[]).length >= 1_200,
    );
    expect(results).to.deep.equal(Array.from({ length: 1_200 }, (_, n) => String(n)));
    await second.stop();
  });
});
