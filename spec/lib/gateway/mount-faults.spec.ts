import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assign, setup } from 'xstate';
import { defineKind } from '../../../actors/define-kind.js';
import { mountInspector } from '../../../lib/gateway/mount-inspector.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';

/**
 * An event that was sent from the page of a mounted inspector and at which its actor threw, and everything that was
 * asked for once the application had stopped its supervisor, was answered with the text "Internal Server Error": the page
 * could say neither what had failed nor where to look.
 */
describe('a mounted inspector, of what fails below it', () => {
  it('says under which id a fault is found, and that a supervisor was stopped', async () => {
    const machine = setup({ types: { events: {} as { type: 'break' } } }).createMachine({
      context: { n: 0 },
      on: {
        break: {
          actions: assign({
            n: () => {
              throw new Error('at secret-host');
            },
          }),
        },
      },
    });
    const lamp = defineKind({
      kind: 'lamp',
      version: 1,
      machine,
      view: () => null,
      operatorEvents: { break: {} },
    });
    const supervisor = await createSupervisor({ kinds: [lamp], store: memoryStore() });
    await supervisor.spawn('lamp', { id: 'a' });
    const inspector = mountInspector(supervisor as never, { authorize: () => true });
    const server = createServer(inspector.handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/inspect/api/inspect`;
    try {
      const sent = await fetch(`${url}/actors/lamp/a/send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ event: { type: 'break' } }),
      });
      const body = (await sent.json()) as { code: string; faultId: string; error: string };
      const [letter] = await supervisor.deadLetters();
      expect([sent.status, body.code, body.faultId]).to.deep.equal([500, 'INTERNAL', letter?.faultId]);
      expect(body.error).to.include(body.faultId).and.not.include('secret-host');

      await supervisor.stop();
      const late = await fetch(`${url}/dead-letters`);
      expect([late.status, ((await late.json()) as { code: string }).code]).to.deep.equal([
        503,
        'STORE_UNAVAILABLE',
      ]);
    } finally {
      inspector.close();
      server.close();
      server.closeAllConnections();
      await supervisor.stop();
    }
  });
});
