import { assign, enqueueActions, not, setup } from 'xstate';
import type { Patterns } from '../graph/conditions.js';
import { linearPatterns } from '../graph/patterns.js';
import { publish, effect, stampOf, applyDecision, type Output } from '../outputs.js';
import type { Advance } from './advance.js';
import {
  firstContext,
  type EvidenceCall,
  type EvidenceResult,
  type RunContext,
  type RunEvent,
  type RunInput,
  type RunStatus,
  type StepCall,
  type StepResult,
} from './context.js';
import { begin, create, hearCall, take } from './events.js';
import { isAtRest, isParked } from './frontier.js';
import { hasGate, isPending, isUnderWay } from './policy.js';
import { reportEnded, reportParked } from './reports.js';

/**
 * A run of a workflow: a definition's version, carried out once.
 *
 * **What lives.** The graph's skeleton, frozen at the start; one step per node of the present round, each the
 * state of a machine of its own (step-machine.ts); which edges were taken. Everything that grows (receipts,
 * inputs, outcomes, reports) is rows. What a condition needs to know is decided when it becomes known, so
 * that no outcome need be remembered for it.
 *
 * **What can happen.** An event is handed to its step. When the step ends, the frontier (frontier.ts, pure)
 * says what has become ready, and in the same commit that begins: steps with effects that act, or that open
 * sessions and child runs that report when they are done; gates (`parked` until someone comes), waits,
 * loops. Nothing is swept, nothing polls. When nothing is under way any more, the run has `completed`. Who
 * may send an event is policy.ts; when, this chart.
 *
 * **What can never happen.** An attempt that counts twice: each is known by node, round and attempt, and what
 * comes for another one is dropped. A node that begins before its edges are decided, or twice in a round. A
 * run that ends while something of it still works: whatever is under way is left or stopped in the commit
 * that ends it. A run that ended and begins again. A loop beyond its ceiling.
 *
 * **Why steps are no actors of their own.** The end of a step and what follows from it are one commit, so that
 * at no moment a step has ended and its run has not heard of it. Measured for a step with an effect, ten to a
 * run: 1 commit, 10 rows and 5.2 kB where all steps lie in the run's record, some 70 bytes each; 2 commits one
 * after the other, 24 rows and 4.4 kB as child actors, and then the record of the run, which is written as
 * often, is not counted yet. Stepped from their chart (nested.ts) the steps cost 375 µs of CPU each, where the
 * functions that did it before cost 381 and XState's own `transition` 532 (32 runs at once on the memory store,
 * in turns on one busy machine).
 */
export function runMachine(patterns: Patterns = linearPatterns) {
  const run = setup({
    types: {} as { context: RunContext; events: RunEvent; input: RunInput; emitted: Output },
    actors: {
      /**
       * Keyed: an action that may be done again under its key, or the opening of the session or child run
       * that does the step.
       */
      'workflow-step': effect<StepResult, StepCall>(),
      /** Fenced: an action at a far side that knows no key of ours. */
      'workflow-act': effect<StepResult, StepCall>(),
      /**
       * Keyed: writes the evidence; once the run has ended, also says what it gives back and lets the next
       * one in.
       */
      'workflow-evidence': effect<EvidenceResult, EvidenceCall>(),
    },
    guards: {
      hasRoom: ({ event }) => inputOf(event) !== undefined && inputOf(event)?.queued !== true,
      hasFailed: ({ context }) => context.errors.length > 0,
      isDone: ({ context }) => !context.continuing && isAtRest(context.steps),
      isParked: ({ context }) => isParked(context.steps),
      hasGate: ({ context, event }) => hasGate(context, event),
      isPending: ({ context, event }) => isPending(context, event),
      isUnderWay: ({ context, event }) => isUnderWay(context, event),
    },
    actions: {
      create: enqueueActions(({ context, enqueue }, input: RunInput) =>
        carryOut(enqueue, create(context, input, patterns)),
      ),
      begin: enqueueActions(({ context, event, enqueue }) => {
        const input = inputOf(event);
        if (input !== undefined) carryOut(enqueue, begin(context, input, patterns));
      }),
      advance: enqueueActions(({ context, event, enqueue }) =>
        carryOut(enqueue, take(context, event, patterns)),
      ),
      hear: enqueueActions(({ context, event, enqueue }) =>
        carryOut(enqueue, hearCall(context, event, patterns)),
      ),
      announce: enqueueActions(({ context, enqueue }, { as }: { as: RunStatus | 'resumed' }) => {
        const { id: runId, workflowId, rounds } = context;
        const status = as === 'resumed' ? 'running' : as;
        enqueue.emit(publish(`run:${as}`, { runId, workflowId, status, rounds }));
        const change = { entity: 'workflow-run', action: status, id: runId, workflowId, runId };
        enqueue.emit(publish('company:changed', change));
      }),
      end: assign(({ context }) => ({ endedAt: context.updatedAt })),
      reportParked: enqueueActions(({ context, enqueue }) => applyDecision(enqueue, reportParked(context))),
      reportEnded: enqueueActions(({ context, event, enqueue }, { as }: { as: RunStatus }) =>
        applyDecision(enqueue, reportEnded(context, as, stampOf(event).at, keptBy(event))),
      ),
    },
  });

  const evidence = (status: RunStatus) => ({
    id: 'evidence' as const,
    src: 'workflow-evidence' as const,
    input: ({ context: { id, workflowId, definitionVersion } }: { context: RunContext }): EvidenceCall => ({
      runId: id,
      workflowId,
      definitionVersion,
      status,
    }),
  });
  const advance = { actions: 'advance' as const };
  const cancel = { target: 'cancelled' as const, actions: 'advance' as const };
  const edit = { guard: 'isPending' as const, actions: 'advance' as const };
  /** What reaches the steps of a run that is under way. */
  const steps = {
    'run.continue': advance,
    'run.cancel': cancel,
    'step.edit': edit,
    'step.ended': advance,
    'step.submitted': { guard: 'isUnderWay' as const, actions: 'advance' as const },
    'step.timeout': advance,
    'step.retry': advance,
    'wait.over': advance,
    'xstate.done.actor.*': { actions: 'hear' as const },
    'xstate.error.actor.*': { actions: 'hear' as const },
  };
  const ended = (as: 'completed' | 'failed' | 'cancelled') => {
    const report = { actions: { type: 'reportEnded' as const, params: { as } } };
    return {
      entry: ['end' as const, { type: 'announce' as const, params: { as } }],
      invoke: { ...evidence(as), onDone: report, onError: report },
      on: { 'run.cancel': {} }, // changes nothing, and is no error
    };
  };
  return run.createMachine({
    id: 'workflow-run',
    context: ({ input }) => firstContext(input),
    entry: { type: 'create', params: ({ event }) => inputOf(event) as RunInput },
    initial: 'queued',
    states: {
      queued: {
        always: [
          { guard: 'hasFailed', target: 'failed' },
          { guard: 'hasRoom', target: 'running', actions: 'begin' },
        ],
        on: {
          'run.admit': { target: 'running', actions: 'advance' },
          'run.cancel': cancel,
          'step.edit': edit,
        },
      },
      running: {
        always: [
          { guard: 'hasFailed', target: 'failed' },
          { guard: 'isDone', target: 'completed' },
          { guard: 'isParked', target: 'parked' },
        ],
        // The last two are XState's own events with names made at run time; its types list only events of
        // ours
        on: steps as never,
      },
      parked: {
        entry: [{ type: 'announce', params: { as: 'parked' } }, 'reportParked'],
        invoke: { ...evidence('parked'), onDone: {}, onError: {} },
        always: [
          { guard: 'hasFailed', target: 'failed' },
          { guard: 'isDone', target: 'completed' },
          {
            guard: not('isParked'),
            target: 'running',
            actions: { type: 'announce', params: { as: 'resumed' } },
          },
        ],
        on: {
          ...steps,
          'gate.resolve': { guard: 'hasGate', actions: 'advance' },
          'gate.escalate': { guard: 'hasGate', actions: 'advance' },
          'gate.overdue': advance,
          'gate.unanswered': advance,
        } as never,
      },
      completed: ended('completed'),
      failed: ended('failed'),
      cancelled: ended('cancelled'),
    },
  });
}

/**
 * The machine as it runs; tests may give it other patterns.
 * @example const chart = workflowRunMachine.root.states;
 */
export const workflowRunMachine = runMachine();

/** Root entry and the first choice run on XState's init event, which its types do not show. */
const inputOf = (event: { readonly type: string }): RunInput | undefined =>
  (event as { readonly input?: RunInput }).input;

/** XState's `enqueue`, as far as it is used here. */
interface Enqueue {
  assign(set: Partial<RunContext>): void;
  emit(output: Output): void;
  stopChild(id: string): void;
  spawnChild(src: 'workflow-step' | 'workflow-act', options: { id: string; input: StepCall }): void;
  raise(event: never, options: { id: string; delay: number }): void;
  cancel(id: string): void;
}

function carryOut(enqueue: Enqueue, advance: Advance): void {
  enqueue.assign(advance.finish());
  for (const output of advance.outputs) enqueue.emit(output);
  for (const request of advance.requests) {
    if (request.type === 'start') enqueue.spawnChild(request.src, { id: request.id, input: request.input });
    else if (request.type === 'stop') enqueue.stopChild(request.id);
    else if (request.type === 'cancel') enqueue.cancel(request.id);
    // The kernel stamps it when it fires
    else enqueue.raise(request.event as never, { id: request.id, delay: request.delayMs });
  }
}

function keptBy(event: { readonly type: string }): EvidenceResult {
  if (event.type.startsWith('xstate.done.'))
    return (event as { type: string; output: EvidenceResult }).output;
  const { message } = (event as { type: string; error: { message?: string } }).error;
  return { evidence: 'failed', reason: message ?? 'The evidence could not be written.' };
}
