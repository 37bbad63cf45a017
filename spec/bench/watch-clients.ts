import { WebSocket } from 'ws';

/**
 * Ten who watch, in a process of their own: told by IPC where to connect and with which token, they read all that comes
 * and say when they are there.
 */
process.on('message', ({ port, count, path = '', token }: WatchRequest) => {
  let open = 0;
  for (let n = 0; n < count; n += 1) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
      perMessageDeflate: false,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });
    socket.on('open', () => {
      if (++open === count) process.send?.('open');
    });
    socket.on('message', () => undefined);
    socket.on('error', () => undefined);
  }
});
process.on('disconnect', () => process.exit());

/** What it is sent. */
export interface WatchRequest {
  readonly port: number;
  readonly count: number;
  readonly path?: string;
  readonly token?: string;
}
