import { spawn } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';

/**
 * Runs inside of a `strict` sandbox, whose only network is a loopback of its own: carries connections to the
 * gateway's port over the session's socket, offers itself as the proxy for named hosts, and then starts the
 * agent. `node link-main.js <socket> <port> <port,port> -- program args…`
 */
const [socket = '', proxyPort = '0', ports = '', , program = '', ...args] = process.argv.slice(2);

/** What comes in on a port of a named host on this machine's loopback goes there, by the gateway's leave. */
function carry(port: number, opening: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ path: socket, allowHalfOpen: true });
      if (opening === '') join(near, far);
      else {
        far.write(opening);
        // the answer to CONNECT is ours, the rest is theirs
        far.once('data', (answer) => {
          const end = answer.indexOf('\r\n\r\n');
          if (!answer.subarray(0, 16).toString('latin1').includes(' 200') || end < 0) return near.destroy();
          near.write(answer.subarray(end + 4));
          join(near, far);
        });
      }
    });
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, () => resolve());
    server.unref();
  });
}

function join(near: Socket, far: Socket): void {
  near.pipe(far);
  far.pipe(near);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const)
    one.on('error', () => other.destroy()).on('close', () => other.destroy());
}

await carry(Number(proxyPort), '');
for (const port of ports.split(',').filter((one) => one !== ''))
  await carry(Number(port), `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);

const child = spawn(program, args, { stdio: 'inherit' });
// the whole group has had it; we end when the agent does
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
child.once('error', () => process.exit(127));
child.once('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
