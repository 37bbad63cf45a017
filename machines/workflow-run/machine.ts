import { enqueueActions, setup } from 'xstate';
import type { Patterns } from '../graph/conditions.js';
import { linearPatterns } from '../graph/patterns.js';
import { effect, stampOf, type Wish } from '../ground.js';
import { firstContext, type EvidenceCall, type EvidenceResult, type RetryReason, type RunContext, type RunEvent, type RunInput, type RunStatus, type StepCall, type StepResult } from './context.js';
import { born, hearCall, take } from './events.js';
import type { Pass } from './pass.js';
import { runPolicy } from './policy.js';
import { tellEnded, tellParked } from './reports.js';

/**
 * A run of a workflow: a definition's version, carried out once.
 *
 * **What lives.** The graph's skeleton, frozen at birth; one spot per node of the present round; which ways were taken.
 * Everything that grows (receipts, inputs, outcomes, reports) is rows. What a condition needs to know is decided when it
 * becomes known, so that no outcome need be remembered for it.
 *
 * **What can happen.** An event settles something, and in the same commit everything that became ready begins: steps
 * (effects that act, or open sessions and child runs that tell when they are done), gates (`parked` until somebody comes),
 * waits, loops. Nothing is swept, nothing polls. When nothing is under way any more, the run has `completed`.
 *
 * **What can never happen.** An attempt that counts twice: each is known by node, round and attempt, and what comes for
 * another one is dropped. A node that begins before its ways are decided, or twice in a round. A run that ends while
 * something of it still works: whatever is under way is left or stopped in the commit that ends it. A run that ended
 * and begins again. A loop beyond its ceiling.
 */
export function runMachine(patterns: Patterns = linearPatterns) {
  const run = setup({
    types: {} as { context: RunContext; events: RunEvent; input: RunInput; emitted: Wish },
    actors: {
      /** Keyed: an action that may be done again under its key, or the opening of the session or child run that does the step. */
      'workflow-step': effect<StepResult, StepCall>(),
      /** Fenced: an action at a far side that knows no key of ours. */
      'workflow-act': effect<StepResult, StepCall>(),
      /** Keyed: writes the evidence; once the run has ended, also says what it gives back and lets the next one in. */
      'workflow-evidence': effect<EvidenceResult, EvidenceCall>(),
    },
    guards: {
      allowed: ({ context, event }) => runPolicy(context, event) === undefined,
      is: ({ context }, { status }: { status: RunStatus }) => context.status === status,
    },
    actions: {
      born: enqueueActions(({ context, enqueue }, input: RunInput) => perform(enqueue, born(context, input, patterns), context)),
      take: enqueueActions(({ context, event, enqueue }) => perform(enqueue, take(context, event, patterns), context)),
      hear: enqueueActions(({ context, event, enqueue }) => perform(enqueue, hearCall(context, event, said(event), patterns), context)),
      tellParked: enqueueActions(({ context, enqueue }) => tellAll(enqueue, tellParked(context, context.updatedAt))), // it may be born parked, and the event of birth has no stamp
      tellEnded: enqueueActions(({ context, event, enqueue }) => tellAll(enqueue, tellEnded(context, stampOf(event).at, kept(event)))),
    },
  });
  const gone = (status: RunStatus) => ({ guard: { type: 'is' as const, params: { status } }, target: status });
  const keeping = {
    id: 'evidence' as const, src: 'workflow-evidence' as const,
    input: ({ context }: { context: RunContext }): EvidenceCall => ({ runId: context.id, workflowId: context.workflowId, definitionVersion: context.definitionVersion, status: context.status }),
  };
  const ended = { invoke: { ...keeping, onDone: { actions: 'tellEnded' as const }, onError: { actions: 'tellEnded' as const } } };
  const over = [gone('completed'), gone('failed'), gone('cancelled')];
  const taken = { guard: 'allowed' as const, actions: 'take' as const };
  return run.createMachine({
    id: 'workflow-run',
    context: ({ input }) => firstContext(input),
    entry: { type: 'born', params: ({ event }) => (event as unknown as { input: RunInput }).input }, // entry of the root runs on XState's init event, which its types do not show
    initial: 'running',
    on: {
      'run.admit': taken, 'run.continue': taken, 'run.cancel': taken,
      'step.ended': taken, 'step.submitted': taken, 'step.edit': taken, 'step.timeout': taken, 'step.retry': taken, 'wait.over': taken,
      'gate.resolve': taken, 'gate.escalate': taken, 'gate.overdue': taken, 'gate.unanswered': taken,
      'xstate.done.actor.*': { actions: 'hear' },
      'xstate.error.actor.*': { actions: 'hear' },
    } as never, // the last two are XState's own events with names made at run time; its types list only events of ours
    states: {
      running: { always: [...over, gone('parked')] },
      parked: { entry: 'tellParked', invoke: { ...keeping, onDone: {}, onError: {} }, always: [...over, gone('running')] },
      completed: ended,
      failed: ended,
      cancelled: ended,
    },
  });
}

/** The machine as it runs; tests may give it other patterns. */
export const workflowRunMachine = runMachine();

/** XState's `enqueue`, as far as it is used here. */
interface Doer {
  assign(set: Partial<RunContext>): void;
  emit(wish: Wish): void;
  spawnChild(src: 'workflow-step' | 'workflow-act', options: { id: string; input: StepCall }): void;
  stopChild(id: string): void;
  raise(event: never, options: { id: string; delay: number }): void;
  cancel(id: string): void;
}

function perform(enqueue: Doer, pass: Pass, before: RunContext): void {
  enqueue.assign(pass.finish(before));
  for (const wish of pass.wishes) enqueue.emit(wish);
  for (const id of pass.stops) enqueue.stopChild(id);
  for (const id of pass.cancels) enqueue.cancel(id);
  for (const { src, id, input } of pass.starts) enqueue.spawnChild(src, { id, input });
  for (const { id, event, delayMs } of pass.timers) enqueue.raise(event as never, { id, delay: delayMs }); // the kernel stamps it when it fires
}

function tellAll(enqueue: Doer, { set, wishes }: { readonly set: Partial<RunContext>; readonly wishes: readonly Wish[] }): void {
  enqueue.assign(set);
  for (const wish of wishes) enqueue.emit(wish);
}

/** The result of a step's hand; a hand that broke is an attempt that failed. */
function said(event: { readonly type: string }): StepResult {
  if (event.type.startsWith('xstate.done.')) return (event as unknown as { output: StepResult }).output;
  const { message, code } = (event as unknown as { error: { message?: string; code?: string } }).error;
  const reason: RetryReason = code === 'TIMEOUT' ? 'timeout' : code === 'INTERRUPTED' ? 'interrupted' : 'error';
  return { state: 'failed', reason, message: message ?? 'The step failed without a reason.' };
}

function kept(event: { readonly type: string }): EvidenceResult {
  if (event.type.startsWith('xstate.done.')) return (event as unknown as { output: EvidenceResult }).output;
  return { evidence: 'failed', reason: (event as unknown as { error: { message?: string } }).error.message ?? 'The evidence could not be written.' };
}
