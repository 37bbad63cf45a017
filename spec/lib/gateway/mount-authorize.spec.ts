import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { mountInspector, type MountOptions } from '../../../lib/gateway/mount-inspector.js';
import { closeCodes } from '../../../lib/client/inspector-frames.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';

/** Who judges is the application's own code, often without types: what it means to say no with is a no. */
describe('the judge of a mounted inspector', () => {
  type Judge = MountOptions['authorize'];
  async function mounted(authorize: Judge) {
    const supervisor = await createSupervisor({ kinds: [], store: memoryStore() });
    const inspector = mountInspector(supervisor, { authorize });
    const server = createServer(inspector.handler).on('upgrade', inspector.upgrade).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      get: () => fetch(`http://${at}/inspect/api/inspect/fleet`),
      socket: () => new WebSocket(`ws://${at}/inspect/ws/inspect`, ['troupe']),
      async close() {
        inspector.close();
        server.close();
        server.closeAllConnections();
        await supervisor.stop();
      },
    };
  }

  // It let in whatever was not `false`: `(request) => request.user` admitted those without a user, to act
  for (const said of [undefined, null, 0, '', {}, 'no', 1, { user: 'ann' }])
    it(`lets no one in by ${JSON.stringify(said)}`, async () => {
      const place = await mounted((() => said) as unknown as Judge); // as without types
      try {
        expect((await place.get()).status).to.equal(401);
        const [, { statusCode }] = await once(place.socket(), 'unexpected-response');
        expect(statusCode).to.equal(401);
      } finally {
        await place.close();
      }
    });

  it('lets no one in where it fails, and tells them nothing of why', async () => {
    const place = await mounted(() => {
      throw new Error('connect to db at secret-host failed');
    });
    try {
      const answer = await place.get();
      expect(answer.status).to.equal(500);
      expect(await answer.text()).to.not.include('secret-host');
      await once(place.socket(), 'error');
    } finally {
      await place.close();
    }
  });

  it('is asked for when the inspector is mounted, not at the first request', () => {
    expect(() => mountInspector({} as never, {} as never)).to.throw(TypeError, 'authorize');
  });

  // A session that ended while the application could not look it up was watched on
  it('ends a socket where it fails later', async () => {
    const real = globalThis.setInterval;
    const ticks: (() => void)[] = [];
    globalThis.setInterval = ((tick: () => void, ms: number) => {
      ticks.push(tick);
      return real(() => undefined, ms);
    }) as typeof setInterval;
    let fails = false;
    const place = await mounted(() => {
      if (fails) throw new Error('the store of sessions is gone');
      return true;
    }).finally(() => (globalThis.setInterval = real));
    try {
      const socket = place.socket();
      await once(socket, 'message');
      fails = true;
      const closed = once(socket, 'close');
      for (let n = 0; n < 6; n += 1) for (const tick of ticks) tick();
      expect((await closed)[0]).to.equal(closeCodes.goingAway);
    } finally {
      await place.close();
    }
  });
});
