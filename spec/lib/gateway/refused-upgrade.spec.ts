import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drainable, openListeners } from '../../../lib/gateway/listeners.js';
import { mountInspector } from '../../../lib/gateway/mount-inspector.js';
import { sessionLinks } from '../../../lib/gateway/session-links.js';
import { openHouse } from './fixture.js';
import { stays } from './stays.js';

/** Node's server knows no more of a connection that was upgraded: one such client held the gateway's end up. */
describe('a client whose upgrade is refused, and that never closes', () => {
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  async function refused(port: number, path: string): Promise<string> {
    const { socket, said } = await stays(port, path);
    sockets.push(socket);
    return said;
  }

  it('is not waited for by a gateway that closes', async () => {
    const house = await openHouse();
    for (const [path, status] of [
      ['/ws', 401],
      ['/ws/inspect', 401],
      ['/ws/stately/none', 401],
      ['/ws/worker', 404],
      ['/ws/node', 403],
    ] as const)
      expect(await refused(house.gateway.port, path), path).to.match(new RegExp(`^HTTP/1.1 ${status} `));
    await house.gateway.close(600_000);
    await house.close();
  });

  it('is let go by a mounted inspector', async () => {
    const house = await openHouse();
    const inspector = mountInspector(house.supervisor, { prefix: '/inspect', authorize: () => false });
    const server = createServer(inspector.handler).on('upgrade', inspector.upgrade).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await refused(port, '/inspect/ws/inspect')).to.match(/^HTTP\/1.1 401 /);
    await new Promise((resolve) => server.close(resolve));
    inspector.close();
    await house.close();
  });

  it('is let go by the way out of a sandbox', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'links-'));
    const tokens = { resolve: () => undefined };
    const open = sessionLinks({ folder, tokens, gatewayUrl: () => undefined, hosts: () => [] });
    const link = await open('s-1', []);
    const socket = connect({ path: link.socket, allowHalfOpen: true });
    sockets.push(socket);
    socket.resume().write('CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'end');
    // Whose other end is gone can say nothing more
    let isGone = false;
    socket.on('error', () => (isGone = true));
    while (!isGone) {
      socket.write('.');
      await new Promise((resolve) => setImmediate(resolve));
    }
    link.close();
    await rm(folder, { recursive: true });
  });

  it('whatever holds a connection, closing is over some time after the last answers', async () => {
    const listeners = await openListeners({ host: '127.0.0.1', port: 0 });
    listeners.serve((_asked, answer) => void answer.end());
    const [server] = listeners.servers;
    if (server === undefined) throw new Error('there is no server');
    const kept = once(server, 'upgrade');
    const { socket, said } = await stays(listeners.port, '/ws');
    sockets.push(socket);
    await kept;
    await drainable(listeners.servers).close(1, () => undefined);
    listeners.close();
    expect(await said).to.equal('');
  });
});
