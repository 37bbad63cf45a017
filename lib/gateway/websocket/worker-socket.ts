import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { WebSocketServer, type WebSocket } from 'ws';
import { connectWorker, workerWith } from '../../commands/workers.js';
import type { App, GatewayActor } from '../../commands/app.js';
import { refusalOf } from '../../worker/wire.js';
import type { RemoteLink } from '../../worker/remote-worker.js';
import { remoteFrame, remoteFrameBytesMax, type RemoteReady } from '../../worker/remote-frames.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { refusedIdentity, type Authenticator } from '../authentication.js';
import { failureBody } from '../errors.js';
import { clientOf, type OriginCheck } from '../origin.js';
import { perMinute, type Limiter } from '../limiter.js';
import { version } from '../../version.js';

/**
 * `GET /ws/worker`: where workers of other machines connect, with a token that opens nothing else. What they say is
 * judged frame by frame (remote-frames.ts) and read no faster than it can be kept.
 */
export function workerSockets(options: {
  readonly app: App;
  readonly step: OriginCheck;
  readonly authenticator: Authenticator;
  readonly log: Logger;
}) {
  const { app, step, authenticator, log } = options;
  const { clock } = app.supervisor.environment;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: remoteFrameBytesMax,
    perMessageDeflate: false,
    clientTracking: true,
  });
  const failures = perMinute(failuresPerMinute, () => clock.monotonic());
  /** Of each worker: each of its connections is an entry in the home's log. */
  const connects = new Map<string, Limiter>();
  const mayConnect = (name: string): boolean => {
    const limiter = connects.get(name) ?? perMinute(connectsPerMinute, () => clock.monotonic());
    connects.set(name, limiter);
    return limiter.take() === undefined;
  };

  async function judge(request: IncomingMessage): Promise<GatewayActor<'worker'> | Refusal> {
    if (app.workers === undefined) return refuse('NOT_FOUND', {}, 'Not found');
    const refusal = step.check(request);
    if (refusal) return refusal;
    if (request.headers.origin !== undefined) return refuse('ORIGIN_REFUSED');
    const holder = await authenticator.newcomer(request.socket);
    if (holder.type === 'orphaned') return refusedIdentity(holder); // an agent that has found a token
    const token = /^Bearer (.{1,200})$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const worker = await workerWith(app, token);
    if (worker !== undefined) return mayConnect(worker.id) ? worker : refuse('TOO_MANY');
    return failures.take() === undefined ? refuse('UNAUTHENTICATED') : refuse('TOO_MANY');
  }

  async function upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const worker = await judge(request);
    const isRefused = isRefusal(worker);
    app.records?.audit.decided({
      by: isRefused ? 'anonymous' : `worker:${worker.id}`,
      address: clientOf(request).address,
      authority: 'worker.connect',
      method: 'GET',
      verdict: isRefused ? 'refused' : 'allowed',
      code: isRefused ? worker.code : undefined,
    });
    if (isRefused) return hangUp(stream, worker);
    sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, worker));
  }

  function serve(socket: WebSocket, worker: GatewayActor<'worker'>): void {
    const { id: name } = worker;
    const remote = app.workers?.remote;
    if (remote === undefined) return socket.terminate();
    let epoch = 0;
    let heardAt = clock.monotonic();
    let greeting: 'awaited' | 'judged' | 'done' = 'awaited';
    const link: RemoteLink = {
      send(frame) {
        // What goes on there belongs to the next owner: it must not be ended, or kept, by one that was
        if (!remote.mayCommand()) return link.close(1012, 'the home may have another owner');
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ ...frame, epoch }));
        // One that asks and reads no answers
        if (socket.bufferedAmount > unreadBytesMax) socket.terminate();
      },
      close(code, reason) {
        socket.close(code, reason);
        setTimeout(() => socket.terminate(), 1_000).unref();
      },
    };
    const liveness = setInterval(() => {
      if (clock.monotonic() - heardAt > (greeting === 'done' ? remote.waitMs / 2 : greetingMsMax))
        socket.terminate();
    }, 1_000).unref();
    const measure = paced(socket);

    async function greet(ready: RemoteReady): Promise<void> {
      const refusal = refusalOf(ready, name);
      if (refusal !== undefined) {
        log.warn({ worker: name, version: ready.version }, `a worker was not let in: ${refusal}`);
        return socket.close(1008, `install Troupe ${version} here: this build speaks another protocol`);
      }
      const connected = await connectWorker(app, worker, ready.offer);
      if (isRefusal(connected)) return socket.close(removedOr(connected), connected.message.slice(0, 100));
      if (socket.readyState !== socket.OPEN) return;
      // From here to its place among the workers at once: it may go, or be removed, in any pause
      epoch = connected.epoch;
      greeting = 'done';
      heardAt = clock.monotonic();
      link.send({ type: 'hello', key: '', waitMs: remote?.waitMs ?? 0 });
      remote?.connect(name, link, ready, connected.status !== 'serving');
      log.info({ worker: name }, 'a worker connected');
    }

    socket.on('message', (data, isBinary) => {
      const said = String(data);
      measure(said.length);
      const frame = isBinary ? undefined : remoteFrame(said);
      if (frame !== undefined && frame.type !== 'ready' && greeting === 'done') {
        heardAt = clock.monotonic();
        return remote.take(name, link, frame);
      }
      if (frame?.type === 'ready' && greeting === 'awaited') {
        greeting = 'judged';
        greet(frame).catch((error: unknown) => {
          log.error({ err: error, worker: name }, 'a worker could not be connected');
          socket.close(1011, 'internal error');
        });
        return;
      }
      if (frame?.type === 'beat') return;
      log.warn({ worker: name }, 'a worker sent an invalid frame and was disconnected');
      link.close(1008, 'invalid frame');
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(liveness);
      if (greeting !== 'done') return;
      remote.disconnect(name, link);
      log.info({ worker: name }, 'a worker disconnected');
    });
  }

  return {
    upgrade,
    close(): void {
      app.workers?.remote.leave();
      for (const socket of sockets.clients) socket.close(1001, 'the gateway is shutting down');
      setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
      }, 1_000).unref();
    },
  };
}

/** One that speaks faster than this for long is not read until it is below it again; nothing it says is lost. */
function paced(socket: WebSocket): (characters: number) => void {
  let due = performance.now() - burstMs;
  return (characters) => {
    const now = performance.now();
    due = Math.max(due, now - burstMs) + frameMs + characters / charactersPerMs;
    if (due <= now || socket.isPaused) return;
    socket.pause();
    setTimeout(() => socket.resume(), due - now).unref();
  };
}

const removedOr = ({ code }: Refusal): number => (code === 'UNAUTHENTICATED' ? 4001 : 1008);

const failuresPerMinute = 60;
/** A worker that loses each connection within two seconds is still back before its turns are given up. */
const connectsPerMinute = 30;
/** More than the beginning of a turn with all its pictures. */
const unreadBytesMax = 256 * 1024 * 1024;
const greetingMsMax = 10_000;
/** 4 MB and 2,000 frames a second, after ten seconds' worth at once. */
const charactersPerMs = 4_000;
const frameMs = 0.5;
const burstMs = 10_000;

/**
 * Answers an upgrade that is refused, and waits for no one who takes the answer and stays: Node's server has let go of
 * the connection. `hangUp(stream, refuse('UNAUTHENTICATED'))`
 */
export function hangUp(stream: Duplex, refusal: Refusal): void {
  const body = JSON.stringify(failureBody(refusal));
  stream.end(
    [
      `HTTP/1.1 ${refusal.status} Refused`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      'X-Content-Type-Options: nosniff',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
    () => stream.destroy(),
  );
}
