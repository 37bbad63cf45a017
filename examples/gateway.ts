/**
 * A gateway inside a program of your own, and a client of it: open a session, wait until it rests, read the
 * conversation. (`/ws` tells of the end without asking.)
 *
 *     node gateway.js /var/lib/my-agents
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startInstance } from 'troupe/gateway';

const home = process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'troupe-example-')));
const gateway = await startInstance({ home, port: 0 });

// Any program on this machine may find the gateway like this; the file is readable by its owner only.
const { url, token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as {
  url: string;
  token: string;
};
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${String(answer['error'])}`);
  return answer;
};

// The clerk needs no model: it understands a handful of instructions and does them through this very API.
const session = await call('POST', '/api/sessions', {
  prompt: 'add "buy milk"\nadd "water the plants"\nlist',
});
console.log('opened', session['status']);

type Message = { role: string; content: string };
type Session = { status: string; messages: Message[] };
const read = async (): Promise<Session> =>
  (await call('GET', `/api/sessions/${String(session['id'])}`)) as Session;
let now = await read();
for (; now.status === 'running'; now = await read()) await pause(100);
for (const { role, content } of now.messages) console.log(`${role}: ${content}`);

await gateway.close();
if (process.argv[2] === undefined) await rm(home, { recursive: true });
