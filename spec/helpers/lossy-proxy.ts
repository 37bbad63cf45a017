import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Between a client and a server on this machine: swallows what passes, or cuts connections at a chosen moment. */
export interface LossyProxy {
  readonly port: number;
  /** Take everything and pass on nothing, both ways; what was taken is lost. */
  hold(): void;
  pass(): void;
  /** Cut all connections once: when a request has come and before it is passed on, or before its answer is. */
  cutAfter(what: 'request' | 'answer'): void;
  close(): Promise<void>;
}

export async function lossyProxy(target: number): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  let held = false;
  let cut: 'request' | 'answer' | undefined;
  const cutAll = (): void => {
    cut = undefined;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const relay = (from: Socket, to: Socket, what: 'request' | 'answer'): void => {
    sockets.add(from);
    from.on('data', (bytes: Buffer) => {
      if (held) return;
      // Commits alone are long: what is asked beside them passes
      if (cut === what && (what === 'answer' || bytes.includes('a/x/'))) return cutAll();
      to.write(bytes);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    relay(client, upstream, 'request');
    relay(upstream, client, 'answer');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hold: () => void (held = true),
    pass() {
      held = false;
      cutAll(); // what was swallowed will never be answered
    },
    cutAfter: (what) => void (cut = what),
    async close() {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
