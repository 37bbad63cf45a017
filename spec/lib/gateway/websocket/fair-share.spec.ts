import { expect } from 'chai';
import { fairShare } from '../../../../lib/gateway/websocket/backpressured-socket.js';

describe('a fair share', () => {
  it('lets one slice run at a time, and everything else have a turn between two', async () => {
    const share = fairShare();
    const seen: string[] = [];
    let running = 0;
    const others = (async () => {
      for (let n = 0; n < 3; n++) {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push('other');
      }
    })();
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        share(async () => {
          expect(running++).to.equal(0);
          await Promise.resolve();
          seen.push(name);
          running--;
        }),
      ),
    );
    await others;
    expect(seen.filter((name) => name !== 'other')).to.deep.equal(['a', 'b', 'c']);
    expect(seen.indexOf('other'), 'somebody else had a turn before the last slice').to.be.below(
      seen.indexOf('c'),
    );
  });

  it('goes on after a slice that failed, and past one that waits for something else', async () => {
    const share = fairShare();
    let free = (): void => undefined;
    const stuck = share(
      () =>
        new Promise<string>((resolve) => {
          free = () => resolve('late');
        }),
    );
    const failed = share(() => Promise.reject(new Error('broken'))).catch((error: Error) => error.message);
    expect(await share(async () => 'here')).to.equal('here');
    expect(await failed).to.equal('broken');
    free();
    expect(await stuck).to.equal('late');
  });
});
