import { connect, type Socket } from 'node:net';

/** A client that sends an upgrade, takes what comes, and never closes. What came, once the other side has ended. */
export async function stays(
  port: number,
  path: string,
): Promise<{ readonly socket: Socket; readonly said: Promise<string> }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('data', (piece) => (text += String(piece)));
  socket.on('error', () => undefined);
  const said = new Promise<string>((resolve) => socket.once('end', () => resolve(text)));
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`,
  );
  return { socket, said };
}
