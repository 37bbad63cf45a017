/**
 * A gateway inside a program of your own, and a client of it: give an agent a task, stream its answer, read the
 * conversation.
 *
 *     node gateway.js /var/lib/my-agents
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, isRefusal } from 'troupe/client';
import { startInstance } from 'troupe/gateway';

const home = process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'troupe-example-')));
const gateway = await startInstance({ home, port: 0 });

// Any program on this machine may find the gateway like this; the file is readable by its owner only.
const { url, token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as {
  url: string;
  token: string;
};
const client = createClient({ url, token });

// The clerk needs no model: it understands a handful of instructions and does them through this very API.
const run = await client.sessions.run('add "buy milk"\nadd "water the plants"\nlist');
if (isRefusal(run)) throw new Error(run.message);
for await (const { type, content } of run) if (type === 'text') process.stdout.write(content);
const { status } = await run.answer();
console.log(`\nended ${status}`);

const session = await client.get('/api/sessions/{id}', { params: { path: { id: run.sessionId } } });
if (isRefusal(session)) throw new Error(session.message);
for (const { role, content } of session.messages ?? []) console.log(`${role}: ${content}`);

await gateway.close();
if (process.argv[2] === undefined) await rm(home, { recursive: true });
