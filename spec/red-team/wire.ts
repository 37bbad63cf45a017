import { connect } from 'node:net';

/**
 * Bytes on a bare connection, and everything that came back until it closed. Node ends a connection whose
 * client ended first without waiting for an answer that is still being made: a spec that expects one keeps
 * the connection open, and asks the far side to close it.
 */
export function raw(
  port: number,
  parts: readonly (string | Buffer)[],
  options: { readonly keepOpen?: boolean } = {},
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    socket.on('data', (chunk) => (heard += String(chunk)));
    socket.on('error', () => undefined); // being cut is an answer
    socket.on('close', () => resolve(heard));
    for (const part of parts) socket.write(part);
    if (options.keepOpen !== true) socket.end();
  });
}

/** The status lines among the answers, in their order. */
export const statuses = (heard: string): number[] =>
  [...heard.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));
