import { WebSocket } from 'ws';

/**
 * Ten who watch, in a process of their own: told by IPC where to connect, they read all that comes and say
 * when they are there.
 */
process.on('message', ({ port, count }: { readonly port: number; readonly count: number }) => {
  let open = 0;
  for (let n = 0; n < count; n += 1) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    socket.on('open', () => {
      if (++open === count) process.send?.('open');
    });
    socket.on('message', () => undefined);
    socket.on('error', () => undefined);
  }
});
process.on('disconnect', () => process.exit());
