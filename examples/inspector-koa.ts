/**
 * The live inspector in a Koa application, below a path of your choice. Guests may look; who is signed in may act.
 *
 *     node inspector-koa.js 3000      # http://127.0.0.1:3000/ shows it to a guest, /sign-in to one who may act
 */
import Koa from 'koa';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setup } from 'xstate';
import { createSupervisor, defineKind, memoryStore } from 'troupe';
import { mountInspector } from 'troupe/gateway';

const machine = setup({}).createMachine({
  initial: 'red',
  states: { red: { on: { go: 'green' } }, green: { on: { stop: 'red' } } },
});
const light = defineKind({
  kind: 'light',
  version: 1,
  machine,
  view: (snapshot) => ({ title: 'North', state: snapshot.value }),
  operatorEvents: { go: {}, stop: {} }, // what people may send by hand
});
const supervisor = await createSupervisor({ kinds: [light], store: memoryStore() });
await supervisor.spawn('light', { id: 'north' });

/** Here a cookie. A browser sends cookies with its live feed, and no header of a page's own. */
const isSignedIn = (request: IncomingMessage): boolean =>
  /(?:^|; )key=open-sesame(?:;|$)/.test(request.headers.cookie ?? '');

const inspector = mountInspector(supervisor, {
  prefix: '/ops/inspect',
  authorize: (request) => isSignedIn(request) || 'read',
  frameAncestors: ["'self'"], // the dashboard of this application shows it in a frame
});
const app = new Koa();
app.use(inspector.koa); // before anything that reads bodies
app.use((ctx) => {
  if (ctx.path === '/sign-in') ctx.cookies.set('key', 'open-sesame', { httpOnly: true, sameSite: 'strict' });
  ctx.body = '<iframe src="/ops/inspect" title="Inspector" width="1200" height="800"></iframe>';
});
const server = app.listen(Number(process.argv[2] ?? 0), '127.0.0.1');
server.on('upgrade', inspector.upgrade);
await once(server, 'listening');
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/ops/inspect`);

process.once('SIGTERM', () => {
  inspector.close();
  server.close();
  server.closeAllConnections();
  void supervisor.stop();
});
