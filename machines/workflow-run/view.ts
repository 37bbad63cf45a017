import { isoTime, isoTimeOrNull, sortable, sortableText } from '../sortable.js';
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
  /** Version of this shape. */
  readonly schemaVersion: 3;
  /** Of the actor: grows with every event. */
  readonly revision: number;
  /** Id of the run. */
  readonly runId: string;
  /** Id of the definition. */
  readonly workflowId: string;
  /** Version that runs. */
  readonly definitionVersion: number;
  /** Title of the definition when it began. */
  readonly title: string;
  /** What started it. */
  readonly trigger: RunContext['trigger'];
  /** Where it is; final ones never change. */
  readonly status: RunStatus;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** ISO 8601, UTC; null while it runs. */
  readonly endedAt: string | null;
  /** Ids of the steps in the order of the definition. */
  readonly order: readonly string[];
  /** Begins at 1, grows with every loop. */
  readonly rounds: number;
  /** Why the last loop was left; null: none was. */
  readonly loopExit: RunContext['loopExit'];
  /** How many steps the definition has. */
  readonly stepCount: number;
  /** How many steps are being worked on. */
  readonly inFlight: number;
  /** It waits for room. */
  readonly queued: boolean;
  /** The gate that waits for a decision, by its key; times are ISO 8601, UTC. Null: none. */
  readonly parked:
    | (Omit<ParkedGate, 'place' | 'at' | 'escalatedAt'> & {
        /** Names it within the run. */
        readonly gateKey: string;
        /** Since when it waits. */
        readonly at: string;
        /** When it went to the next above; null: it has not. */
        readonly escalatedAt: string | null;
      })
    | null;
  /** Keys of all gates that wait. */
  readonly gates: readonly string[];
  /** By id; a step that was not reached in this round is absent. */
  readonly steps: Readonly<Record<string, StepView>>;
  /** Receipts written so far. */
  readonly receipts: number;
  /** Steps that came to an end. */
  readonly settled: number;
  /** US dollars so far. */
  readonly costUsd: number;
  /** What went wrong, oldest first. */
  readonly errors: readonly RunError[];
  /** Decisions of its gates, oldest first. */
  readonly gateDecisions: readonly (Omit<GateDecision, 'at' | 'approval'> & {
    /** ISO 8601, UTC. */
    readonly at: string;
    /** Whom it was asked, and since when; null: of a run from before this was kept. */
    readonly approval: AskedGate | null;
  })[];
  /** Who cancelled it, when and why; null: no one. */
  readonly cancellation: {
    /** ISO 8601, UTC. */
    readonly requestedAt: string;
    /** As `callerName` writes it. */
    readonly requestedBy: string;
    /** A sentence; null: none was given. */
    readonly reason: string | null;
  } | null;
  /** Session `sessionId` to which its end is reported; `reportMode` `resume` gives it a turn. Null: none. */
  readonly invocation: { readonly sessionId: string; readonly reportMode: string } | null;
  /** Key that it was started with; null: none. */
  readonly idempotencyKey: string | null;
  /** Hash of input, payload and prompts: a repeated key must come with the same. */
  readonly inputHash: string;
  /** Work item that it works on; null: none. */
  readonly workItemId: string | null;
  /** Employee and session that asked for it. */
  readonly requester: RunContext['requester'];
  /** As `callerName` writes it. */
  readonly startedBy: string;
  /** With whose rights its steps act; null: of a run from before this was kept. */
  readonly authority: RunContext['authority'];
  /** Step of another run that waits for it; null: none. */
  readonly parent: RunContext['parent'];
  /** Run and step that it repeats; null: none. */
  readonly rerunOf: RunContext['rerunOf'];
  /** Reports sent so far. */
  readonly reportSequence: number;
  /** Pending steps whose prompt was edited. */
  readonly editedSteps: readonly string[];
  /** Whether its evidence files are written. */
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
