import { isoTime, isoTimeOrNull } from '../iso-time.js';
import { sortable, sortableText } from '../sortable.js';
import {
  isActive,
  statusOf,
  type GateDecision,
  type NodeStatus,
  type ParkedGate,
  type RunContext,
  type RunError,
  type RunStatus,
  type StepRun,
} from './context.js';
import { graphOf, type RunNode, gatesOf } from './graph.js';
import { gateNamed, parkedGates } from './gates.js';
import { isOver, runStatus } from './step-run.js';
import { excerpt } from '../text.js';
import { titleCharsMax, type Waiting } from '../waiting.js';

/** A run as its kind knows it, without rows: what lists show, and the ground of the whole record. */
export interface RunView {
  readonly schemaVersion: 3;
  readonly revision: number;
  readonly runId: string;
  readonly workflowId: string;
  readonly definitionVersion: number;
  readonly title: string;
  readonly trigger: RunContext['trigger'];
  readonly status: RunStatus;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly order: readonly string[];
  readonly rounds: number;
  readonly loopExit: RunContext['loopExit'];
  readonly stepCount: number;
  readonly inFlight: number;
  readonly queued: boolean;
  readonly parked:
    | (Omit<ParkedGate, 'place' | 'at' | 'escalatedAt'> & {
        readonly gateKey: string;
        readonly at: string;
        readonly escalatedAt: string | null;
      })
    | null;
  readonly gates: readonly string[];
  readonly steps: Readonly<Record<string, StepView>>;
  readonly receipts: number;
  readonly settled: number;
  readonly costUsd: number;
  readonly errors: readonly RunError[];
  readonly gateDecisions: readonly (Omit<GateDecision, 'at' | 'approval'> & {
    readonly at: string;
    readonly approval: AskedGate | null;
  })[];
  readonly cancellation: {
    readonly requestedAt: string;
    readonly requestedBy: string;
    readonly reason: string | null;
  } | null;
  readonly invocation: { readonly sessionId: string; readonly reportMode: string } | null;
  readonly idempotencyKey: string | null;
  readonly inputHash: string;
  readonly workItemId: string | null;
  readonly requester: RunContext['requester'];
  readonly startedBy: string;
  readonly authority: RunContext['authority'];
  readonly parent: RunContext['parent'];
  readonly rerunOf: RunContext['rerunOf'];
  readonly reportSequence: number;
  readonly editedSteps: readonly string[];
  readonly evidence: RunContext['evidence'];
}

/** A step that was reached in the present round. */
export type StepView = Omit<StepRun, 'state' | 'gate'> & {
  readonly status: NodeStatus;
  /** The place among its node's gates of the one it is parked at. */
  readonly gate?: number;
};

/** Whom a gate was asked, and since when. */
export type AskedGate = Pick<ParkedGate, 'target' | 'targetKind'> & {
  readonly at: string;
  readonly escalatedAt: string | null;
};

/** A committed snapshot, as far as it is read here. */
export interface RunSnapshot {
  readonly value: unknown;
  readonly context: RunContext;
}

/**
 * A run as lists show it. Never throws.
 * @example const view = (run: Parameters<typeof runView>[0], { revision }: Meta) => runView(run, revision);
 */
export function runView({ value, context }: RunSnapshot, revision: number): RunView {
  const found = gateNamed(context.steps, undefined);
  const { nodes } = graphOf(context);
  const { cancellation, report } = context;
  return {
    schemaVersion: 3,
    revision,
    runId: context.id,
    workflowId: context.workflowId,
    definitionVersion: context.definitionVersion,
    title: context.title,
    trigger: context.trigger,
    status: runStatus(value),
    startedAt: isoTime(context.startedAt),
    endedAt: isoTimeOrNull(context.endedAt),
    order: nodes.map(({ id }) => id),
    rounds: context.rounds,
    loopExit: context.loopExit,
    stepCount: nodes.filter(({ kind }) => kind === 'step').length,
    inFlight: Object.values(context.steps).filter((step) => isActive(step) && step.state !== 'parked').length,
    queued: value === 'queued',
    parked:
      found === undefined
        ? null
        : {
            ...shown(found[1]),
            gateKey: found[0],
            at: isoTime(found[1].at),
            escalatedAt: isoTimeOrNull(found[1].escalatedAt),
          },
    gates: parkedGates(context.steps).map(([key]) => key),
    steps: Object.fromEntries(
      nodes.flatMap((node) => {
        const step = context.steps[node.id];
        return step === undefined ? [] : [[node.id, stepView(node, step)]];
      }),
    ),
    receipts: context.receipts,
    settled: context.settled,
    costUsd: context.costUsd,
    errors: context.errors,
    gateDecisions: context.decisions.map(({ approval, ...decision }) => ({
      ...decision,
      at: isoTime(decision.at),
      approval:
        approval === undefined
          ? null
          : { ...approval, at: isoTime(approval.at), escalatedAt: isoTimeOrNull(approval.escalatedAt) },
    })),
    cancellation:
      cancellation === null ? null : { ...cancellation, requestedAt: isoTime(cancellation.requestedAt) },
    invocation: report === null ? null : { sessionId: report.sessionId, reportMode: report.mode },
    idempotencyKey: context.idempotencyKey,
    inputHash: context.inputHash,
    workItemId: context.workItemId,
    requester: context.requester,
    startedBy: context.startedBy,
    authority: context.authority,
    parent: context.parent,
    rerunOf: context.rerunOf,
    reportSequence: context.reports,
    editedSteps: context.edited,
    evidence: context.evidence,
  };
}

const shown = ({ place: _place, ...gate }: ParkedGate): Omit<ParkedGate, 'place'> => gate;

function stepView(node: RunNode, { state, gate, ...step }: StepRun): StepView {
  return { status: statusOf(node, state), ...step, ...(gate === undefined ? {} : { gate: gate.place }) };
}

/**
 * Lists: `all` and `workflow` (newest first), `live` (per definition, oldest first), `queued` (the same,
 * those that wait for room), `key` (by definition and idempotency key), `parked` (longest first).
 */
export function runIndex({
  value,
  context,
}: RunSnapshot): readonly { readonly index: string; readonly key: string }[] {
  const newest = sortable(context.startedAt, { descending: true });
  const oldest = sortable(context.startedAt);
  const workflow = sortableText(context.workflowId);
  const status = runStatus(value);
  const live = !isOver(status);
  return [
    { index: 'all', key: newest },
    { index: 'workflow', key: `${workflow}/${newest}` },
    ...(live ? [{ index: value === 'queued' ? 'queued' : 'live', key: `${workflow}/${oldest}` }] : []),
    ...(status === 'parked' ? [{ index: 'parked', key: oldest }] : []),
    ...(context.trigger.source === 'schedule'
      ? [
          {
            index: 'scheduled',
            key: scheduledPlace(context.workflowId, context.trigger.fireRef ?? context.id),
          },
        ]
      : []),
    ...(context.idempotencyKey === null
      ? []
      : [{ index: 'key', key: keyPlace(context.workflowId, context.startedBy, context.idempotencyKey) }]),
  ];
}

/**
 * Where the run of a due instant stands among those that the clock started; without an instant: where all of
 * them do.
 */
export const scheduledPlace = (workflowId: string, fireRef?: string): string =>
  `${sortableText(workflowId)}/${fireRef === undefined ? '' : `${sortableText(fireRef)}/`}`;

/**
 * Where the run stands that a caller started under a key. Closed by a `/`, so that it is no beginning of
 * another one.
 */
export const keyPlace = (workflowId: string, caller: string, key: string): string =>
  [workflowId, caller, key, ''].map(sortableText).join('/');

/** Its closed gates; but where its work item shows an approval as its own, that item waits, not the run. */
export const runWaiting = ({ context }: RunSnapshot): readonly Waiting[] =>
  parkedGates(context.steps)
    .filter(([, { kind }]) => kind !== 'approval' || context.workItemId === null)
    .map(([gateKey, { kind, nodeId, gateId, target, targetKind, at, escalatedAt }]) => ({
      id: gateKey,
      what: 'gate',
      title: excerpt(`${context.title}: ${gateId} (${kind})`, titleCharsMax),
      within: context.workflowId,
      on: escalatedAt !== null || targetKind === 'virtual' || target === null ? 'operator' : target,
      since: at,
      until: deadlineOf(context, nodeId, gateId, at),
    }));

/** When the gate rejects by itself. */
function deadlineOf(
  context: RunSnapshot['context'],
  nodeId: string,
  gateId: string,
  at: number,
): number | null {
  const node = graphOf(context).nodes.find(({ id }) => id === nodeId);
  const rules = node && gatesOf(node).find(({ id }) => id === gateId);
  return rules?.timeoutMs == null ? null : at + rules.timeoutMs;
}
