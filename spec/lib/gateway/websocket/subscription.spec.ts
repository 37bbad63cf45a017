import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { WebSocket, WebSocketServer } from 'ws';
import type { App } from '../../../../lib/commands/app.js';
import { fairShare, type FairShare } from '../../../../lib/gateway/websocket/backpressured-socket.js';
import { PastBursts, type Burst } from '../../../../lib/gateway/websocket/bursts.js';
import { openFeed } from '../../../../lib/gateway/websocket/feed.js';
import { subscription } from '../../../../lib/gateway/websocket/subscription.js';
import type { LogEntry, ProgressFrame, Supervisor } from '../../../../lib/supervisor/contract.js';
import { operator, type Caller } from '../../../../machines/caller.js';
import { openHouse, type House } from '../../../fixtures/house.js';
import { counterKind } from '../../../fixtures/kinds.js';

const never = (): never => {
  throw new Error('must not be called');
};

/**
 * Where replay meets the live feed. A commit that came in exactly between the two was once told to no one,
 * and the next one moved the cursor past it.
 */
describe('a watcher', () => {
  let house: House;
  let server: WebSocketServer;
  let ended: unknown[];
  beforeEach(async () => {
    ended = [];
    const requester = { sessionId: 's1', employee: null };
    const view = () => ({ requester, steps: {}, parked: null, gateDecisions: [] });
    house = await openHouse([counterKind(), counterKind({ kind: 'workflow-run', view: view as never })]);
    await house.supervisor.spawn('counter', { id: 'c' });
    server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
    await house.stop();
  });

  const add = () => house.supervisor.ask('counter', 'c', { type: 'add', n: 1 });
  const feedOf = (supervisor: Supervisor) => openFeed(supervisor, (error) => ended.push(error));

  /** A real socket; `share` is where the spec steps in between two slices of the replay. */
  async function watch(
    feed: ReturnType<typeof openFeed>,
    since: number,
    share: FairShare,
    past = new PastBursts(house.supervisor),
    caller: Caller = operator,
    supervisor = house.supervisor,
  ) {
    const accepted = once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>;
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const seqs: number[] = [];
    const resets: number[] = [];
    let wake = (): void => undefined;
    client.on('message', (data) => {
      const { seq, event } = JSON.parse(String(data)) as { seq: number | null; event: string };
      if (seq !== null && event !== 'cursor') seqs.push(seq);
      if (event === 'reset') resets.push(seqs.length);
      wake();
    });
    const closed = once(client, 'close') as Promise<[code: number]>;
    const [socket, request] = await accepted;
    const one = subscription({
      app: { supervisor } as App,
      feed,
      past,
      socket,
      stream: request.socket,
      caller,
      filter: {},
      log: pino({ level: 'silent' }),
      share,
    });
    one.start(since);
    return {
      seqs,
      resets,
      closed,
      client,
      socket,
      hear: (text: string) => one.hear(text),
      stop: () => one.stop(),
      async until(seq: number): Promise<void> {
        while (!seqs.includes(seq)) await new Promise<void>((resolve) => (wake = resolve));
      },
    };
  }

  const from = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, n) => first + n);

  /** Commits `times` times after the slice that has caught up, before the socket can join. */
  const between = (times: number): FairShare => {
    let left = 1;
    return async (slice) => {
      const result = await slice();
      if (left-- > 0) for (let n = 0; n < times; n += 1) await add();
      return result;
    };
  };

  // 22 of 135 sockets lost one while a gateway was being written to.
  for (const others of [0, 1])
    for (const times of [1, 200])
      it(`misses none of ${times} that come between replay and feed, beside ${others} other sockets`, async () => {
        for (let n = 0; n < 5; n += 1) await add();
        const feed = feedOf(house.supervisor);
        const leave = others === 0 ? undefined : feed.join(feed.position, () => undefined, never);
        const socket = await watch(feed, 0, between(times));
        await socket.until(6 + times);
        await add();
        await socket.until(7 + times);
        expect(socket.seqs).to.deep.equal(from(2, 7 + times));
        socket.stop();
        leave?.();
        expect(feed.position).to.equal(house.supervisor.status.position);
      });

  // Its listeners stayed, open and silent, for as long as the gateway ran.
  it('closes its socket with 1011 when the feed ends in a fault, and the next socket gets a new feed', async () => {
    const { supervisor } = house;
    let broken = true;
    const feed = feedOf({
      ...supervisor,
      status: supervisor.status,
      watch: (options) => (broken ? failing() : supervisor.watch(options)),
    });
    const socket = await watch(feed, 1, (slice) => slice());
    await add();
    expect((await socket.closed)[0]).to.equal(1011);
    expect(ended.map(String)).to.deep.equal(['Error: unreadable']);
    broken = false;
    const next = await watch(feed, 1, (slice) => slice());
    await next.until(2);
    expect(next.seqs).to.deep.equal([2]);
    next.stop();
  });

  it('says reset when the floor has overtaken the feed, in the middle of a commit, too', async () => {
    const { supervisor } = house;
    const feed = feedOf({
      ...supervisor,
      status: { ...supervisor.status, position: 1 },
      watch: () => overtaken(),
    });
    const socket = await watch(feed, 1, (slice) => slice());
    await socket.until(9);
    expect([socket.resets, socket.seqs]).to.deep.equal([[0], [9]]);
    socket.stop();
  });

  it('hands on again what was committed a moment ago, and says when that is too long ago', async () => {
    const feed = feedOf(house.supervisor);
    const seen: number[] = [];
    const leave = feed.join(1, (burst) => seen.push(...seqsOf(burst)), never);
    for (let n = 0; n < 400; n += 1) await add();
    await house.environment.settle();
    expect(seen).to.deep.equal(from(2, 401));
    const late: number[] = [];
    const left = feed.join(350, (burst) => late.push(...seqsOf(burst)), never);
    expect(late.filter((seq) => seq > 350)).to.deep.equal(from(351, 401));
    expect(feed.join(50, never, never)).to.equal(undefined);
    left?.();
    leave?.();
  });

  // Ten thousand sockets held up everything else for as long as it took to tell them all.
  it('lets others have their turn while it hands on to many, and loses no one who joins meanwhile', async () => {
    const feed = feedOf(house.supervisor);
    const told: string[] = [];
    let turns = 0;
    for (const name of ['a', 'b', 'c', 'd'])
      feed.join(
        1,
        (burst) => {
          told.push(`${name}${burst.seq}`);
          const until = performance.now() + 10;
          while (performance.now() < until);
          if (name !== 'a') return;
          setImmediate(() => {
            turns = told.length;
            feed.join(1, (next) => told.push(`late${next.seq}`), never);
          });
        },
        never,
      );
    await add();
    await house.environment.settle();
    while (told.length < 5) await new Promise((resolve) => setImmediate(resolve));
    expect(turns).to.equal(1);
    expect([...told].sort()).to.deep.equal(['a2', 'b2', 'c2', 'd2', 'late2']);
    feed.close();
  });

  // Each piece of an answer was written to ten thousand sockets for itself, and nothing else was done meanwhile.
  it('is told pieces of an answer together with others where there are many, before what is committed then', async () => {
    const { supervisor } = house;
    let say = (_frame: ProgressFrame): void => undefined;
    const feed = feedOf({
      ...supervisor,
      status: supervisor.status,
      onProgress: (listener) => {
        say = listener;
        return () => undefined;
      },
    });
    const told: string[][] = [];
    for (let n = 0; n < 300; n += 1)
      feed.onProgress(({ frames }) => {
        if (n === 0) told.push(frames.map(({ payload }) => String(payload)));
        const until = performance.now() + 0.2;
        while (performance.now() < until);
      });
    feed.join(1, ({ seq }) => told.push([`commit ${seq}`]), never);
    for (let n = 0; n < 40; n += 1) {
      say({ actor: { kind: 'counter', id: 'c' }, event: 'said', payload: String(n), at: 0 });
      if (n === 19) await add();
      await new Promise((resolve) => setImmediate(resolve));
    }
    while (told.flat().length < 41) await new Promise((resolve) => setImmediate(resolve));
    const whole = told.flat();
    expect(whole.filter((text) => !text.startsWith('commit'))).to.deep.equal(from(0, 39).map(String));
    expect(whole.indexOf('commit 2')).to.be.within(20, 40);
    expect(told.length).to.be.below(20);
    feed.close();
  });

  // The recent ones were dropped when the feed read of it, which was later than the answer while it handed on to many.
  it('is not told what was erased from the recent commits, while the feed still hands on', async () => {
    const feed = feedOf(house.supervisor);
    for (let n = 0; n < 20; n += 1)
      feed.join(
        1,
        () => {
          const until = performance.now() + 9;
          while (performance.now() < until);
        },
        never,
      );
    await add();
    while (feed.position < 2) await new Promise((resolve) => setImmediate(resolve));
    await house.supervisor.retention.erase({ kind: 'counter', id: 'c' }, operator);
    expect(feed.join(1, never, never)).to.equal(undefined);
    feed.close();
  });

  describe('that comes back with many others', () => {
    /** How often the log was read, and actors. */
    function counted(): { supervisor: Supervisor; reads: number } {
      const { supervisor } = house;
      const inspection = Object.create(supervisor.inspection, {
        entries: {
          value: (after: number, limit: number) => {
            counts.reads += 1;
            return supervisor.inspection.entries(after, limit);
          },
        },
      }) as Supervisor['inspection'];
      const counts = { supervisor: { ...supervisor, status: supervisor.status, inspection }, reads: 0 };
      return counts;
    }

    // Each read for itself: of 600 that came back 2,500 commits late, 283 had been let in after a minute.
    it('is told from what was read once for all of them, wherever each begins', async () => {
      for (let n = 0; n < 400; n += 1) await add();
      const feed = feedOf(house.supervisor);
      const counts = counted();
      const past = new PastBursts(counts.supervisor);
      const share = fairShare();
      const leave = past.enter(); // as if they came at the same time
      const sockets = [];
      for (let n = 0; n < 40; n += 1) sockets.push(await watch(feed, n, share, past));
      for (const socket of sockets) await socket.until(401);
      sockets.forEach(({ seqs }, n) => expect(seqs).to.deep.equal(from(Math.max(2, n + 1), 401)));
      // The first page once for each that begins in it, then each page once
      expect(counts.reads).to.be.within(12, 40 + 13);
      for (const socket of sockets) socket.stop();
      leave();
    });

    it('reads again what was kept, once contents were erased, and what was kept for long', async () => {
      for (let n = 0; n < 40; n += 1) await add();
      const counts = counted();
      const past = new PastBursts(counts.supervisor);
      const leave = past.enter();
      const eventsOf = async (): Promise<string[]> =>
        (await past.after(0)).commits.flatMap(({ entries }) =>
          entries.flatMap(({ frames }) => frames.map(({ event }) => event)),
        );
      expect(await eventsOf()).to.include('counter:added');
      await eventsOf();
      expect(counts.reads).to.equal(1);
      await house.supervisor.retention.erase({ kind: 'counter', id: 'c' }, operator);
      expect(await eventsOf()).not.to.include('counter:added');
      expect(counts.reads).to.equal(2);
      await house.environment.advance(2_000);
      await eventsOf();
      expect(counts.reads).to.equal(3);
      leave();
      await eventsOf();
      expect(counts.reads).to.equal(4);
    });

    // A hundred bursts with large events were 410 MB.
    it('keeps only what is told, and that not for long', async () => {
      await house.supervisor.ask('counter', 'c', { type: 'add', n: 1, more: 'x'.repeat(100_000) });
      const counts = counted();
      const past = new PastBursts(counts.supervisor);
      past.enter(); // one that stands still
      const burst = await past.after(1);
      expect(burst.commits).to.have.lengthOf(1);
      expect(JSON.stringify(burst).length).to.be.below(1_000);
      await house.environment.advance(2_000);
      await past.after(0);
      await past.after(1);
      expect(counts.reads).to.equal(3);
    });

    it('is not told what was erased while it was read', async () => {
      await add();
      const { supervisor } = house;
      let go = (): void => undefined;
      const gate = new Promise<void>((resolve) => (go = resolve));
      const inspection = Object.create(supervisor.inspection, {
        entries: {
          value: async (after: number, limit: number) => {
            const page = await supervisor.inspection.entries(after, limit);
            await gate;
            return page;
          },
        },
      }) as Supervisor['inspection'];
      const burst = new PastBursts({ ...supervisor, status: supervisor.status, inspection }).after(1);
      await supervisor.retention.erase({ kind: 'counter', id: 'c' }, operator);
      go();
      expect((await burst).commits[0]?.entries).to.deep.equal([]);
    });

    // It was given the same burst again and again, for as long as the other side did not answer: up to 30 s.
    it('is left alone once it is about to close', async () => {
      for (let n = 0; n < 2_000; n += 1) await add();
      const counts = counted();
      const past = new PastBursts(counts.supervisor);
      let slices = 0;
      const socket = await watch(
        feedOf(house.supervisor),
        0,
        (slice) => {
          slices += 1;
          return slice();
        },
        past,
      );
      socket.client.pause(); // never says goodbye
      socket.socket.close(1003);
      await new Promise((resolve) => setImmediate(resolve));
      const before = slices;
      for (let n = 0; n < 100; n += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(slices - before).to.be.below(3);
      socket.stop();
    });

    // Of a burst that was read for the place before, the rest came, and everything between was never told.
    it('is told everything from where it resumes again, while what it may see is still looked up', async () => {
      await house.supervisor.spawn('workflow-run', { id: 'r' });
      for (let n = 0; n < 100; n += 1) await house.supervisor.ask('workflow-run', 'r', { type: 'add', n: 1 });
      const { supervisor } = house;
      const slow = Object.create(supervisor, {
        get: {
          value: async (kind: string, id: string) => {
            for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setImmediate(resolve));
            return supervisor.get(kind, id);
          },
        },
      }) as Supervisor;
      const agent: Caller = { type: 'session', id: 's1', ancestors: [], employee: null };
      const past = new PastBursts(supervisor);
      const socket = await watch(feedOf(supervisor), 30, fairShare(), past, agent, slow);
      await socket.until(40);
      const before = socket.seqs.length;
      socket.hear('{"type":"resume","since":5}');
      await socket.until(102);
      const again = socket.seqs.slice(before);
      expect(again.slice(again.indexOf(6))).to.deep.equal(from(6, 102));
      socket.stop();
    });
  });
});

const seqsOf = ({ commits }: Burst): number[] => commits.map(({ seq }) => seq);

// eslint-disable-next-line require-yield
async function* failing(): AsyncGenerator<LogEntry> {
  throw new Error('unreadable');
}

/** Half a commit, then what the kernel says to a reader that was overtaken, then the next commit. */
async function* overtaken(): AsyncGenerator<LogEntry> {
  const entry = {
    kind: 'counter',
    id: 'c',
    at: 0,
    event: { type: 'add' },
    frames: [{ event: 'counted', payload: {} }],
  };
  yield { ...entry, position: 2, last: false } as unknown as LogEntry;
  yield {
    ...entry,
    position: 8,
    last: true,
    event: { type: 'reset', floor: 7, head: 8 },
  } as unknown as LogEntry;
  yield { ...entry, position: 9, last: true } as unknown as LogEntry;
}
