import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { originCheck } from '../../../lib/gateway/origin.js';
import { openHouse, operatorToken } from './fixture.js';

/**
 * Names under which a gateway may be called: as they are now, and never the address that only means "all of
 * them".
 */
describe('the names of a gateway', () => {
  const bearer = { authorization: `Bearer ${operatorToken}` };

  it('are those of the list as it is now: a name that was taken away is refused, one that was added let in', async () => {
    let allowed: readonly string[] = ['old.example'];
    const house = await openHouse({ allowedHosts: () => allowed });
    const statuses = async () =>
      Promise.all(
        ['old.example', 'new.example'].map(
          async (host) => (await house.client({ ...bearer, host }).get('/api/work-items')).status,
        ),
      );
    try {
      expect(await statuses()).to.deep.equal([200, 403]);
      allowed = ['new.example'];
      expect(await statuses()).to.deep.equal([403, 200]);
    } finally {
      await house.close();
    }
  });

  it('are not the addresses to bind to all: a rebound name that points at 0.0.0.0 would come in', () => {
    const asked = (bound: string, host: string) =>
      originCheck({ host: bound, allowedHosts: [], allowedOrigins: [] }).check({
        headers: { host },
        rawHeaders: ['Host', host],
        url: '/',
        socket: {},
      } as unknown as IncomingMessage)?.code; // all that it looks at
    for (const bound of ['0.0.0.0', '::']) {
      expect(asked(bound, '0.0.0.0:8080'), bound).to.equal('HOST_REFUSED');
      expect(asked(bound, '[::]:8080'), bound).to.equal('HOST_REFUSED');
      expect(asked(bound, '127.0.0.1:8080'), bound).to.equal(undefined);
    }
    expect(asked('192.168.1.7', '192.168.1.7:8080')).to.equal(undefined);
    expect(asked('192.168.1.7', '192.168.1.8:8080')).to.equal('HOST_REFUSED');
  });
});
