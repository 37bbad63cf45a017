import { assign, raise, setup, type DoneActorEvent, type ErrorActorEvent } from 'xstate';
import { callerName, system } from '../caller.js';
import type { WorkflowStatus } from '../graph/definition.js';
import {
  publish,
  effect,
  stampOf,
  decidesFor,
  type Json,
  type OutputOf,
  type Publish,
  type Decision,
} from '../outputs.js';
import {
  authorityRow,
  firstContext,
  headOf,
  knownOf,
  readingOf,
  versionRow,
  type EvidenceInput,
  type EvidenceOutput,
  type WorkflowContext,
  type WorkflowEvent,
  type WorkflowEventOf,
  type WorkflowInput,
  type WorkflowRows,
} from './context.js';
import { authorityOfVersion } from './version-authority.js';

const decides = decidesFor<WorkflowContext, WorkflowEvent, OutputOf<WorkflowRows>>();

/**
 * A workflow: a definition that is written in versions.
 *
 * **What lives.** The head of the newest version, and one row per version, whole, for ever: a run that began
 * with version 3 ends with version 3. Beside them lie evidence files for people, written after each version.
 *
 * **What can happen.** The next version is written against the one that was read. With it the
 * workflow may be paused (nothing starts it), active again, or retired. Evidence that cannot be written is
 * tried again.
 *
 * **What can never happen.** A version with a fault in its graph, or one that is changed later. A write that
 * overlooks another. A retired workflow that changes or starts.
 */
const workflow = setup({
  types: {} as {
    context: WorkflowContext;
    events: WorkflowEvent;
    input: WorkflowInput;
    emitted: OutputOf<WorkflowRows>;
  },
  actors: {
    /** Keyed. Writes the files of every version that has none yet. */
    evidence: effect<EvidenceOutput, EvidenceInput>(),
  },
  delays: { again: 60_000 },
  guards: {
    becomes: ({ event }, { to }: { to: WorkflowStatus }) =>
      event.type === 'definition.update' && statusIn(event.definition) === to,
    startsPaused: (_, { definition }: WorkflowInput) => statusIn(definition) === 'paused',
  },
  actions: {
    open: decides((context, _event, { definition }: WorkflowInput) => open(context, definition)),
    write: decides('definition.update', (context, event, { action }: { action: string }) =>
      write(context, event, action),
    ),
    decide: decides('version.decide', decide),
    written: raise(({ event }) => ({
      type: 'version.written',
      at: stampOf(event).at,
      by: system('workflow'),
    })),
    recorded: assign(({ context }, { version }: EvidenceOutput) => ({
      evidence: { version: Math.max(version, context.evidence.version), fault: null },
    })),
    missed: assign(({ context }, { reason }: { reason: string }) => ({
      evidence: { ...context.evidence, fault: reason },
    })),
  },
});

const first = ({ event }: { event: { readonly type: string } }): WorkflowInput =>
  // The event of creation carries it, which XState's types do not show
  (event as { readonly type: string; readonly input: WorkflowInput }).input;
const done = ({ event }: { event: DoneActorEvent<EvidenceOutput> }): EvidenceOutput => event.output;
const failed = ({ event }: { event: ErrorActorEvent }): { reason: string } => ({
  reason: String((event.error as { message?: unknown } | null)?.message ?? 'unknown').slice(0, 300),
});
const writes = (from: WorkflowStatus, to: WorkflowStatus) => ({
  guard: { type: 'becomes' as const, params: { to } },
  actions: [
    {
      type: 'write' as const,
      params: {
        action: from === to ? 'updated' : { active: 'resumed', paused: 'paused', retired: 'retired' }[to],
      },
    },
    'written' as const,
  ],
});

/**
 * The statechart of a workflow.
 * @example const chart = workflowMachine.root.states;
 */
export const workflowMachine = workflow.createMachine({
  id: 'workflow',
  type: 'parallel',
  context: ({ input }) => firstContext(input),
  states: {
    status: {
      initial: 'begun',
      states: {
        begun: {
          entry: { type: 'open', params: first },
          always: [
            { guard: { type: 'startsPaused', params: first }, target: 'paused' },
            { target: 'active' },
          ],
        },
        active: {
          on: {
            'version.decide': { actions: 'decide' },
            'definition.update': [
              writes('active', 'active'),
              { ...writes('active', 'paused'), target: 'paused' },
              { ...writes('active', 'retired'), target: 'retired' },
            ],
          },
        },
        paused: {
          on: {
            'version.decide': { actions: 'decide' },
            'definition.update': [
              { ...writes('paused', 'active'), target: 'active' },
              writes('paused', 'paused'),
              { ...writes('paused', 'retired'), target: 'retired' },
            ],
          },
        },
        retired: {},
      },
    },
    evidence: {
      initial: 'recording',
      states: {
        recording: {
          invoke: {
            id: 'evidence',
            src: 'evidence',
            input: ({ context }) => ({ id: context.id, version: context.version }),
            onDone: { target: 'recorded', actions: { type: 'recorded', params: done } },
            onError: { target: 'unrecorded', actions: { type: 'missed', params: failed } },
          },
          on: { 'version.written': { target: 'recording', reenter: true } },
        },
        recorded: { on: { 'version.written': 'recording' } },
        unrecorded: { after: { again: 'recording' }, on: { 'version.written': 'recording' } },
      },
    },
  },
});

/** As it is read: active where nothing is said. */
const statusIn = (definition: Json): unknown =>
  (definition as { readonly status?: Json } | null)?.status ?? 'active';

function open(context: WorkflowContext, written: Json): Decision<WorkflowContext> {
  const { definition } = readingOf(written, context.id);
  return {
    outputs: [
      versionRow(definition, context, definition.status),
      authorityRow(context),
      changed('created', context),
    ],
  };
}

function write(
  context: WorkflowContext,
  event: WorkflowEventOf<'definition.update'>,
  action: string,
): Decision<WorkflowContext> {
  const { definition } = readingOf(event.definition, context.id);
  const version = context.version + 1;
  const { by, whole = false } = event;
  const next: WorkflowContext = {
    ...context,
    ...headOf(definition),
    version,
    updatedAt: event.at,
    updatedBy: callerName(by),
    authority: authorityOfVersion(
      { definition, version, by, whole, ...knownOf(event.facts) },
      context.authority,
    ),
  };
  return {
    set: next,
    outputs: [versionRow(definition, next, definition.status), authorityRow(next), changed(action, next)],
  };
}

function decide(
  context: WorkflowContext,
  { decision, by }: WorkflowEventOf<'version.decide'>,
): Decision<WorkflowContext> {
  const approved = decision === 'approve';
  const authority: WorkflowContext['authority'] = {
    ...context.authority,
    state: approved ? 'approved' : 'rejected',
    approvedBy: approved ? callerName(by) : null,
  };
  const next = { ...context, authority };
  return {
    set: { authority },
    outputs: [authorityRow(next), changed(approved ? 'approved' : 'rejected', next)],
  };
}

const changed = (action: string, { id, version, name }: WorkflowContext): Publish =>
  publish('company:changed', { entity: 'workflow-definition', action, id, version, workflowId: id, name });
