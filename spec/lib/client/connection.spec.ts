import { expect } from 'chai';
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
});
