import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { oneAtATime } from '../../../lib/gateway/listeners.js';

describe('requests sent ahead on one connection', () => {
  const begun: ServerResponse[] = [];
  let told = (): void => undefined;
  const server = createServer(
    oneAtATime(async (_request, response) => {
      begun.push(response);
      told();
    }),
  );
  const beginning = (count: number): Promise<void> =>
    new Promise((resolve) => {
      told = () => {
        if (begun.length >= count) resolve();
      };
      told();
    });
  const open = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined); // being cut is an answer
    await once(socket, 'connect');
    return socket;
  };
  const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    begun.length = 0;
  });

  it('begin when the answer before is out, in their order, while other connections go on', async () => {
    const socket = await open();
    let heard = '';
    socket.on('data', (chunk) => (heard += String(chunk)));
    socket.write(ask('/1') + ask('/2') + ask('/3'));
    await beginning(1);
    const other = await open();
    other.write(ask('/other'));
    await beginning(2);
    expect(begun.map(({ req }) => req.url)).to.deep.equal(['/1', '/other']);
    for (const n of [2, 3]) {
      (begun.find(({ req }) => req.url === `/${n - 1}`) as ServerResponse).end(`<${n - 1}>`);
      await beginning(n + 1);
      expect(begun.at(-1)?.req.url).to.equal(`/${n}`);
    }
    begun.at(-1)?.setHeader('connection', 'close').end('<3>');
    await once(socket, 'close');
    expect([...heard.matchAll(/<\d>/g)].map(String)).to.deep.equal(['<1>', '<2>', '<3>']);
    other.destroy();
  });

  it('are dropped with the connection: nothing begins for who has gone', async () => {
    const socket = await open();
    socket.write(ask('/1') + ask('/2'));
    await beginning(1);
    const gone = once(begun[0]?.req.socket as Socket, 'close');
    socket.destroy();
    await gone;
    const next = await open();
    next.write(ask('/next'));
    await beginning(2);
    expect(begun.map(({ req }) => req.url)).to.deep.equal(['/1', '/next']);
    next.destroy();
  });

  it('end the connection when there are too many', async () => {
    const socket = await open();
    socket.write(ask('/many').repeat(200));
    await once(socket, 'close');
    expect(begun.length).to.equal(1);
  });
});
