/**
 * The live inspector inside a server of your own, with nothing but Node: no gateway, no home, no token. Who may look
 * is judged by your application.
 *
 *     node inspector-http.js 3000      # http://127.0.0.1:3000/ signs you in, and leads to the inspector
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
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

/** Here a cookie that the first page sets; in your application its session. */
const isSignedIn = (request: IncomingMessage): boolean =>
  /(?:^|; )key=open-sesame(?:;|$)/.test(request.headers.cookie ?? '');

const inspector = mountInspector(supervisor, { authorize: isSignedIn });
const server = createServer((request, response) =>
  inspector.handler(request, response, () => {
    response.setHeader('set-cookie', 'key=open-sesame; HttpOnly; SameSite=Strict');
    response.setHeader('content-type', 'text/html').end('<a href="/inspect">Inspect</a>');
  }),
);
server.on('upgrade', inspector.upgrade);
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1');
await once(server, 'listening');
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

process.once('SIGTERM', () => {
  inspector.close();
  server.close();
  server.closeAllConnections();
  void supervisor.stop();
});
