import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The way of one node to the database, which the campaign cuts, slows down and breaks. */
export interface Network {
  readonly port: number;
  /** Nothing passes, either way, and no one is told; what is under way comes out when it is joined again. */
  cut(): void;
  /** Everything takes so long each way. 0: as fast as it can. */
  delay(ms: number): void;
  join(): void;
  /** Every connection of now breaks. */
  reset(): void;
  close(): void;
}

/** To whatever `target` answers, at the moment of each connection; undefined: no one listens. */
export async function openNetwork(target: () => number | undefined): Promise<Network> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let isCut = false;
  let joined: (() => void)[] = [];
  const passage = (): Promise<void> =>
    isCut ? new Promise((resolve) => joined.push(resolve)) : Promise.resolve();

  function relay(from: Socket, to: Socket): void {
    sockets.add(from);
    let before: Promise<unknown> = Promise.resolve();
    /** In order, whatever the delay was meanwhile. */
    const later = (act: () => void): void => {
      const waited = delayMs === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, delayMs));
      before = before
        .then(() => waited)
        .then(passage)
        .then(act);
    };
    from.on('data', (bytes: Buffer) => later(() => void (to.destroyed || to.write(bytes))));
    from.on('end', () => later(() => to.end()));
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      later(() => to.destroy());
    });
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const port = target();
    if (port === undefined) return void client.resetAndDestroy();
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    relay(client, upstream);
    relay(upstream, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  function join(): void {
    isCut = false;
    delayMs = 0;
    for (const pass of joined.splice(0)) pass();
  }
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => void (isCut = true),
    delay: (ms) => void (delayMs = ms),
    join,
    reset,
    close() {
      join();
      reset();
      server.close();
    },
  };
}
