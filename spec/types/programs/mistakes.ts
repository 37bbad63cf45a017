// What people get wrong in their first hour: forgotten awaits, unchecked refusals, parts of a kind.
import { setup } from 'xstate';
import { createSupervisor, defineKind, isRefusal, memoryStore, refuse } from 'troupe';
import { createClient } from 'troupe/client';
import { startInstance } from 'troupe/gateway';
import { levelStore } from 'troupe/level';

const machine = setup({
  types: { context: {} as { total: number }, events: {} as { type: 'add'; n: number } },
}).createMachine({ context: { total: 0 }, on: { add: {} } });
const common = { kind: 'counter', version: 1, machine } as const;
const counter = defineKind({ ...common, view: ({ context }) => context.total });
const kinds = [counter] as const;
const store = memoryStore();
const supervisor = await createSupervisor({ kinds, store });
const client = createClient({ url: 'http://127.0.0.1:1' });

// @ts-expect-error the store is still being opened
void createSupervisor({ kinds, store: levelStore({ directory: 'data' }) });
// @ts-expect-error kinds are a list
void createSupervisor({ kinds: counter, store });
// @ts-expect-error no store
void createSupervisor({ kinds });
const answer = await supervisor.ask('counter', 'c', { type: 'add', n: 1 });
// @ts-expect-error it may be a refusal
console.log(answer.view);
const promised = supervisor.ask('counter', 'c', { type: 'add', n: 1 });
// @ts-expect-error a forgotten await
if (!isRefusal(promised)) console.log(promised.view);
// @ts-expect-error versions are numbers
defineKind({ ...common, version: '1', view: () => 1 });
// @ts-expect-error no machine
attempt(() => defineKind({ kind: 'counter', version: 1, view: () => 1 }));
// @ts-expect-error a policy answers nothing or a refusal
defineKind({ ...common, view: () => 1, policy: () => true });
// @ts-expect-error a policy cannot wait
defineKind({ ...common, view: () => 1, policy: async () => refuse('FORBIDDEN') });
// @ts-expect-error a misspelt member
defineKind({ ...common, view: () => 1, polcy: () => undefined });
// @ts-expect-error a transaction cannot wait
void supervisor.transact({ name: 'wrong', actors: [], run: async () => 1 });
// @ts-expect-error a caller is more than a name
void supervisor.ask('counter', 'c', { type: 'add', n: 1 }, { by: 'ann' });
// @ts-expect-error no such path, but some like it
void client.get('/api/session');
// @ts-expect-error no such path at all
void client.get('/status');
// @ts-expect-error a path of another method
void client.post('/api/status');
// @ts-expect-error a path without its parameters
void client.get('/api/sessions/{id}');
// @ts-expect-error a misspelt member of a body
void client.post('/api/work-items', { body: { titel: 'x' } });
const run = await client.sessions.run('list');
// @ts-expect-error a run may be refused
for await (const delta of run) console.log(delta);
// @ts-expect-error positions are numbers
client.events({ since: '7' }).close();
// @ts-expect-error a view is stored: a date would come out as a string
defineKind({ ...common, view: () => new Date() });
// @ts-expect-error a map would come out empty
defineKind({ ...common, view: () => new Map([['total', 1]]) });
// @ts-expect-error a date within
defineKind({ ...common, view: ({ context }) => ({ ...context, at: new Date() }) });
// @ts-expect-error a function within
defineKind({ ...common, view: () => ({ total: () => 1 }) });
// @ts-expect-error JSON has no such numbers
defineKind({ ...common, view: () => 10n });
// @ts-expect-error a view cannot wait
defineKind({ ...common, view: async () => 1 });
// @ts-expect-error a forgotten return
defineKind({ ...common, view: ({ context }) => void context.total });
// @ts-expect-error the members of an input, not an id alone
void supervisor.spawn('counter', 'c');
// @ts-expect-error an id is a string
void supervisor.ask('counter', { id: 'c' }, { type: 'add', n: 1 });
// @ts-expect-error an event is an object
void supervisor.ask('counter', 'c', 'add');
// @ts-expect-error a misspelt setting
void supervisor.ask('counter', 'c', { type: 'add', n: 1 }, { timeout: 5 });
// @ts-expect-error a machine is no kind
void createSupervisor({ kinds: [machine], store });
// @ts-expect-error a port is a number
void startInstance({ home: 'home', port: '7420' });
// @ts-expect-error the store has settings
void levelStore('data');
// @ts-expect-error the log goes on: for await
for (const entry of supervisor.watch()) console.log(entry);
// @ts-expect-error a kind that never stands in the log
for await (const entry of supervisor.watch()) console.log(entry.kind === 'countr');
// @ts-expect-error the log of a kind that is not there
for await (const entry of supervisor.watch({ kinds: ['countr'] })) console.log(entry);
// @ts-expect-error one kind is no list
for await (const entry of supervisor.watch({ kinds: 'counter' })) console.log(entry);
// @ts-expect-error a history of an unknown kind
void supervisor.history({ kind: 'countr', id: 'c' });
// @ts-expect-error an actor of an unknown kind
void supervisor.resume({ kind: 'countr', id: 'c' }, { type: 'operator' });
// @ts-expect-error an index is a list of rows
defineKind({ ...common, view: () => 1, index: () => ({ index: 'all', key: 'k' }) });
// @ts-expect-error keys of lists are texts
defineKind({ ...common, view: () => 1, index: ({ context }) => [{ index: 'all', key: context.total }] });
// @ts-expect-error totals are names
defineKind({ ...common, view: () => 1, totals: ({ context }) => ({ total: context.total }) });
// @ts-expect-error migrations go from stored to stored
defineKind({ ...common, view: () => 1, migrate: { 1: (old: object) => old } });
// @ts-expect-error an actor may be absent
console.log((await supervisor.get('counter', 'c')).view);
// @ts-expect-error milliseconds have a name
void supervisor.stop(1000);
// @ts-expect-error a list has a name
void supervisor.list('counter');
// @ts-expect-error a prompt is a text
void client.sessions.run({ prompt: 'list' });
// @ts-expect-error kinds of a client are a list, too
client.events({ kinds: 'session' }).close();
// @ts-expect-error engines are a list
void startInstance({ home: 'home', engines: { mine: {} } });
// @ts-expect-error a draft creates by kind, id and input
void supervisor.transact({ name: 'x', actors: [], run: (tx) => tx.create('counter', { id: 'c' }).id });
await supervisor.stop();

/** What is wrong at run time, too, throws there. */
function attempt(define: () => unknown): void {
  try {
    define();
  } catch (error) {
    console.log((error as Error).name);
  }
}
