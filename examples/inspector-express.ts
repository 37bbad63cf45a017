/**
 * The live inspector in an Express application.
 *
 *     node inspector-express.js 3000      # http://127.0.0.1:3000/ signs you in, and leads to the inspector
 */
import express from 'express';
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

/** Here a cookie that the first page sets: a browser sends it with the live feed, and no header of a page's own. */
const isSignedIn = (request: IncomingMessage): boolean =>
  /(?:^|; )key=open-sesame(?:;|$)/.test(request.headers.cookie ?? '');

const inspector = mountInspector(supervisor, { prefix: '/admin/inspect', authorize: isSignedIn });
const app = express();
app.use('/admin', inspector.handler); // before express.json()
app.use(express.json());
app.get('/', (_request, response) => {
  response.cookie('key', 'open-sesame', { httpOnly: true, sameSite: 'strict' });
  response.send('<a href="/admin/inspect">Inspect</a>');
});
const server = app.listen(Number(process.argv[2] ?? 0), '127.0.0.1');
server.on('upgrade', inspector.upgrade);
await once(server, 'listening');
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/inspect`);

process.once('SIGTERM', () => {
  inspector.close();
  server.close();
  server.closeAllConnections();
  void supervisor.stop();
});
