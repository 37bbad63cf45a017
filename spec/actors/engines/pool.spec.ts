import { expect } from 'chai';
import fc from 'fast-check';
import { createPool, type Pool, type Slot } from '../../../actors/engines/pool.js';
import type { Placement } from '../../../machines/session/context.js';

interface Turn {
  readonly sessionId: string;
  readonly rootId: string;
  readonly engine: string;
  readonly placement?: Placement;
}

/** Asks for slots and keeps the order in which they were given out. */
function queue(pool: Pool) {
  const given: { readonly turn: Turn; readonly slot: Slot }[] = [];
  const asked: Promise<void>[] = [];
  const never = new AbortController().signal;
  return {
    given,
    ask(turn: Turn, signal: AbortSignal = never): void {
      asked.push(
        pool.take({ ...turn, signal }).then(
          (slot) => void given.push({ turn, slot }),
          () => undefined,
        ),
      );
    },
    /** Let all promises that can settle do so. */
    settle: () =>
      new Promise<void>((resolve) => {
        setImmediate(resolve);
      }),
  };
}
const turn = (sessionId: string, rootId = sessionId, engine = 'clerk'): Turn => ({
  sessionId,
  rootId,
  engine,
});
const names = (given: readonly { readonly turn: Turn }[]): readonly string[] =>
  given.map((entry) => entry.turn.sessionId);

describe('createPool', () => {
  it('gives out so many slots at once and the next when one comes back', async () => {
    const pool = createPool({ maxProcesses: 2 });
    const { ask, given, settle } = queue(pool);
    for (const id of ['a', 'b', 'c']) ask(turn(id));
    await settle();
    expect(names(given)).to.deep.equal(['a', 'b']);
    expect(pool.stats()).to.deep.equal({ max: 2, running: 2, waiting: 1, engines: { clerk: 2 } });
    expect(pool.position('c')).to.equal(1);
    expect(pool.position('a')).to.equal(undefined);
    given[0]?.slot.release();
    given[0]?.slot.release();
    await settle();
    expect(names(given)).to.deep.equal(['a', 'b', 'c']);
    expect(pool.stats()).to.include({ running: 2, waiting: 0 });
  });

  // a turn that outlived its gateway was counted on whichever worker came first
  it('counts turns that run already where they run, beyond what is to be had', async () => {
    const gpu1 = { name: 'gpu1', slots: 1, labels: ['gpu'], engines: ['clerk'] };
    const pool = createPool({ maxProcesses: 1, places: () => [gpu1, { ...gpu1, name: 'gpu2' }] });
    const { ask, given, settle } = queue(pool);
    const held = ['a', 'b'].map((sessionId) => pool.hold({ sessionId, engine: 'clerk' }, 'gpu1'));
    const here = pool.hold({ sessionId: 'c', engine: 'clerk' }, undefined);
    expect(pool.stats()).to.deep.equal({ max: 3, running: 3, waiting: 0, engines: { clerk: 3 } });
    const placement = { worker: null, labels: ['gpu'] };
    ask({ ...turn('d'), placement });
    ask({ ...turn('e'), placement });
    ask(turn('f'));
    ask(turn('a'));
    await settle();
    expect(given.map(({ turn: { sessionId }, slot: { worker } }) => [sessionId, worker])).to.deep.equal([
      ['d', 'gpu2'],
    ]);
    held[0]?.release();
    await settle();
    expect(names(given), 'gpu1 has still one').to.deep.equal(['d']);
    held[1]?.release();
    here.release();
    await settle();
    expect(names(given)).to.deep.equal(['d', 'e', 'f']);
  });

  it('takes roots in turn, so that a tree of many does not starve a single question', async () => {
    const pool = createPool({ maxProcesses: 1 });
    const { ask, given, settle } = queue(pool);
    for (const id of ['t1', 't2', 't3', 't4']) ask(turn(id, 'tree'));
    ask(turn('single'));
    await settle();
    expect([pool.position('t2'), pool.position('single'), pool.position('t3')]).to.deep.equal([1, 2, 3]);
    for (let n = 0; n < 4; n += 1) {
      given[n]?.slot.release();
      await settle();
    }
    expect(names(given)).to.deep.equal(['t1', 't2', 'single', 't3', 't4']);
  });

  it('holds back a session whose last turn has not settled, but not its siblings', async () => {
    const pool = createPool({ maxProcesses: 3 });
    const { ask, given, settle } = queue(pool);
    ask(turn('a', 'root'));
    ask(turn('a', 'root'));
    ask(turn('b', 'root'));
    await settle();
    expect(names(given)).to.deep.equal(['a', 'b']);
    given[0]?.slot.release();
    await settle();
    expect(names(given)).to.deep.equal(['a', 'b', 'a']);
  });

  it('keeps a limit per engine without holding back other engines', async () => {
    const pool = createPool({ maxProcesses: 3, perEngine: { claude: 1 } });
    const { ask, given, settle } = queue(pool);
    ask(turn('a', 'a', 'claude'));
    ask(turn('b', 'b', 'claude'));
    ask(turn('c', 'c', 'codex'));
    await settle();
    expect(names(given)).to.deep.equal(['a', 'c']);
  });

  it('forgets who stopped waiting', async () => {
    const pool = createPool({ maxProcesses: 1 });
    const { ask, given, settle } = queue(pool);
    const leaving = new AbortController();
    ask(turn('a'));
    ask(turn('b'), leaving.signal);
    ask(turn('c'));
    leaving.abort();
    given[0]?.slot.release();
    await settle();
    given[0]?.slot.release();
    await settle();
    expect(names(given)).to.deep.equal(['a', 'c']);
    expect(
      await pool
        .take({ ...turn('d'), signal: AbortSignal.abort(new Error('gone')) })
        .catch((error: Error) => error.message),
    ).to.equal('gone');
  });

  it('refuses a pool that could never run anything', () => {
    expect(() => createPool({ maxProcesses: 0 })).to.throw(RangeError);
    expect(() => createPool({ maxProcesses: Number.NaN })).to.throw(RangeError);
  });

  it('never exceeds a limit, never runs a session twice, serves every ticket, and in turn between roots', async () => {
    const work = fc.array(
      fc.record({
        root: fc.integer({ min: 0, max: 3 }),
        session: fc.integer({ min: 0, max: 2 }),
        engine: fc.constantFrom('x', 'y'),
        release: fc.nat({ max: 5 }),
        aborts: fc.integer({ min: 0, max: 9 }),
      }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(work, fc.integer({ min: 1, max: 3 }), async (steps, maxProcesses) => {
        const pool = createPool({ maxProcesses, perEngine: { y: 1 } });
        const { ask, given, settle } = queue(pool);
        const held = new Set<number>();
        let seen = 0;
        let aborted = 0;
        const check = (): void => {
          for (; seen < given.length; seen += 1) held.add(seen);
          const running = [...held].map((index) => given[index]?.turn as Turn);
          expect(running.length).to.be.at.most(maxProcesses);
          expect(running.filter(({ engine }) => engine === 'y').length).to.be.at.most(1);
          expect(new Set(running.map(({ sessionId }) => sessionId)).size).to.equal(running.length);
          expect(pool.stats().running).to.equal(running.length);
        };
        const releaseOne = async (at: number): Promise<void> => {
          const index = [...held][at % Math.max(1, held.size)];
          if (index === undefined) return;
          held.delete(index);
          given[index]?.slot.release();
          await settle();
          check();
        };
        for (const { root, session, engine, release, aborts } of steps) {
          const before = pool.stats();
          const controller = new AbortController();
          ask(turn(`${root}-${session}`, String(root), engine), controller.signal);
          if (aborts === 0 && pool.stats().waiting > before.waiting) {
            controller.abort();
            aborted += 1;
          }
          await settle();
          check();
          if (release > 2) await releaseOne(release);
        }
        // a single ticket of a new root waits for at most one turn of each root before it
        ask(turn('fair'));
        const rootsBefore = 4;
        await settle();
        const givenBefore = given.length;
        check();
        for (let guard = 0; held.size > 0 && guard < 200; guard += 1) await releaseOne(0);
        const place = given.findIndex((entry) => entry.turn.sessionId === 'fair');
        expect(place).to.be.at.least(0);
        expect(place - givenBefore).to.be.at.most(rootsBefore + maxProcesses);
        expect(given.length).to.equal(steps.length + 1 - aborted);
        expect(pool.stats()).to.include({ running: 0, waiting: 0 });
      }),
      { numRuns: 60 },
    );
  });
});
