// A handle, and a durable actor as a child of a host's own machine.
import { setup } from 'xstate';
import { asActor, createSupervisor, defineKind, isRefusal, memoryStore } from 'troupe';

const machine = setup({
  types: { context: {} as { n: number }, events: {} as { type: 'go' } },
}).createMachine({
  context: { n: 0 },
  initial: 'a',
  states: { a: { on: { go: 'b' } }, b: { type: 'final' } },
});
const walk = defineKind({
  kind: 'walk',
  version: 1,
  machine,
  view: (snapshot) => ({ at: snapshot.value, n: snapshot.context.n }),
});
const supervisor = await createSupervisor({ kinds: [walk], store: memoryStore() });
await supervisor.spawn('walk', { id: 'w1' });
const handle = supervisor.handle('walk', 'w1');
const found = await handle.wake();
if (isRefusal(found)) throw new Error(found.message);
const state: 'a' | 'b' = found.value;
const still: 'a' | 'b' | undefined = handle.getSnapshot()?.value;
handle.subscribe((snapshot) => {
  const n: number = snapshot.context.n;
  console.log(n);
});
// @ts-expect-error unknown event
void handle.ask({ type: 'gooo' });

const child = asActor(supervisor, 'walk', { done: (view) => view.at === 'b', output: (view) => view.n });
const host = setup({ actors: { child } }).createMachine({
  invoke: {
    src: 'child',
    input: { id: 'w2' },
    onDone: {
      actions: ({ event }) => {
        const n: number = event.output;
        // @ts-expect-error the output is a number
        const text: string = event.output;
        console.log(n, text);
      },
    },
  },
});
// @ts-expect-error no such kind
asActor(supervisor, 'wlak');
// @ts-expect-error the view has no such member
asActor(supervisor, 'walk', { done: (view) => view.att === 'b' });
console.log(state, still, host.id);
await supervisor.stop();
