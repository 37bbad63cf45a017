// Effects are what `setup({actors})` says that they are.
import { assign, emit, fromPromise, setup } from 'xstate';
import { createSupervisor, defineKind, memoryStore, type Effect } from 'troupe';
import { writeRow, type WriteRow } from 'troupe/machines';

interface Probe {
  readonly status: number;
}
const machine = setup({
  types: {
    context: {} as { url: string; status: number | null },
    input: {} as { url: string },
    events: {} as { type: 'retry'; after: number },
    emitted: {} as WriteRow<'probes', Probe>,
  },
  actors: {
    probe: fromPromise<Probe, { url: string }>(() => Promise.reject(new Error('an effect answers'))),
  },
}).createMachine({
  context: ({ input }) => ({ url: input.url, status: null }),
  initial: 'probing',
  states: {
    probing: {
      invoke: {
        src: 'probe',
        input: ({ context }) => ({ url: context.url }),
        onDone: {
          target: 'known',
          actions: [
            assign({ status: ({ event }) => event.output.status }),
            emit(({ event }) => writeRow('probes', 1, event.output)),
          ],
        },
        onError: 'unknown',
      },
    },
    known: {},
    unknown: {},
  },
});
const good: Effect<{ url: string }, Probe> = {
  guarantee: 'at-least-once',
  run: async ({ url }) => ({ status: url.length }),
};
const common = { kind: 'probe', version: 1, machine } as const;
const probe = defineKind({
  ...common,
  effects: {
    probe: {
      guarantee: 'at-least-once',
      run: async ({ url }, { rows, send }) => {
        const earlier = await rows('probes', { last: 1, where: ({ status }) => status > 0 });
        if (url === '') {
          await send({ type: 'retry', after: 1 });
          // @ts-expect-error no such collection of this machine
          await rows('probs');
          // @ts-expect-error a row has no such member
          await rows('probes', { where: ({ staus }) => staus > 0 });
          // @ts-expect-error no such event of this machine
          await send({ type: 'retri', after: 1 });
          // @ts-expect-error wrong payload
          await send({ type: 'retry', after: 'soon' });
        }
        return { status: earlier[0]?.status ?? url.length };
      },
    },
  },
  view: ({ context }) => ({ status: context.status }),
});
defineKind({ ...common, effects: { probe: good }, view: () => null });
const supervisor = await createSupervisor({ kinds: [probe], store: memoryStore() });
await supervisor.spawn('probe', { id: 'p', input: { url: 'http://127.0.0.1:1' } });
for (const { row } of await supervisor.rows({ kind: 'probe', id: 'p' }, 'probes')) {
  const status: number = row.status;
  console.log(status);
}

defineKind({
  ...common,
  // @ts-expect-error the effect answers something else
  effects: { probe: { guarantee: 'at-least-once', run: async () => ({ sttus: 'x' }) } },
  view: () => null,
});
// @ts-expect-error the effect is missing
attempt(() => defineKind({ ...common, view: () => null }));
// @ts-expect-error the effect is misspelt
attempt(() => defineKind({ ...common, effects: { prob: good }, view: () => null }));
// @ts-expect-error one more than the machine has
defineKind({ ...common, effects: { probe: good, other: good }, view: () => null });
const unrecoverable = { guarantee: 'at-most-once', run: good.run } as const;
// @ts-expect-error at most once needs recover()
attempt(() => defineKind({ ...common, effects: { probe: unrecoverable }, view: () => null }));
const row = { kind: 'probe', id: 'p' } as const;
// @ts-expect-error no such collection
void supervisor.rows(row, 'probe');
// @ts-expect-error a Date is no JSON
writeRow('probes', 1, new Date());
await supervisor.stop();

/** What is wrong at run time, too, throws there. */
function attempt(define: () => unknown): void {
  try {
    define();
  } catch (error) {
    console.log((error as Error).name);
  }
}
