import { expect } from 'chai';
import fc from 'fast-check';
import { setup, transition } from 'xstate';
import { delayedEvent, stepNested, type NestedAction } from '../../machines/nested.js';
import { firstContext, type RunInput } from '../../machines/workflow-run/context.js';
import { compile } from '../../machines/workflow-run/compile.js';
import type { StepContext } from '../../machines/workflow-run/step-context.js';
import { nestedStep, stepMachine } from '../../machines/workflow-run/step-machine.js';
import { operator } from '../../machines/caller.js';
import { definitionOf, noop, runInput, step } from '../fixtures/workflow.js';

/**
 * A nested machine is stepped from its chart, without XState: this holds each of its steps against XState's
 * own, so that no one need trust the reading of the chart.
 */
const gates = [
  { kind: 'approval', approvalRef: 'x', description: 'May it?' },
  { kind: 'flag', flag: 'ready', timeoutMinutes: 1 },
];
const flow = definitionOf({
  nodes: [
    step('plain'),
    step('again', { options: { retry: { maxAttempts: 3, on: ['error', 'timeout'] } } }),
    step('later', { options: { retry: { maxAttempts: 3, on: ['error', 'interrupted'], delayMs: 1_000 } } }),
    step('fenced', { method: 'POST', options: { retry: { maxAttempts: 3, on: ['error'] } } }),
    step('optional', { optional: true, gates }),
    noop('noop'),
    { id: 'wait', type: 'wait', waitMinutes: 1 },
    { id: 'gate', type: 'gate', gate: gates[0] },
    { id: 'switch', type: 'switch' },
    { id: 'no', type: 'fail', failMessage: 'No.' },
  ],
  edges: [
    ...['plain', 'again', 'later', 'fenced', 'optional', 'noop', 'wait', 'gate', 'switch'].map(
      (to, n, all) => ({
        id: `e${n}`,
        from: n === 0 ? 'trigger' : (all[n - 1] as string),
        to,
      }),
    ),
    { id: 'last', from: 'switch', to: 'no' },
  ].filter(({ from }) => from !== 'trigger'),
});
const graph = compile(flow);
const run = firstContext({
  ...(runInput(flow) as object),
  id: 'r',
  at: 1_000,
  by: operator,
} as unknown as RunInput);

const worker = { kind: 'session', id: 's' } as const;
const said = (output: object) => ({ type: 'xstate.done.actor.work', output, actorId: 'work' });
const events = [
  { type: 'step.begin' },
  { type: 'step.skip' },
  { type: 'step.cancel', why: 'over' },
  { type: 'step.ended', outcome: 'succeeded', text: 'done', worker, costUsd: 1 },
  { type: 'step.ended', outcome: 'interrupted', text: '', worker },
  { type: 'step.submitted', outcome: { fields: { n: 1 } } },
  { type: 'gate.open', detail: 'yes' },
  { type: 'gate.reject', detail: 'no' },
  { type: 'gate.escalate' },
  said({ state: 'opened', worker, input: { a: 1 } }),
  said({ state: 'done', outcome: { summary: 'good' }, costUsd: 2 }),
  said({ state: 'failed', reason: 'error', message: 'bad' }),
  said({ state: 'unfit', message: 'n is required' }),
  { type: 'xstate.error.actor.work', error: { message: 'broke', code: 'TIMEOUT' }, actorId: 'work' },
  ...['timeout', 'retry', 'wait', 'gate', 'answer'].map((delay) => ({
    type: delayedEvent(nestedStep, delay),
  })),
];

/** XState's actions in the words of a nested step; of what it stops it says nothing where nothing runs. */
function inOurWords(
  actions: readonly { readonly type: string; readonly params?: unknown }[],
): NestedAction[] {
  return actions.flatMap(({ type, params }): NestedAction[] => {
    const given = (params ?? {}) as Record<string, unknown>;
    const name = (id: unknown) => String(id).split('.')[2] as string;
    if (type === 'xstate.spawnChild')
      return [{ type: 'start', src: String(given['src']), input: given['input'] }];
    if (type === 'xstate.stopChild') return [{ type: 'stop' }];
    if (type === 'xstate.cancel') return [{ type: 'cancel', name: name(given['sendId']) }];
    if (type === 'xstate.raise')
      return given['delay'] === undefined
        ? []
        : [{ type: 'timer', name: name(given['id']), delayMs: Number(given['delay']) }];
    throw new Error(`unexpected ${type}`);
  });
}

const valueOf = (state: string) => {
  const [outer = '', inner] = state.split('.');
  return inner === undefined ? outer : { [outer]: inner };
};
const sorted = (actions: readonly NestedAction[]) => actions.map((action) => JSON.stringify(action)).sort();

describe('a nested machine', () => {
  it('steps as XState would, whatever is sent to whichever node in whatever state', () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(
        fc.constantFrom(...graph.nodes.keys()),
        fc.array(fc.constantFrom(...events), { minLength: 1, maxLength: 12 }),
        (place, sent) => {
          const node = graph.nodes[place];
          if (node === undefined) return;
          let state = 'ready';
          let context: StepContext = {
            run,
            node,
            place,
            at: 2_000,
            facts: null,
            step: { round: 1, attempt: 0, row: 0, at: 2_000 },
            receipts: 1,
            costUsd: 0,
            end: null,
            outputs: [],
          };
          for (const event of [{ type: 'step.begin' }, ...sent]) {
            if (stepMachine.resolveState({ value: valueOf(state), context }).status !== 'active') return;
            const [next, actions] = transition(
              stepMachine,
              stepMachine.resolveState({ value: valueOf(state), context }),
              event as never,
            );
            const ours = stepNested(nestedStep, { state, context }, event);
            const where = `${node.id} ${state} ${JSON.stringify(event)}`;
            expect(valueOf(ours?.state ?? state), where).to.deep.equal(next.value);
            expect(ours?.context ?? context, where).to.deep.equal(next.context);
            expect(sorted(ours?.actions ?? []), where).to.deep.equal(sorted(inOurWords(actions)));
            met.add(`${state} ${event.type}`);
            state = ours?.state ?? state;
            context = ours?.context ?? context;
          }
        },
      ),
      { numRuns: 400 },
    );
    expect(met.size).to.be.greaterThan(80);
  });

  it('refuses what it does not know how to read', () => {
    const machine = setup({ actions: { known: () => undefined } }).createMachine({
      initial: 'a',
      states: { a: { on: { go: { target: 'b', guard: () => true } } }, b: {} },
    });
    const context: { outputs: readonly unknown[] } = { outputs: [] };
    expect(() =>
      stepNested(
        { machine: machine as never, guards: {}, delays: {}, decisions: {} },
        { state: 'a', context },
        { type: 'go' },
      ),
    ).to.throw('a nested machine has no');
  });
});
