import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { WebSocketServer, type WebSocket } from 'ws';
import { defineEngine, type Engine } from '../../../actors/engines/engine.js';
import { joinGateway, type Joined } from '../../../lib/worker/join.js';
import { hangUp } from '../../../lib/gateway/websocket/worker-socket.js';
import { refuse } from '../../../machines/refusals.js';
import { Worker } from '../../../lib/worker/worker.js';
import type { FromWorker, ToWorker } from '../../../lib/worker/wire.js';

/** A worker's way out over a real socket, with hands in place of a gateway. */
describe('the way of a worker to its gateway', () => {
  let server: Server;
  let sockets: WebSocketServer;
  let joined: Joined;
  let worker: Worker;
  let engine: Engine;
  let begun: number;
  /** Places that were opened, and not closed. */
  let held: number;
  let interrupted: Promise<void>;
  let gateway: Hand;
  /** Resolves with the next gateway that is dialled. */
  let dialled: () => Promise<Hand>;

  const places = {
    open: async ({ turnId }: { readonly turnId: string }) => ({
      ...{ held: (held += 1) },
      answer: {
        type: 'prepared' as const,
        turnId,
        cwd: tmpdir(),
        sandbox: { level: 'off', asked: 'off', reason: null },
        notices: [],
      },
      open: {
        requestOf: <Request>(request: Request) => request,
        confine: () => Promise.reject(new Error('Nothing is started.')),
        close: async () => void (held -= 1),
      },
    }),
  };

  beforeEach(async () => {
    begun = 0;
    held = 0;
    let interrupt: () => void;
    interrupted = new Promise<void>((resolve) => (interrupt = resolve));
    engine = defineEngine({
      name: 'scripted',
      effortMechanism: 'none',
      discover: async () => ({ available: true, defaultModel: null, models: [] }),
      async turn(_request, { signal }) {
        begun += 1;
        await once(signal, 'abort');
        interrupt();
        return { outcome: 'interrupted', text: '' };
      },
    });
    server = createServer();
    sockets = new WebSocketServer({ server });
    const waiting: Hand[] = [];
    let come: (() => void) | undefined;
    sockets.on('connection', (socket) => {
      waiting.push(handOf(socket));
      come?.();
    });
    dialled = async () => {
      for (;;) {
        const hand = waiting.shift();
        if (hand !== undefined) return hand;
        await new Promise<void>((resolve) => (come = resolve));
      }
    };
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    worker = new Worker({ waitMs: 60_000, places }, [engine], () => undefined);
    const { port } = server.address() as AddressInfo;
    const offer = { machine: 'm', slots: 1, labels: [], engines: ['scripted'], roots: [], work: '/w' };
    joined = joinGateway({
      url: `http://127.0.0.1:${port}`,
      token: 'mine',
      worker,
      offer,
      onState: () => undefined,
    });
    gateway = await dialled();
    expect(await gateway.until('ready')).to.deep.include({ offer, running: 0 });
  });
  afterEach(async () => {
    joined.close();
    worker.end();
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });

  const turnId = 's1:1';
  const prepare = {
    type: 'prepare',
    turnId,
    sessionId: 's1',
    engine: 'scripted',
    cwd: '/w',
    nativeId: null,
    level: 'off',
    isRequired: false,
  } as const;
  const begin = {
    type: 'begin',
    turnId,
    engine: 'scripted',
    request: { sessionId: 's1', turnId, prompt: 'Go on', cwd: tmpdir(), env: {} } as never,
    tokenHash: 'none',
    settleMs: 1_000,
  } as const;
  async function started(epoch: number): Promise<void> {
    gateway.say({ ...prepare }, epoch);
    await gateway.until('prepared');
    gateway.say({ ...begin }, epoch);
    const { event } = (await gateway.until('event')) as FromWorker & { type: 'event' };
    gateway.say({ type: 'command', turnId, command: { type: 'acknowledge', seq: event.seq } }, epoch);
    while (begun === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('ends turns when no question was answered for as long as it was told, though the connection stands', async () => {
    gateway.say({ type: 'hello', key: '', waitMs: 4_000 }, 1);
    await started(1);
    gateway.isDeaf = true; // nothing is answered, and nothing breaks
    await interrupted;
  });

  // the end of one turn gave the others all of their time again, when the gateway had given them up
  it('counts from when the gateway was heard last, whatever ends meanwhile', async function () {
    this.timeout(20_000);
    const hourMs = 3_600_000;
    const alone = new Worker({ waitMs: hourMs, places }, [engine], () => undefined);
    const heard: FromWorker[] = [];
    const link = { send: (frame: FromWorker) => void heard.push(frame), end: () => undefined };
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    alone.welcome(link, hourMs);
    for (const id of ['s1', 's2']) {
      const turn = { turnId: `${id}:1`, sessionId: id };
      alone.take(link, { ...prepare, ...turn });
      await until(() => heard.some((frame) => frame.type === 'prepared' && frame.turnId === turn.turnId));
      alone.take(link, { ...begin, ...turn, request: { ...(begin.request as object), ...turn } as never });
      await until(() => heard.some((frame) => frame.type === 'event' && frame.turnId === turn.turnId));
      alone.take(link, { type: 'command', turnId: turn.turnId, command: { type: 'acknowledge', seq: 1 } });
    }
    await until(() => begun === 2);
    alone.take(link, { type: 'command', turnId: 's1:1', command: { type: 'interrupt' } });
    alone.leave(link, hourMs - 500);
    await until(() => alone.running() === 0);
    alone.end();
  });

  it('goes on with its turns while it is answered', async () => {
    gateway.say({ type: 'hello', key: '', waitMs: 3_000 }, 1);
    await started(1);
    for (let beats = 0; beats < 9; beats += 1) await gateway.until('beat'); // longer than that
    expect(worker.running()).to.equal(1);
  });

  it('hears no gateway that is older than the one that it has heard', async () => {
    gateway.say({ type: 'hello', key: '', waitMs: 60_000 }, 7);
    await started(7);
    gateway.end();
    const older = await dialled();
    await older.until('ready');
    older.say({ type: 'hello', key: '', waitMs: 60_000 }, 6); // it was asleep, and its home has another owner
    older.say({ type: 'end' }, 6);
    await older.gone;
    const younger = await dialled();
    await younger.until('ready');
    younger.say({ type: 'hello', key: '', waitMs: 60_000 }, 8);
    younger.say({ type: 'attach', turnId, after: 0 }, 8);
    expect(await younger.until('attached')).to.include({ isHere: true });
    expect(begun).to.equal(1);
  });

  it('begins a turn once, however often it is told to, and none that it has not judged', async () => {
    gateway.say({ type: 'hello', key: '', waitMs: 60_000 }, 1);
    gateway.say(
      {
        ...begin,
        turnId: 'unjudged',
        request: { ...(begin.request as object), turnId: 'unjudged' } as never,
      },
      1,
    );
    expect(await gateway.until('attached')).to.include({ turnId: 'unjudged', isHere: false });
    await started(1);
    gateway.say({ ...begin }, 1);
    await gateway.until('caughtUp');
    expect(begun).to.equal(1);
  });

  // a stop between the two left the sandbox and its ways to the gateway open for ever
  it('keeps nothing open of a turn that was judged and does not begin', async () => {
    gateway.say({ type: 'hello', key: '', waitMs: 60_000 }, 1);
    gateway.say({ ...prepare }, 1);
    await gateway.until('prepared');
    gateway.say({ ...prepare }, 1); // asked again
    await gateway.until('prepared');
    expect(held).to.equal(1);
    gateway.say({ type: 'drop', turnId }, 1);
    gateway.say({ ...prepare, turnId: 's2:1', sessionId: 's2' }, 1);
    await gateway.until('prepared');
    expect(held).to.equal(1);
    const link = { send: () => undefined, end: () => undefined };
    worker.welcome(link, 20); // and this gateway never comes back to it
    while (held > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('ends its turns, and is dialled no more, when it was removed', async () => {
    gateway.say({ type: 'hello', key: '', waitMs: 60_000 }, 1);
    await started(1);
    gateway.end(4001);
    expect(await joined.over).to.equal('removed');
    await interrupted;
  });

  // A proxy that asked for its own password once ended all turns, and the token was deleted
  it('was removed where the gateway itself says so, not a proxy before it', async () => {
    let dials = 0;
    const strict = createServer();
    strict.on('upgrade', (_request, stream) => {
      dials += 1;
      if (dials > 2) hangUp(stream, refuse('UNAUTHENTICATED'));
      else
        stream.end(
          'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 7\r\n\r\n' +
            (dials === 1 ? '<login>' : '{"a":1}'),
        );
    });
    strict.listen(0, '127.0.0.1');
    await once(strict, 'listening');
    const { port } = strict.address() as AddressInfo;
    const offer = { machine: 'm', slots: 1, labels: [], engines: [], roots: [], work: '/w' };
    const alone = new Worker({ waitMs: 60_000, places }, [], () => undefined);
    const url = `http://127.0.0.1:${port}`;
    const { over } = joinGateway({ url, token: 'mine', worker: alone, offer, onState: () => undefined });
    expect([await over, dials]).to.deep.equal(['removed', 3]);
    strict.close();
  });
});

interface Hand {
  isDeaf: boolean;
  say(frame: ToWorker, epoch: number): void;
  until(type: FromWorker['type']): Promise<FromWorker>;
  end(code?: number): void;
  readonly gone: Promise<unknown>;
}

/** Answers questions, and hands out frames by their type. */
function handOf(socket: WebSocket): Hand {
  const heard: FromWorker[] = [];
  let next: (() => void) | undefined;
  const hand: Hand = {
    isDeaf: false,
    say: (frame, epoch) => socket.send(JSON.stringify({ ...frame, epoch })),
    async until(type) {
      for (;;) {
        const frame = heard.shift();
        if (frame === undefined) await new Promise<void>((resolve) => (next = resolve));
        else if (frame.type === type) return frame;
      }
    },
    end: (code) => (code === undefined ? socket.terminate() : socket.close(code)),
    gone: once(socket, 'close'),
  };
  let epoch = 0;
  const say = hand.say;
  hand.say = (frame, of) => say(frame, (epoch = of));
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as FromWorker;
    if (frame.type === 'beat' && !hand.isDeaf) say(frame, epoch);
    heard.push(frame);
    next?.();
  });
  return hand;
}
