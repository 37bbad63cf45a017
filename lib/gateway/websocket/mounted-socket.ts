import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { closeCodes } from '../../client/inspector-frames.js';
import { Channels } from '../../inspector/watch.js';
import type { Supervisor } from '../../supervisor/contract.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { readQuery } from '../parse.js';
import { floodOf } from './flood.js';
import { filterOfQuery, inspectSubscription } from './inspect-socket.js';
import type { Subscription } from './subscription.js';

/** The live feed of a mounted inspector: judged at the upgrade, and again for as long as it is open. */
export function openMountedSocket(
  supervisor: Supervisor,
  judge: (request: IncomingMessage) => Promise<true | 'read' | Refusal>,
) {
  const { clock, log } = supervisor.environment;
  const channels = new Channels(supervisor);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536, perMessageDeflate: false });
  const open = new Map<
    WebSocket,
    { readonly request: IncomingMessage; readonly subscription: Subscription }
  >();
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    for (const [socket, { request, subscription }] of open) {
      subscription.cursor();
      if (ticks % judgedEvery === 0) void judgeAgain(socket, request);
    }
  }, cursorMs);
  timer.unref();

  async function judgeAgain(socket: WebSocket, request: IncomingMessage): Promise<void> {
    try {
      const admission = await judge(request);
      if (isRefusal(admission)) socket.close(closeCodes.credentialEnded, admission.code);
    } catch (error) {
      log.error({ err: error }, 'an open socket of the inspector could not be judged again');
      socket.close(closeCodes.goingAway); // a page opens it again, and is judged then
    }
  }

  function serve(socket: WebSocket, stream: Duplex, request: IncomingMessage): void {
    const query = readQuery(request.url ?? '');
    const filter = isRefusal(query) ? query : filterOfQuery(query);
    if (isRefusal(query) || isRefusal(filter)) return socket.close(1008, 'the address is not understood');
    const since = /^\d{1,15}$/.test(query['since'] ?? '') ? Number(query['since']) : undefined;
    const subscription = inspectSubscription({ channels, socket, stream, filter, log });
    open.set(socket, { request, subscription });
    const isTooMany = floodOf(
      socket,
      () => clock.monotonic(),
      () => subscription.stop(),
    );
    socket.on('error', () => socket.terminate());
    socket.on('message', (text: Buffer) => void (isTooMany() || subscription.hear(text.toString())));
    socket.on('close', () => {
      open.delete(socket);
      subscription.stop();
    });
    subscription.start(since);
  }

  async function admit(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const admission = open.size >= socketsMax ? refuse('BUSY') : await judge(request);
    if (isRefusal(admission)) {
      const { status } = admission;
      stream.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
        stream.destroy(),
      );
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, stream, request));
  }

  return {
    upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
      stream.on('error', () => stream.destroy());
      admit(request, stream, head).catch((error: unknown) => {
        log.error({ err: error }, 'an upgrade of the inspector failed');
        stream.destroy();
      });
    },
    close(): void {
      clearInterval(timer);
      for (const socket of open.keys()) socket.close(closeCodes.goingAway);
      sockets.close();
    },
  };
}

const cursorMs = 5_000;
/** In ticks: half a minute. */
const judgedEvery = 6;
const socketsMax = 256;
