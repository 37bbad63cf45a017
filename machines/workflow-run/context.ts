import { callerName, type Caller } from '../caller.js';
import type { ActorKey, Json, Stamp } from '../outputs.js';
import type {
  Attempted,
  NodeStatus,
  ParkedGate,
  RunError,
  StepOutcome,
  StepReport,
  StepRun,
} from './step-run.js';
import { packGraph, type RunGraph } from './graph.js';

export type * from './step-run.js';
export { isActive, statusOf } from './step-run.js';

/**
 * The shapes of a run: what it is given, what it remembers, what can be sent to it. All plain JSON; times are
 * epoch milliseconds.
 */

export interface RunTriggered {
  readonly source: string;
  readonly event: string | null;
  readonly fireRef: string | null;
}

/**
 * Something that a run begins with because an earlier run did it: the receipt of a step before the one that
 * is done again.
 */
export interface Inherited {
  readonly nodeId: string;
  readonly status: NodeStatus;
  readonly outcome: StepOutcome | null;
}

/** `input` of the machine; the kernel adds `id`, `at`, `by`. */
export interface RunInput {
  readonly id: string;
  readonly at: number;
  readonly by: Caller;
  readonly facts?: RunFacts | null;
  readonly workflowId: string;
  readonly definitionVersion: number;
  readonly title: string;
  readonly graph: RunGraph;
  readonly trigger: RunTriggered;
  /** Kept in a row, not in the snapshot. */
  readonly payload: Json;
  readonly input: Json;
  readonly inputHash: string;
  readonly idempotencyKey: string | null;
  readonly report: { readonly sessionId: string; readonly mode: 'resume' | 'silent' } | null;
  readonly workItemId: string | null;
  readonly requester: { readonly employee: string | null; readonly sessionId: string | null };
  /** With whose rights its steps act. Absent: with those of who started it. */
  readonly authority?: RunAuthority;
  /** Whose definition it is. */
  readonly owner?: string | null;
  /** Whose definition it is, and whom it lists: they may cancel the run. */
  readonly stewards?: readonly string[];
  readonly department?: string | null;
  readonly parent?: {
    readonly runId: string;
    readonly nodeId: string;
    readonly round: number;
    readonly attempt: number;
    readonly depth: number;
  } | null;
  readonly rerunOf?: { readonly runId: string; readonly nodeId: string } | null;
  /** An actor that is told the end, as `work.ended`. */
  readonly reportTo?: ActorKey | null;
  readonly inherited?: readonly Inherited[];
  /** Other prompts than the definition's, in this run alone. */
  readonly prompts?: readonly StepPrompt[];
  /** Why it cannot start: it has failed from the start, and says so. */
  readonly errors?: readonly RunError[];
  /** A gate that no one answers escalates by itself after this. */
  readonly escalateAfterMs: number;
  /** There is no room yet: it begins with `run.admit`. */
  readonly queued?: boolean;
}

/** Names of callers, `session:<id>`: each of them must be allowed what a step does. */
export interface RunAuthority {
  readonly onBehalfOf: readonly string[];
  /** The version lends rights that its starter has not: its input then fixes nothing of a step's address. */
  readonly lent: boolean;
}

/** What a run of a workflow remembers. */
export interface RunContext {
  readonly id: string;
  readonly workflowId: string;
  readonly definitionVersion: number;
  readonly title: string;
  /** As text, see `graphOf`. */
  readonly graph: string;
  readonly trigger: RunTriggered;
  readonly inputHash: string;
  readonly idempotencyKey: string | null;
  readonly report: RunInput['report'];
  readonly workItemId: string | null;
  readonly requester: RunInput['requester'];
  /** Null: of a run from before this was kept. */
  readonly authority: RunAuthority | null;
  readonly owner: string | null;
  readonly stewards: readonly string[];
  readonly department: string | null;
  readonly startedBy: string;
  readonly parent: NonNullable<RunInput['parent']> | null;
  readonly rerunOf: NonNullable<RunInput['rerunOf']> | null;
  readonly reportTo: ActorKey | null;
  readonly escalateAfterMs: number;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
  /** By node id; a node that was not reached in the present round has none. */
  readonly steps: Readonly<Record<string, StepRun>>;
  /** One sign per edge of the graph: `?` open, `+` taken, `-` dead. */
  readonly edgeStates: string;
  /** What is known of the conditions, by `<edge>.<condition>`. */
  readonly truths: Readonly<Record<string, boolean>>;
  /** Begins at 1, grows with every loop. */
  readonly rounds: number;
  /** How often each loop edge was taken, by its place. */
  readonly loops: Readonly<Record<string, number>>;
  /** Why the last loop was left. */
  readonly loopExit: 'condition' | 'ceiling' | null;
  /** Receipts written so far; the last one's row. */
  readonly receipts: number;
  /** Steps that came to an end. */
  readonly settled: number;
  readonly costUsd: number;
  /** Pending steps whose prompt was edited. */
  readonly edited: readonly string[];
  readonly decisions: readonly GateDecision[];
  readonly reports: number;
  readonly errors: readonly RunError[];
  readonly cancellation: {
    readonly requestedAt: number;
    readonly requestedBy: string;
    readonly reason: string | null;
  } | null;
  readonly evidence: 'due' | 'written' | 'off' | 'failed';
  /** More is ready than one commit may pass: the rest is on its way. */
  readonly continuing: boolean;
}

export interface StepPrompt {
  readonly nodeId: string;
  readonly prompt: string;
}

export interface GateDecision {
  readonly gateKey: string;
  readonly decision: 'approve' | 'reject';
  readonly actor: string;
  readonly at: number;
  readonly note: string | null;
  /** Whom it was asked, and since when. Absent in runs of before this was kept. */
  readonly approval?: Pick<ParkedGate, 'target' | 'targetKind' | 'at' | 'escalatedAt'>;
}

/** What a decision about a gate must know of the organisation. */
export interface RunFacts {
  readonly root: string | null;
  /** Who stands above the requester, nearest first. */
  readonly managers: readonly string[];
  readonly executives: readonly string[];
  /** Those names in the definition that are employees'. */
  readonly approvers: readonly string[];
  /** Who manages the definition's department. */
  readonly heads: readonly string[];
}

type Facts = Stamp<RunFacts | null>;

/** What a run of a workflow takes. */
export type RunEvent =
  | ({ readonly type: 'run.continue' } & Facts)
  | ({ readonly type: 'run.admit' } & Facts)
  | ({ readonly type: 'step.ended' } & Attempted & StepReport & Facts)
  | ({ readonly type: 'step.submitted'; readonly outcome: StepOutcome } & Attempted & Facts)
  | ({ readonly type: 'step.edit'; readonly nodeId: string; readonly prompt: string } & Facts)
  | ({ readonly type: 'step.timeout' } & Attempted & Facts)
  | ({ readonly type: 'step.retry' } & Attempted & Facts)
  | ({ readonly type: 'wait.over' } & Attempted & Facts)
  | ({
      readonly type: 'gate.resolve';
      readonly gateKey?: string;
      readonly decision: 'approve' | 'reject';
      readonly note?: string;
      /** The work item that shows it is decided in the same commit. */ readonly mirrored?: true;
    } & Facts)
  | ({ readonly type: 'gate.escalate'; readonly gateKey?: string; readonly reason?: string } & Facts)
  | ({ readonly type: 'gate.overdue'; readonly gateKey: string } & Facts)
  | ({ readonly type: 'gate.unanswered'; readonly gateKey: string } & Facts)
  | ({ readonly type: 'run.cancel'; readonly reason?: string | null } & Facts);

export type RunEventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

export const limits = {
  /** Nodes that one commit passes without effects. */
  inlinePerStep: 64,
  remindersMax: 2,
  decisionsKept: 20,
  errorsKept: 8,
  errorCharsMax: 1_000,
  finalMessageCharsMax: 8_000,
  summaryCharsMax: 2_000,
  fieldsMax: 16,
  outcomeCharsMax: 32_000,
  artifactsMax: 50,
  inputCharsMax: 16_000,
  editCharsMax: 32_000,
  depthMax: 8,
  stewardsMax: 128,
} as const;

export function firstContext(input: RunInput): RunContext {
  return {
    id: input.id,
    workflowId: input.workflowId,
    definitionVersion: input.definitionVersion,
    title: input.title,
    graph: packGraph(input.graph),
    trigger: {
      source: input.trigger.source.slice(0, 64),
      event: input.trigger.event?.slice(0, 256) ?? null,
      fireRef: input.trigger.fireRef?.slice(0, 256) ?? null,
    },
    inputHash: input.inputHash,
    idempotencyKey: input.idempotencyKey,
    report: input.report,
    workItemId: input.workItemId,
    requester: input.requester,
    authority: input.authority ?? { onBehalfOf: [callerName(input.by)], lent: false },
    owner: input.owner ?? null,
    stewards: (input.stewards ?? []).slice(0, limits.stewardsMax),
    department: input.department ?? null,
    startedBy: callerName(input.by),
    parent: input.parent ?? null,
    rerunOf: input.rerunOf ?? null,
    reportTo: input.reportTo ?? null,
    escalateAfterMs: input.escalateAfterMs,
    startedAt: input.at,
    updatedAt: input.at,
    endedAt: null,
    steps: {},
    edgeStates: '?'.repeat(input.graph.edges.length),
    truths: {},
    rounds: 1,
    loops: {},
    loopExit: null,
    receipts: 0,
    settled: 0,
    costUsd: 0,
    edited: [],
    decisions: [],
    reports: 0,
    errors: [],
    cancellation: null,
    evidence: 'due',
    continuing: false,
  };
}
