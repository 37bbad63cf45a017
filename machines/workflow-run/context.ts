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
  /** Id of the run. */
  readonly id: string;
  /** Epoch milliseconds of the start. */
  readonly at: number;
  /** Who starts it. */
  readonly by: Caller;
  /** The organisation, as of now. Null or absent: there is no roster. */
  readonly facts?: RunFacts | null;
  /** Id of the definition. */
  readonly workflowId: string;
  /** Version that runs. */
  readonly definitionVersion: number;
  /** Title of the definition. */
  readonly title: string;
  /** Nodes and edges of that version, prepared for stepping. */
  readonly graph: RunGraph;
  /** What starts it. */
  readonly trigger: RunTriggered;
  /** Kept in a row, not in the snapshot. */
  readonly payload: Json;
  /** What its steps may read as `input`; JSON of the definition's shape. */
  readonly input: Json;
  /** Hash of input, payload and prompts: a repeated key must come with the same. */
  readonly inputHash: string;
  /** Key that it is started with; null: none. */
  readonly idempotencyKey: string | null;
  /** Session `sessionId` to which its end is reported; `mode` `resume` gives it a turn. Null: none. */
  readonly report: { readonly sessionId: string; readonly mode: 'resume' | 'silent' } | null;
  /** Work item that it works on; null: none. */
  readonly workItemId: string | null;
  /** `employee` and session (`sessionId`) that ask for it; null: a person or the system. */
  readonly requester: { readonly employee: string | null; readonly sessionId: string | null };
  /** With whose rights its steps act. Absent: with those of who started it. */
  readonly authority?: RunAuthority;
  /** Whose definition it is. */
  readonly owner?: string | null;
  /** Whose definition it is, and whom it lists: they may cancel the run. */
  readonly stewards?: readonly string[];
  /** Department of the definition. */
  readonly department?: string | null;
  /** Step of another run that waits for it. */
  readonly parent?: {
    /** Of the other run. */
    readonly runId: string;
    /** Its step. */
    readonly nodeId: string;
    /** Round of the other run, from 1. */
    readonly round: number;
    /** Attempt of the step, from 1. */
    readonly attempt: number;
    /** Runs above this one: 1 below a run that has no parent. */
    readonly depth: number;
  } | null;
  /** Run (`runId`) and step (`nodeId`) that it repeats. */
  readonly rerunOf?: { readonly runId: string; readonly nodeId: string } | null;
  /** An actor that is told the end, as `work.ended`. */
  readonly reportTo?: ActorKey | null;
  /** Outcomes of the repeated run that hold here too. */
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
  /** Id of the run. */
  readonly id: string;
  /** Id of the definition. */
  readonly workflowId: string;
  /** Version that runs; later ones change nothing of it. */
  readonly definitionVersion: number;
  /** Title of the definition when it began. */
  readonly title: string;
  /** As text, see `graphOf`. */
  readonly graph: string;
  /** What started it. */
  readonly trigger: RunTriggered;
  /** Hash of input, payload and prompts: a repeated key must come with the same. */
  readonly inputHash: string;
  /** Key that it was started with; null: none. */
  readonly idempotencyKey: string | null;
  /** Session to which its end is reported, and how; null: none. */
  readonly report: RunInput['report'];
  /** Work item that it works on; null: none. */
  readonly workItemId: string | null;
  /** Employee and session that asked for it; null: a person or the system. */
  readonly requester: RunInput['requester'];
  /** Null: of a run from before this was kept. */
  readonly authority: RunAuthority | null;
  /** Employee whose definition it is; null: none. */
  readonly owner: string | null;
  /** Employees who may cancel it. */
  readonly stewards: readonly string[];
  /** Department of the definition; null: none. */
  readonly department: string | null;
  /** As `callerName` writes it. */
  readonly startedBy: string;
  /** Step of another run that waits for it; null: none. */
  readonly parent: NonNullable<RunInput['parent']> | null;
  /** Run and step that it repeats; null: none. */
  readonly rerunOf: NonNullable<RunInput['rerunOf']> | null;
  /** Actor that gets `work.ended`; null: none. */
  readonly reportTo: ActorKey | null;
  /** Milliseconds after which a gate that no one answers escalates. */
  readonly escalateAfterMs: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Epoch milliseconds of its last event. */
  readonly updatedAt: number;
  /** Epoch milliseconds; null while it runs. */
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
  /** What its agents cost so far, in US dollars. */
  readonly costUsd: number;
  /** Pending steps whose prompt was edited. */
  readonly edited: readonly string[];
  /** Decisions of its gates, oldest first. */
  readonly decisions: readonly GateDecision[];
  /** Reports sent so far. */
  readonly reports: number;
  /** What went wrong, oldest first. */
  readonly errors: readonly RunError[];
  /** Who cancelled it, when and why; null: no one. */
  readonly cancellation: {
    /** Epoch milliseconds. */
    readonly requestedAt: number;
    /** As `callerName` writes it. */
    readonly requestedBy: string;
    /** A sentence; null: none was given. */
    readonly reason: string | null;
  } | null;
  /** Whether its evidence files are written. */
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
  /** Root employee; null: the operator is the root. */
  readonly root: string | null;
  /** Who stands above the requester, nearest first. */
  readonly managers: readonly string[];
  /** Employees of executive rank. */
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
  /** The session of a step that collects has submitted its `outcome`. */
  | ({ readonly type: 'step.submitted'; readonly outcome: StepOutcome } & Attempted & Facts)
  /** Another `prompt` for the step `nodeId`, which has not begun yet. */
  | ({ readonly type: 'step.edit'; readonly nodeId: string; readonly prompt: string } & Facts)
  | ({ readonly type: 'step.timeout' } & Attempted & Facts)
  | ({ readonly type: 'step.retry' } & Attempted & Facts)
  | ({ readonly type: 'wait.over' } & Attempted & Facts)
  /** Who was asked has decided the gate `gateKey` (absent: the only one), and says why in `note`: see `limits`. */
  | ({
      readonly type: 'gate.resolve';
      readonly gateKey?: string;
      readonly decision: 'approve' | 'reject';
      readonly note?: string;
      /** The work item that shows it is decided in the same commit. */ readonly mirrored?: true;
    } & Facts)
  /** The gate `gateKey` (absent: the only one) goes to the next above, for a `reason` in a sentence. */
  | ({ readonly type: 'gate.escalate'; readonly gateKey?: string; readonly reason?: string } & Facts)
  /** The time that its definition gives the gate is over: it counts as rejected. */
  | ({ readonly type: 'gate.overdue'; readonly gateKey: string } & Facts)
  /** No one has answered the gate for `escalateAfterMs`: it escalates. */
  | ({ readonly type: 'gate.unanswered'; readonly gateKey: string } & Facts)
  /** `reason`: a sentence. */
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
