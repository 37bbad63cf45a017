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
  if (request !== 'leave') return enter(request);
  const ended = open.map((socket) => once(socket, 'close'));
  for (const socket of open) socket.close();
  open = [];
  await Promise.all(ended);
}

async function enter({ port, count, path, token }: Exclude<WatchRequest, 'leave'>): Promise<void> {
  open = Array.from({ length: count }, () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${token}` },
    });
    socket.on('message', () => undefined);
    return socket;
  });
  await Promise.all(open.map((socket) => once(socket, 'message'))); // its hello: it has joined
  for (const socket of open) socket.on('error', () => undefined);
}

/** What it is sent. */
export type WatchRequest =
  | 'leave'
  | { readonly port: number; readonly count: number; readonly path: string; readonly token: string };
