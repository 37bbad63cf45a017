import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { textFrame } from '../../../../lib/gateway/websocket/text-frame.js';

describe('a text frame', () => {
  // The length is written in three ways; ws writes its own frames before and after.
  it('is read as it was written, of every length, between frames of ws', async () => {
    const texts = [0, 1, 125, 126, 65_535, 65_536, 200_000].map(
      (bytes) => 'é'.repeat(bytes >> 1) + 'x'.repeat(bytes % 2),
    );
    const server = createServer();
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    server.on('upgrade', (request, stream, head) =>
      sockets.handleUpgrade(request, stream, head, (socket) => {
        for (const text of texts) {
          socket.send('before');
          stream.write(textFrame(Buffer.from(text)));
        }
        socket.close(1000, 'that was all');
      }),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const heard: string[] = [];
    client.on('message', (data, isBinary) => heard.push(isBinary ? 'binary' : String(data)));
    const [code] = await once(client, 'close');
    expect(code).to.equal(1000);
    expect(heard).to.deep.equal(texts.flatMap((text) => ['before', text]));
    server.close();
  });

  it('is made once for all', () => {
    const text = Buffer.from('{}');
    expect(textFrame(text)).to.equal(textFrame(text));
  });
});
