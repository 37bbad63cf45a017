import { expect } from 'chai';
import { mock } from 'node:test';
import { keepConnected, type Socket } from '../../../lib/client/connection.js';

describe('keepConnected', () => {
  // A page that had been left showed the next one that its connection was lost
  it('calls nothing once it is closed, also where a socket was being opened', async () => {
    const called: string[] = [];
    let fail = (_error: Error): void => undefined;
    const opening = new Promise<Socket>((_resolve, reject) => (fail = reject));
    const connection = keepConnected({
      open: () => opening,
      judge: async () => void called.push('judge'),
      take: () => called.push('take'),
      onState: () => called.push('state'),
      onEnd: () => called.push('end'),
      giveUpAfterMs: Infinity,
    });
    connection.close();
    fail(new Error('nothing answers'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(called).to.deep.equal([]);
  });

  // Twelve handshakes a second, for as long as a proxy in between took the first frame for the whole answer
  it('waits longer each time where sockets are cut after their first frame, and no longer once one has held', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let sockets: Socket[] = [];
    const connection = keepConnected({
      open: async () => {
        const socket: Socket = {
          onopen: null,
          onmessage: null,
          onclose: null,
          onerror: null,
          close: () => undefined,
        };
        sockets.push(socket);
        return socket;
      },
      judge: async () => undefined,
      take: () => undefined,
      onState: () => undefined,
      onEnd: () => undefined,
      giveUpAfterMs: Infinity,
    });
    const pass = async (ms: number, each = (_socket: Socket): void => undefined): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 50) {
        await new Promise((resolve) => setImmediate(resolve));
        const socket = sockets.at(-1);
        if (socket?.onclose) each(socket);
        mock.timers.tick(50);
      }
    };
    const cut = (socket: Socket): void => {
      socket.onmessage?.({ data: '{}' });
      const { onclose } = socket;
      socket.onclose = null;
      onclose?.({ code: 1006 });
    };
    try {
      await pass(60_000, cut);
      expect(sockets.length).to.be.within(50, 110);
      await pass(11_000);
      sockets.at(-1)?.onmessage?.({ data: '{}' });
      await pass(6_000);
      sockets = sockets.slice(-1);
      cut(sockets[0] as Socket);
      await pass(200);
      expect(sockets, 'after one that held').to.have.length(2);
    } finally {
      connection.close();
      mock.timers.reset();
    }
  });

  // A program that had ended everything else ran on: for 30 s, or until its question was given up
  it('closes for good: it ends a socket that does not answer, and the question whether to go on', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    try {
      let terminated = 0;
      const socket: Socket = {
        onopen: null,
        onmessage: null,
        onclose: null,
        onerror: null,
        close: () => undefined,
        terminate: () => (terminated += 1),
      };
      let asked: AbortSignal | undefined;
      const settings = {
        judge: (signal: AbortSignal) => {
          asked = signal;
          return new Promise<void>(() => undefined);
        },
        take: () => undefined,
        onState: () => undefined,
        onEnd: () => undefined,
        giveUpAfterMs: Infinity,
      };
      const silent = keepConnected({ ...settings, open: async () => socket });
      await turn();
      silent.close();
      mock.timers.tick(1_000);
      expect(terminated).to.equal(1);
      const refused = keepConnected({ ...settings, open: () => Promise.reject(new Error('refused')) });
      await turn();
      expect(asked?.aborted).to.equal(false);
      refused.close();
      expect(asked?.aborted).to.equal(true);
    } finally {
      mock.timers.reset();
    }
  });
});
