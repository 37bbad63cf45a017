// An engine of a host's own, and the agents that it answers for.
import { tmpdir } from 'node:os';
import { createSupervisor, isRefusal, memoryStore } from 'troupe';
import { createAgents, defineEngine } from 'troupe/agents';

const discover = async () => ({ available: true, defaultModel: null, models: [] });
const echo = defineEngine({
  name: 'echo',
  effortMechanism: 'none',
  discover,
  turn: async (request, io) => {
    io.report({ type: 'text', text: request.prompt });
    return { outcome: 'succeeded', text: request.prompt };
  },
});
defineEngine({
  name: 'bad',
  effortMechanism: 'none',
  discover,
  // @ts-expect-error the outcome is misspelt
  turn: async () => ({ outcome: 'succeded', text: '' }),
});
const agents = createAgents({ engines: [echo], workFolder: tmpdir() });
const supervisor = await createSupervisor({ kinds: agents.kinds, store: memoryStore() });
const session = await supervisor.spawn('session', { input: await agents.session({ prompt: 'Hello?' }) });
if (isRefusal(session)) throw new Error(session.message);
const status: string = session.view.status;
const turns: number = session.view.totalTurns;
await supervisor.ask('session', session.id, {
  type: 'message.post',
  message: { id: 'm1', role: 'user', kind: 'user', content: 'And now?' },
});
for (const { row } of await supervisor.rows({ kind: 'session', id: session.id }, 'messages')) {
  const said: string = row.content;
  console.log(row.role, said.length);
}
console.log(status, turns);

const key = { kind: 'session', id: session.id } as const;
// @ts-expect-error a collection that does not exist
void supervisor.rows(key, 'mesages');
// @ts-expect-error a message has words
const empty: Message = { id: 'm2', role: 'user', kind: 'user' };
// @ts-expect-error a role that no one has
void supervisor.ask('session', key.id, { type: 'message.post', message: { ...empty, role: 'usr' } });
// @ts-expect-error a session needs an engine, a folder …
void supervisor.spawn('session', { input: { title: 'x' } });
// @ts-expect-error these agents run no workflows
void supervisor.get('workflow-run', 'r1');
await supervisor.stop();

type Message = Extract<Parameters<typeof supervisor.ask<'session'>>[2], { type: 'message.post' }>['message'];
