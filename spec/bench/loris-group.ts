import { connect, type Socket } from 'node:net';

/**
 * The group that means ill, a process of its own: connections that send a header a byte at a time, and
 * connections that ask for much and read nothing, over HTTP and over the live feed. Who is cut comes back.
 */
export interface GroupOrder {
  readonly port: number;
  readonly token: string;
  readonly slowWriters: number;
  readonly deafReaders: number;
  readonly deafWatchers: number;
}
export interface GroupReport {
  readonly open: number;
  readonly cut: number;
}

let cut = 0;
const group = new Set<Socket>();
const watching = new WeakSet<Socket>();
/** An empty one, masked with zeros: says nothing, and keeps who says it alive. */
const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

process.on('message', (order: GroupOrder | 'report') => {
  if (order !== 'report') gather(order);
  process.send?.({ open: group.size, cut } satisfies GroupReport);
});

function gather({ port, token, slowWriters, deafReaders, deafWatchers }: GroupOrder): void {
  const join = (begin: (socket: Socket) => void, again: () => void): void => {
    const socket = connect({ port, host: '127.0.0.1' });
    group.add(socket);
    socket.on('connect', () => begin(socket));
    socket.on('error', () => undefined); // being cut is the answer
    socket.on('close', () => {
      group.delete(socket);
      cut += 1;
      setTimeout(again, 500);
    });
  };
  const slow = (): void =>
    join((socket) => {
      socket.write(
        `GET /api/work-items HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nX-Slow: `,
      );
      const drip = setInterval(() => (socket.destroyed ? clearInterval(drip) : socket.write('a')), 1_000);
    }, slow);
  const deaf = (): void =>
    join((socket) => {
      socket.pause();
      socket.write(
        `GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(
          40,
        ),
      );
    }, deaf);
  const watcher = (): void =>
    join((socket) => {
      socket.pause();
      watching.add(socket);
      socket.write(
        `GET /ws?since=0 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
    }, watcher);
  for (const [count, one] of [
    [slowWriters, slow],
    [deafReaders, deaf],
    [deafWatchers, watcher],
  ] as const) {
    // A paused socket never hears its end: a byte now and then tells.
    for (let n = 0; n < count; n += 1) setTimeout(one, n * 2);
  }
  setInterval(() => {
    for (const socket of group)
      if (socket.isPaused() && !socket.connecting) socket.write(watching.has(socket) ? pong : '\n');
  }, 2_000);
}
