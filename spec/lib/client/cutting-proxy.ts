import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** TCP between a client and the gateway that breaks off where a spec says so. */
export interface CuttingProxy {
  readonly url: string;
  /** Break every connection that is open. */
  cut(): void;
  /** Break a connection after so many bytes of the gateway; each connection takes the next number. */
  cutAfter(...bytes: readonly number[]): void;
  /** Answer what is new in place of the gateway, as a proxy does that cannot reach it: with 502 and a page. */
  isDown: boolean;
  /** Sockets of both sides that are open now. */
  readonly open: number;
  /** Connections so far. */
  readonly connections: number;
  close(): Promise<void>;
}

export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const limits: number[] = [];
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    if (proxy.isDown) return void near.on('error', () => undefined).once('data', () => near.end(badGateway));
    const far = connect(port, '127.0.0.1');
    let left = limits.shift() ?? Infinity;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      near.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) near.end(() => near.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: CuttingProxy = {
    isDown: false,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      for (const socket of open) socket.destroy();
    },
    cutAfter: (...bytes) => void limits.push(...bytes),
    get open() {
      return open.size;
    },
    get connections() {
      return connections;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

const page = '<h1>502 Bad Gateway</h1>';
const badGateway = [
  'HTTP/1.1 502 Bad Gateway',
  'Content-Type: text/html',
  `Content-Length: ${page.length}`,
  'Connection: close',
  '',
  page,
].join('\r\n');
