import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { WebSocket, WebSocketServer } from 'ws';
import type { App } from '../../../../lib/commands/app.js';
import type { FairShare } from '../../../../lib/gateway/websocket/backpressured-socket.js';
import { openFeed, type Commit } from '../../../../lib/gateway/websocket/feed.js';
import { subscription } from '../../../../lib/gateway/websocket/subscription.js';
import type { LogEntry, Supervisor } from '../../../../lib/supervisor/contract.js';
import { operator } from '../../../../machines/caller.js';
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
    house = await openHouse([counterKind()]);
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
  async function watch(feed: ReturnType<typeof openFeed>, since: number, share: FairShare) {
    const accepted = once(server, 'connection') as Promise<[WebSocket]>;
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
    const [socket] = await accepted;
    const one = subscription({
      app: { supervisor: house.supervisor } as App,
      feed,
      socket,
      caller: operator,
      filter: {},
      log: pino({ level: 'silent' }),
      share,
    });
    one.start(since);
    return {
      seqs,
      resets,
      closed,
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
      ...({ status: supervisor.status } as Supervisor),
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
      ...({ status: { ...supervisor.status, position: 1 } } as Supervisor),
      watch: () => overtaken(),
    });
    const socket = await watch(feed, 1, (slice) => slice());
    await socket.until(9);
    expect([socket.resets, socket.seqs]).to.deep.equal([[0], [9]]);
    socket.stop();
  });

  it('hands on again what was committed a moment ago, and says when that is too long ago', async () => {
    const feed = feedOf(house.supervisor);
    const seen: Commit[] = [];
    const leave = feed.join(1, (commit) => seen.push(commit), never);
    for (let n = 0; n < 200; n += 1) await add();
    await house.environment.settle();
    expect(seen.map(({ seq }) => seq)).to.deep.equal(from(2, 201));
    const late: number[] = [];
    const left = feed.join(150, ({ seq }) => late.push(seq), never);
    expect(late).to.deep.equal(from(151, 201));
    expect(feed.join(50, never, never)).to.equal(undefined);
    left?.();
    leave?.();
  });
});

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
