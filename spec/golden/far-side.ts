import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The other end of the webhooks of a golden home; what it does depends on the connector's name in the address. */
export interface FarSide {
  readonly url: string;
  /** What was sent to it: `<connector> <body>`. */
  readonly received: readonly string[];
  close(): Promise<void>;
}

/**
 * With `isKind` it takes everything. Else it takes what comes to `steady`, lets `broken` fail, never answers the
 * probe of `opening` and never the messages of `sending`.
 */
export async function openFarSide(isKind: boolean): Promise<FarSide> {
  const received: string[] = [];
  const held = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (piece: string) => (body += piece))
      .on('end', () => {
        if (request.method === 'POST') received.push(`${name} ${body}`);
        const hangs = name === 'opening' || (name === 'sending' && request.method === 'POST');
        if (!isKind && hangs) return void held.add(response);
        if (!isKind && name === 'broken') return void request.socket.destroy();
        response.statusCode = 200;
        response.end('{"id":"m1"}');
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
