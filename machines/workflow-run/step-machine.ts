import { assign, setup } from 'xstate';
import { effect, type Decision } from '../outputs.js';
import { closedGate, hideGate, leaveGate, park, rejectGate, escalate, openNode } from './step-gates.js';
import {
  beginAttempt,
  cancel,
  failAttempt,
  failureOf,
  finish,
  giveUp,
  noteOpened,
  noteWorker,
  pauseOf,
  remind,
  resultOf,
  stepCall,
  submit,
} from './step-attempts.js';
import { await_, endWait, passThrough, skip, waitOf } from './step-passages.js';
import type { StepContext, StepEvent } from './step-context.js';
import { gatesOf } from './graph.js';
import { limits } from './context.js';
import type { StepCall, StepResult } from './step-run.js';

interface Given {
  readonly context: StepContext;
  readonly event: StepEvent;
}

/** How long a state waits, milliseconds; `Infinity`: until something else happens. */
const delays = {
  timeout: ({ context: { node } }: Pick<Given, 'context'>) =>
    node.kind === 'step' ? node.rules.timeoutMs : Infinity,
  retry: ({ context }: Pick<Given, 'context'>) => pauseOf(context),
  wait: ({ context }: Pick<Given, 'context'>) => waitOf(context),
  /** No one decides: rejected. */
  gate: ({ context: { node, step } }: Pick<Given, 'context'>) =>
    gatesOf(node)[step.gate?.place ?? 0]?.timeoutMs ?? Infinity,
  /** No one answers: escalated. */
  answer: ({ context: { run, step } }: Pick<Given, 'context'>) =>
    step.gate?.kind === 'approval' ? run.escalateAfterMs : Infinity,
};

const isFenced = ({ context: { node } }: Pick<Given, 'context'>): boolean =>
  node.kind === 'step' && node.rules.by === 'fenced';

const guards = {
  gateIsClosed: ({ context }: Given) => closedGate(context) !== undefined,
  isNode: ({ context }: Given, { kind }: { kind: string }) => context.node.kind === kind,
  timeIsAhead: ({ context }: Given) => context.node.kind === 'wait' && waitOf(context) > 0,
  isKeyed: ({ context: { node } }: Given) => node.kind === 'step' && node.rules.by === 'keyed',
  isFenced,
  says: ({ event }: Given, { state }: { state: StepResult['state'] }) => resultOf(event)?.state === state,
  mayRemind: ({ context: { step }, event }: Given) =>
    resultOf(event)?.state === 'unfit' &&
    step.worker?.kind === 'session' &&
    (step.reminders ?? 0) < limits.remindersMax,
  workerSucceeded: ({ event }: Given) => event.type === 'step.ended' && event.outcome === 'succeeded',
  mayRetry: ({ context, event }: Given) => mayRetry(context, event),
  mayRetryActAtOnce: ({ context, event }: Given) =>
    isFenced({ context }) && mayRetry(context, event) && pauseOf(context) === 0,
  mayRetryAtOnce: ({ context, event }: Given) => mayRetry(context, event) && pauseOf(context) === 0,
  isOptional: ({ context: { node } }: Given) => node.kind === 'step' && node.rules.optional,
  isNotEscalated: ({ context: { step } }: Given) => step.gate?.escalatedAt == null,
};

const decisions = {
  park,
  leaveGate,
  rejectGate,
  escalate,
  hideGate,
  openNode,
  passThrough,
  skip,
  await: await_,
  endWait,
  beginAttempt,
  noteOpened,
  noteWorker,
  remind,
  submit,
  finish,
  failAttempt,
  giveUp,
  cancel,
} as const;

/** A decision as an action: what changes, and what is to be written, sent and announced in the run's name. */
function decides(decision: (context: StepContext, event: StepEvent) => Decision<StepContext>) {
  return assign<StepContext, StepEvent, undefined, StepEvent, never>(({ context, event }) => {
    const { set = {}, outputs } = decision(context, event);
    return outputs === undefined ? set : { ...set, outputs: [...context.outputs, ...outputs] };
  });
}

function mayRetry(context: StepContext, event: StepEvent): boolean {
  const { node, step } = context;
  return (
    node.kind === 'step' &&
    step.attempt < node.rules.attempts &&
    node.rules.on.includes(failureOf(context, event).reason)
  );
}

const setupStep = setup({
  types: {} as { context: StepContext; events: StepEvent; input: StepContext },
  actors: {
    'workflow-step': effect<StepResult, StepCall>(),
    'workflow-act': effect<StepResult, StepCall>(),
  },
  delays,
  guards,
  actions: {
    park: decides(park),
    leaveGate: decides(leaveGate),
    rejectGate: decides(rejectGate),
    escalate: decides(escalate),
    hideGate: decides(hideGate),
    openNode: decides(openNode),
    passThrough: decides(passThrough),
    skip: decides(skip),
    await: decides(await_),
    endWait: decides(endWait),
    beginAttempt: decides(beginAttempt),
    noteOpened: decides(noteOpened),
    noteWorker: decides(noteWorker),
    remind: decides(remind),
    submit: decides(submit),
    finish: decides(finish),
    failAttempt: decides(failAttempt),
    giveUp: decides(giveUp),
    cancel: decides(cancel),
  },
});

/** Past its open gates, as far as it comes. */
const proceed = (...before: readonly 'leaveGate'[]) =>
  [
    { guard: 'gateIsClosed', target: '#step.parked', reenter: true, actions: [...before, 'park'] },
    { guard: 'isKeyed', target: '#step.running.calling', actions: before },
    { guard: 'isFenced', target: '#step.running.acting', actions: before },
    { guard: 'timeIsAhead', target: '#step.waiting', actions: [...before, 'await'] },
    {
      guard: { type: 'isNode', params: { kind: 'gate' } },
      target: '#step.succeeded',
      actions: [...before, 'openNode'],
    },
    {
      guard: { type: 'isNode', params: { kind: 'fail' } },
      target: '#step.failed',
      actions: [...before, 'passThrough'],
    },
    { target: '#step.succeeded', actions: [...before, 'passThrough'] },
  ] as const;

/** An attempt has failed: another one, or the end. */
const failing = (...before: readonly 'noteWorker'[]) =>
  [
    {
      guard: 'mayRetryActAtOnce',
      target: '#step.running.acting',
      reenter: true,
      actions: [...before, 'failAttempt'],
    },
    {
      guard: 'mayRetryAtOnce',
      target: '#step.running.calling',
      reenter: true,
      actions: [...before, 'failAttempt'],
    },
    { guard: 'mayRetry', target: '#step.retrying', actions: [...before, 'failAttempt'] },
    { guard: 'isOptional', target: '#step.skipped', actions: [...before, 'failAttempt', 'giveUp'] },
    { target: '#step.failed', actions: [...before, 'failAttempt', 'giveUp'] },
  ] as const;

const answered = [
  { guard: { type: 'says', params: { state: 'done' } }, target: '#step.succeeded', actions: 'finish' },
  {
    guard: { type: 'says', params: { state: 'opened' } },
    target: '#step.running.working',
    actions: 'noteOpened',
  },
  { guard: 'mayRemind', target: '#step.running.working', actions: 'remind' },
  ...failing(),
] as const;

const work = <Src extends 'workflow-step' | 'workflow-act'>(src: Src, mode: StepCall['mode']) => ({
  id: 'work' as const,
  src,
  input: ({ context, event }: { context: StepContext; event: StepEvent }) => stepCall(context, event, mode),
});

/**
 * One step of a run: a node of its graph, once a round. A run keeps the state of each and steps it within its
 * own commits (see machine.ts on why).
 *
 * **What lives.** Round, attempt, the attempt's receipt, who works on it; the gate at which it is parked.
 *
 * **What can happen.** A step that the frontier has reached begins: it is parked at its first closed gate,
 * waits, or runs; a node that needs nothing of the world succeeds at once. Running means an effect at work
 * (`calling`, `acting`: the same fenced), a session or child run that it opened (`working`), or the outcome
 * being read out of what that said (`reading`). An attempt that fails is retried, at once or after a pause
 * that doubles, or it is the end of the step.
 *
 * **What can never happen.** Two attempts at once: whatever an attempt began (effect, deadline) is left in
 * the step that leaves its state. A step that has ended and begins again: a new round has a new one.
 */
export const stepMachine = setupStep.createMachine({
  id: 'step',
  context: ({ input }) => input,
  initial: 'ready',
  on: { 'step.cancel': { target: '.cancelled', actions: ['hideGate', 'cancel'] } },
  states: {
    ready: { on: { 'step.begin': proceed(), 'step.skip': { target: 'skipped', actions: 'skip' } } },
    parked: {
      after: {
        gate: { target: 'failed', actions: 'rejectGate' },
        answer: { guard: 'isNotEscalated', actions: 'escalate' },
      },
      on: {
        'gate.open': proceed('leaveGate'),
        'gate.reject': { target: 'failed', actions: 'rejectGate' },
        'gate.escalate': { guard: 'isNotEscalated', actions: 'escalate' },
      },
    },
    waiting: { after: { wait: { target: 'succeeded', actions: 'endWait' } } },
    running: {
      entry: 'beginAttempt',
      initial: 'calling',
      after: { timeout: failing() },
      on: {
        'step.ended': [
          { guard: 'workerSucceeded', target: '.reading', actions: 'noteWorker' },
          ...failing('noteWorker'),
        ],
        'step.submitted': { target: 'succeeded', actions: 'submit' },
        // Of whichever effect is at work; here, so that another attempt leaves and enters the whole state
        'xstate.done.actor.work': answered,
        'xstate.error.actor.work': failing(),
      } as never, // the last two are XState's own events; its types list only events of ours
      states: {
        calling: { invoke: work('workflow-step', 'begin') },
        acting: { invoke: work('workflow-act', 'begin') },
        working: {},
        reading: { invoke: work('workflow-step', 'collect') },
      },
    },
    retrying: {
      after: {
        retry: [{ guard: 'isFenced', target: 'running.acting' }, { target: 'running.calling' }],
      },
    },
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    skipped: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

/** The same for who steps it within a run, see nested.ts. */
export const nestedStep = { machine: stepMachine, guards, delays, decisions };
