import { once } from 'node:events';
import { WebSocket } from 'ws';

/**
 * Those who watch, in a process of their own: told by IPC where to connect and with which token, they read all that
 * comes and say when they are there; told to leave, they say when they are gone.
 */
let open: readonly WebSocket[] = [];
process.on('message', (request: WatchRequest) => void follow(request).then(() => process.send?.('done')));
process.on('disconnect', () => process.exit());

async function follow(request: WatchRequest): Promise<void> {
  if (request !== 'leave') return 'port' in request ? enter(request) : reach(request.until);
  const ended = open.map((socket) => once(socket, 'close'));
  for (const socket of open) socket.close();
  open = [];
  await Promise.all(ended);
}

async function enter({ port, count, path, token, until }: Entrance): Promise<void> {
  open = Array.from({ length: count }, () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${token}` },
    });
    reached.set(socket, 0);
    socket.on('message', (data) => hear(socket, data as Buffer));
    return socket;
  });
  await Promise.all(open.map((socket) => once(socket, 'message'))); // its hello: it has joined
  for (const socket of open) socket.on('error', () => undefined);
  if (until !== undefined) await reach(until);
}

const reached = new WeakMap<WebSocket, number>();
let goal = Infinity;
let arrived = (): void => undefined;

/** Where a frame stands is among its first bytes. */
function hear(socket: WebSocket, data: Buffer): void {
  const seq = Number(/"seq":(\d+)/.exec(data.toString('latin1', 0, 60))?.[1] ?? 0);
  if (seq > (reached.get(socket) ?? 0)) reached.set(socket, seq);
  if (seq >= goal) arrived();
}

async function reach(until: number): Promise<void> {
  goal = until;
  while (open.some((socket) => (reached.get(socket) ?? 0) < until))
    await new Promise<void>((resolve) => (arrived = resolve));
  goal = Infinity;
}

interface Entrance {
  readonly port: number;
  readonly count: number;
  readonly path: string;
  readonly token: string;
  /** Answered when all have come this far. */
  readonly until?: number;
}

/** What it is sent. */
export type WatchRequest = 'leave' | Entrance | { readonly until: number };
