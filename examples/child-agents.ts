/**
 * A machine of your own with two durable agents as its children: a writer and a critic work at the same time.
 * The writer's program fails at its first try; its supervisor (this machine) asks it once more, and no more
 * than once.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assign, createActor, sendTo, setup, toPromise } from 'xstate';
import { asActor, createSupervisor, memoryStore } from 'troupe';
import { commandEngine, createAgents } from 'troupe/agents';

const folder = await mkdtemp(join(tmpdir(), 'troupe-example-'));

// Any program is an engine: the prompt on stdin, the answer on stdout. This one fails while its mark is missing.
const moody =
  'if [ -e ../mark ]; then echo "a poem about $(tail -n 1)"; else touch ../mark; echo "no muse" >&2; exit 1; fi';
const agents = createAgents({
  workFolder: folder,
  engines: [
    commandEngine({ name: 'poet', command: ['sh', '-c', moody] }),
    commandEngine({ name: 'critic', command: ['sh', '-c', 'echo "I expect $(cat)"'] }),
  ],
});
const supervisor = await createSupervisor({ kinds: agents.kinds, store: memoryStore() });

// A session is never at its end: as a child it is done when it rests after its turn.
const agent = asActor(supervisor, 'session', { done: ({ status }) => status === 'idle' });
const poem = await agents.session({ engine: 'poet', prompt: 'the sea' });
const view = await agents.session({ engine: 'critic', prompt: 'much of it' });
const content = 'the sea, once more';
const again = { type: 'message.post', message: { id: 'm2', role: 'user', kind: 'user', content } } as const;

const duet = setup({ types: { context: {} as { restarts: number } }, actors: { agent } }).createMachine({
  context: { restarts: 0 },
  type: 'parallel',
  states: {
    writer: {
      initial: 'working',
      states: {
        working: {
          // The id makes the child durable: a program that starts again with the same store finds the same agent.
          invoke: {
            id: 'writer',
            src: 'agent',
            input: { id: 'writer', input: poem },
            onDone: 'done',
            onSnapshot: [
              { guard: ({ event }) => event.snapshot.view?.status !== 'error' },
              { guard: ({ event }) => (event.snapshot.view?.totalTurns ?? 0) > 1, target: 'gaveUp' },
              {
                guard: ({ context }) => context.restarts === 0,
                actions: [assign({ restarts: 1 }), sendTo('writer', again)],
              },
            ],
          },
        },
        done: { type: 'final' },
        gaveUp: { type: 'final' },
      },
    },
    critic: {
      invoke: { src: 'agent', input: { id: 'critic', input: view }, onDone: '.done' },
      initial: 'working',
      states: { working: {}, done: { type: 'final' } },
    },
  },
});

const actor = createActor(duet).start();
await toPromise(actor);
const { value, context } = actor.getSnapshot();
console.log('ended as', JSON.stringify(value), 'after', context.restarts, 'restart');
for (const id of ['writer', 'critic'])
  for (const { row } of await supervisor.rows({ kind: 'session', id }, 'messages'))
    console.log(`${id} ${row.role}: ${row.content.trim()}`);

await supervisor.stop();
await rm(folder, { recursive: true });
