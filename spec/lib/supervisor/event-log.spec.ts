import { expect } from 'chai';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { assign, setup } from 'xstate';
import type { Kind } from '../../../actors/contracts.js';
import { checkEntry } from '../../../lib/store/chain.js';
import { keys } from '../../../lib/store/keys.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { LogEntry } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { defineKind } from '../../../actors/define-kind.js';
import { counterKind } from '../../fixtures/kinds.js';
import { openHouse, seen, type House } from '../../fixtures/house.js';

const day = 24 * 3600 * 1000;
const a = { kind: 'counter', id: 'a' };

describe('the log', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([counterKind()]);
    await house.supervisor.spawn('counter', { id: 'a' });
  });
  afterEach(() => house.stop());
  const add = (n: number, id = 'a') => house.supervisor.ask('counter', id, { type: 'add', n });

  it('has no gap and a chain that verifies, over restarts and crashes', async () => {
    for (let life = 0; life < 3; life += 1) {
      await Promise.all(Array.from({ length: 20 }, () => add(1)));
      house.mortal.dieAt(2, life === 1 ? 'before' : 'after');
      for (let n = 0; n < 3 && !house.mortal.dead; n += 1) await Promise.race([add(1), house.mortal.death]);
      await house.crash();
    }
    const rows = await house.mortal.page({ gte: 'l/', lt: 'l/\x7f' });
    let chain = '';
    rows.forEach(([key, value], index) => {
      expect(key).to.equal(keys.log(index + 1));
      chain = checkEntry(chain, value) ?? expect.fail(`the chain breaks at ${index + 1}`);
    });
    expect(house.mortal.head).to.deep.equal({ seq: rows.length, chain });
    expect(rows.length).to.be.greaterThan(60);
  });

  it('hashes contents instead of storing them, at any depth', async () => {
    await house.supervisor.ask('counter', 'a', {
      type: 'note',
      text: 'a secret diary',
      deep: [{ text: 'another' }],
    });
    const [entry] = await house.supervisor.history(a);
    const digest = (text: string) => ({
      sha256: createHash('sha256').update(text).digest('base64url'),
      chars: text.length,
    });
    expect(entry?.event).to.deep.equal({
      type: 'note',
      text: digest('a secret diary'),
      deep: [{ text: digest('another') }],
    });
    expect(JSON.stringify(await house.log())).to.not.match(/secret diary|another/);
    expect(await house.supervisor.rows(a, 'notes')).to.deep.equal([
      { n: 1, row: { text: 'a secret diary' } },
    ]);
  });

  it("pages an actor's history, newest first, without meeting others", async () => {
    await house.supervisor.spawn('counter', { id: 'b' });
    for (let n = 0; n < 70; n += 1) {
      await add(1);
      await add(1, 'b');
    }
    const whole = await house.supervisor.history(a, { limit: 1000 });
    expect(whole.map(({ revision: rev }) => rev)).to.deep.equal(
      Array.from({ length: 71 }, (_, index) => 71 - index),
    );
    const paged: LogEntry[] = [];
    for (let before: number | undefined; ;) {
      const page = await house.supervisor.history(a, {
        limit: 9,
        ...(before === undefined ? {} : { before }),
      });
      if (page.length === 0) break;
      paged.push(...page);
      before = page.at(-1)?.position;
    }
    expect(paged).to.deep.equal(whole);
    expect(await house.supervisor.history({ kind: 'counter', id: 'nobody' })).to.deep.equal([]);
  });

  describe('watched', () => {
    const collect = (
      since: number | undefined,
      until: (entries: LogEntry[]) => boolean,
      filter: object = {},
    ) =>
      (async () => {
        const entries: LogEntry[] = [];
        for await (const entry of house.supervisor.watch({
          ...(since === undefined ? {} : { since }),
          ...filter,
        })) {
          entries.push(entry);
          if (until(entries)) break;
        }
        return entries;
      })();

    it('tells every entry once from any position, while it is written', async () => {
      for (let n = 0; n < 30; n += 1) await add(1);
      const watchers = [0, 1, 7, 31].map((since) =>
        collect(since, (entries) => entries.at(-1)?.position === 231),
      );
      const writing = (async () => {
        for (let n = 0; n < 20; n += 1) await Promise.all(Array.from({ length: 10 }, () => add(1)));
      })();
      const seenBy = await Promise.all(watchers);
      await writing;
      seenBy.forEach((entries, index) => {
        const since = [0, 1, 7, 31][index] as number;
        expect(entries.map(({ position: seq }) => seq)).to.deep.equal(
          Array.from({ length: 231 - since }, (_, offset) => since + 1 + offset),
        );
      });
    });

    it('tells a slow watcher what the memory no longer holds', async function () {
      this.timeout(180_000);
      const iterator = house.supervisor.watch({ since: 0 })[Symbol.asyncIterator]();
      const seqs = [((await iterator.next()).value as LogEntry).position];
      for (let n = 0; n < 18; n += 1)
        await Promise.all(
          Array.from({ length: 1_000 }, (_, index) =>
            house.supervisor.spawn('counter', { id: `x${n}.${index}` }),
          ),
        );
      while (seqs.length < 18_001) seqs.push(((await iterator.next()).value as LogEntry).position);
      expect(seqs).to.deep.equal(Array.from({ length: 18_001 }, (_, index) => index + 1));
      await iterator.return?.();
    });

    it('begins now when no position is given', async () => {
      const watching = collect(undefined, () => true);
      await house.environment.settle();
      await add(1);
      expect((await watching).map(({ revision: rev }) => rev)).to.deep.equal([2]);
    });

    it('filters by kind and id', async () => {
      await house.supervisor.spawn('counter', { id: 'b' });
      await add(1);
      await add(1, 'b');
      expect(
        (await collect(0, (entries) => entries.length === 2, { ids: ['b'] })).map(({ position: seq }) => seq),
      ).to.deep.equal([2, 4]);
      const none = collect(0, () => true, { kinds: ['nothing'] });
      await house.environment.settle();
      await house.stop();
      expect(await none).to.deep.equal([]);
    });

    it('ends with its signal in the midst of what it has read, and when that comes just before it would wait', async () => {
      for (let n = 0; n < 5; n += 1) await add(1);
      const controller = new AbortController();
      const reading = house.supervisor.watch({ since: 0, signal: controller.signal })[Symbol.asyncIterator]();
      expect((await reading.next()).value).to.include({ position: 1 });
      controller.abort();
      expect((await reading.next()).done).to.equal(true);
      const second = new AbortController();
      const waiting = house.supervisor.watch({ signal: second.signal })[Symbol.asyncIterator]();
      const next = waiting.next();
      second.abort();
      expect((await next).done).to.equal(true);
    });

    it('ends without an error when the store goes while it is behind', async () => {
      const supervisor = await createSupervisor({ kinds: [counterKind()], store: memoryStore() });
      for (let n = 0; n < 600; n += 1) await supervisor.spawn('counter', { id: `c${n}` });
      const iterator = supervisor.watch({ since: 0 })[Symbol.asyncIterator]();
      for (let n = 0; n < 500; n += 1) await iterator.next(); // a whole page: the next entry must be read
      await supervisor.stop();
      expect((await iterator.next()).done).to.equal(true);
    });

    it('ends with its signal, and with the supervisor, even for one that is behind', async () => {
      const controller = new AbortController();
      const watching = collect(undefined, () => false, { signal: controller.signal });
      await house.environment.settle();
      controller.abort();
      expect(await watching).to.deep.equal([]);
      const iterator = house.supervisor.watch({ since: 0 })[Symbol.asyncIterator]();
      expect((await iterator.next()).value).to.include({ position: 1 });
      await add(1);
      await house.stop();
      const rest: unknown[] = [];
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        rest.push(next.value);
      expect(rest.length).to.be.at.most(1);
    });
  });

  describe('past', () => {
    it('reads the state as it was at every position', async () => {
      const kind = recorderKind();
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.oneof(
              fc.record({
                type: fc.constant('set'),
                member: fc.constantFrom('a', 'b', 'c'),
                value: fc.jsonValue({ maxDepth: 2 }),
              }),
              fc.record({ type: fc.constant('unset'), member: fc.constantFrom('a', 'b', 'c') }),
              fc.record({ type: fc.constantFrom('next', 'explode', 'date') }),
            ),
            { maxLength: 80 },
          ),
          async (events) => {
            const other = await openHouse([kind]);
            await other.supervisor.spawn('recorder', { id: 'r' });
            const model = new Map<number, unknown>();
            const look = async () => {
              const view = await other.supervisor.get('recorder', 'r');
              model.set(view?.position ?? 0, structuredClone(view?.view));
            };
            await look();
            for (const event of events) {
              await other.supervisor.ask('recorder', 'r', event).catch(() => undefined);
              await look();
            }
            for (let round = 0; round < 2; round += 1) {
              for (const [seq, view] of model)
                expect((await other.supervisor.past({ kind: 'recorder', id: 'r' }, seq))?.view).to.deep.equal(
                  view,
                );
              await other.crash();
            }
            await other.stop();
          },
        ),
        { numRuns: 25 },
      );
    });

    it('is nothing before the creation, and between two steps the earlier one', async () => {
      await house.supervisor.spawn('counter', { id: 'b' });
      await add(5);
      expect(await house.supervisor.past({ kind: 'counter', id: 'b' }, 1)).to.equal(undefined);
      expect((await house.supervisor.past(a, 2))?.context).to.include({ n: 0 });
      expect((await house.supervisor.past(a, 1_000))?.context).to.include({ n: 5 });
      expect(await house.supervisor.past({ kind: 'counter', id: 'nobody' }, 1)).to.equal(undefined);
    });
  });

  describe('past its retention', () => {
    beforeEach(async () => {
      for (let n = 0; n < 40; n += 1) await add(1);
      await house.environment.sleep(31 * day);
      for (let n = 0; n < 3; n += 1) await add(1);
      await house.environment.advance(120_000);
    });

    it('lets old entries go and keeps the young ones', async () => {
      expect((await house.log()).map(({ position: seq }) => seq)).to.deep.equal([42, 43, 44]);
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 43 });
    });

    it('lets go what is over its bytes, however young, and keeps about so much', async () => {
      const bytesMax = 200_000;
      const small = await openHouse([counterKind()], { limits: { keepLogBytes: bytesMax } });
      await small.supervisor.spawn('counter', { id: 'a' });
      for (let n = 0; n < 40; n += 1)
        await Promise.all(
          Array.from({ length: 50 }, () => small.supervisor.ask('counter', 'a', { type: 'add', n: 1 })),
        );
      await small.environment.advance(120_000);
      const kept = await small.log();
      const bytes = kept.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
      expect(bytes).to.be.within(bytesMax * 0.8, bytesMax * 1.2);
      expect(kept.at(-1)?.position).to.equal(2_001);
      await small.stop();
    });

    it('lets thousands go in one turn: what goes slower than it comes piles up for ever', async () => {
      for (let n = 0; n < 100; n += 1) await Promise.all(Array.from({ length: 60 }, () => add(1)));
      await house.environment.sleep(31 * day);
      await house.environment.advance(70_000);
      expect(await house.log()).to.deep.equal([]);
    });

    it('tells the whole again where the last whole snapshot was the very last entry to go', async () => {
      await house.supervisor.spawn('counter', { id: 'late', input: { n: 5 } });
      await house.environment.sleep(31 * day);
      await house.environment.advance(120_000);
      expect(await house.log()).to.deep.equal([]);
      const { position: seq } = (await house.supervisor.ask('counter', 'late', { type: 'add', n: 2 })) as {
        position: number;
      };
      expect((await house.supervisor.past({ kind: 'counter', id: 'late' }, seq))?.context).to.include({
        n: 7,
      });
    });

    it('sends a watcher from below the floor a reset, then what comes', async () => {
      const entries: LogEntry[] = [];
      const watching = (async () => {
        for await (const entry of house.supervisor.watch({ since: 5 })) {
          entries.push(entry);
          if (entries.length === 2) break;
        }
      })();
      await house.environment.settle();
      await add(1);
      await watching;
      expect(entries[0]?.event).to.deep.equal({ type: 'reset', floor: 41, head: 44 });
      expect(entries[1]).to.include({ position: 45 });
      await house.restart();
      const iterator = house.supervisor.watch({ since: 41 })[Symbol.asyncIterator]();
      expect((await iterator.next()).value).to.include({ position: 42 });
      await iterator.return?.();
      const late = house.supervisor.watch({ since: 5 })[Symbol.asyncIterator]();
      expect((await late.next()).value, 'the floor is known after a restart, too').to.deep.include({
        event: { type: 'reset', floor: 41, head: 45 },
      });
      await late.return?.();
    });

    it('tells of the past what it knows, and nothing that it does not', async () => {
      expect(await house.supervisor.past(a, 20)).to.equal(undefined);
      for (const [seq, n] of [
        [42, 41],
        [43, 42],
        [44, 43],
      ] as const)
        expect((await house.supervisor.past(a, seq))?.context).to.include({ n });
      expect((await house.supervisor.history(a)).map(({ position: seq }) => seq)).to.deep.equal([44, 43, 42]);
    });
  });
});

/**
 * Its context changes member by member: set, unset, replaced, by values that JSON keeps and by one that it
 * does not.
 */
function recorderKind(): Kind {
  const machine = setup({
    types: {
      context: {} as Record<string, unknown>,
      events: {} as
        | { type: 'set'; member: string; value: unknown }
        | { type: 'unset'; member: string }
        | { type: 'next' }
        | { type: 'explode' }
        | { type: 'date' },
    },
    actions: {},
  }).createMachine({
    id: 'recorder',
    context: {},
    initial: 'one',
    on: {
      set: { actions: assign(({ event }) => ({ [event.member]: event.value })) },
      unset: { actions: assign(({ event }) => ({ [event.member]: undefined })) },
      date: {
        actions: assign(({ context }) => ({
          d: new Date(((context['d'] as Date | undefined)?.getTime() ?? 0) + 1_000),
        })),
      },
      explode: {
        actions: assign(() => {
          throw new Error('boom');
        }),
      },
    },
    states: {
      one: { on: { next: 'two' } },
      two: {
        initial: 'deep',
        states: { deep: { on: { next: 'deeper' } }, deeper: {} },
        on: { next: { target: 'one', guard: ({ context }) => context['a'] !== 1 } },
      },
    },
  });
  return defineKind({
    kind: 'recorder',
    version: 1,
    machine,
    view: ({ context, value }) => ({ context: { ...context }, value }) as never,
    supervision: { intensity: 1_000 },
  }) as unknown as Kind;
}
