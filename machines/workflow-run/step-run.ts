import type { Json } from '../outputs.js';
import type { RetryReason, RunNode } from './graph.js';

/** The shapes of one step of a run: where it stands, what its effect is told and says, what it brings. */

/** A state of the step's machine; inside of `running` also what it is busy with. */
export type StepState =
  | 'ready'
  | 'running.calling'
  | 'running.acting'
  | 'running.working'
  | 'running.reading'
  | 'retrying'
  | 'waiting'
  | 'parked'
  | 'succeeded'
  | 'failed'
  | 'skipped'
  | 'cancelled';

/** What a run keeps of a node that it has reached in the present round. `row` is its receipt. */
export interface StepRun {
  readonly state: StepState;
  readonly round: number;
  readonly attempt: number;
  readonly row: number;
  /** When this attempt began. */
  readonly at: number;
  /** The gate at which it is parked. */
  readonly gate?: ParkedGate;
  /** A session or a child run works on it: its address, so that it can be stopped. */
  readonly worker?: Worker;
  /** What it said did not fit its typed output; it was asked again so often. */
  readonly reminders?: number;
  /** What its sessions have cost in this attempt. */
  readonly costUsd?: number;
  /** The loop edge that it wants to follow as soon as its round is over. */
  readonly loop?: number;
}

export interface Worker {
  readonly kind: 'session' | 'workflow-run';
  readonly id: string;
}

/** A gate at which a step is parked, and with it the run. */
export interface ParkedGate {
  /** Its place among the gates of its node. */
  readonly place: number;
  readonly nodeId: string;
  readonly gateId: string;
  readonly kind: 'approval' | 'artifact' | 'flag';
  readonly at: number;
  readonly target: string | null;
  readonly targetKind: 'employee' | 'virtual';
  readonly escalatedAt: number | null;
  readonly requestedBy: string;
}

/** A step in the words of receipts and frames. `done failed skipped checkpoint routed fired` are ends. */
export type NodeStatus =
  | 'running'
  | 'waiting'
  | 'parked'
  | 'done'
  | 'failed'
  | 'skipped'
  | 'checkpoint'
  | 'routed'
  | 'fired';

/** A pause before another attempt is shown as waiting, a step that was left as skipped. */
export function statusOf({ kind }: Pick<RunNode, 'kind'>, state: string): NodeStatus {
  switch (state) {
    case 'succeeded':
      return succeeded[kind] ?? 'done';
    case 'retrying':
    case 'waiting':
      return 'waiting';
    case 'cancelled':
    case 'skipped':
      return 'skipped';
    case 'parked':
    case 'failed':
      return state;
    default:
      return 'running';
  }
}
const succeeded: Partial<Record<RunNode['kind'], NodeStatus>> = {
  trigger: 'fired',
  gate: 'checkpoint',
  switch: 'routed',
};

/** Something is under way that will bring an event. */
export const isActive = ({ state }: Pick<StepRun, 'state'>): boolean => !endStates.has(state);
const endStates: ReadonlySet<string> = new Set(['succeeded', 'failed', 'skipped', 'cancelled']);

/** What a step brought: contents of a receipt. */
export interface StepOutcome {
  /** In a sentence, as the agent submitted it. */
  readonly summary?: string;
  /** What the next step should know. */
  readonly notes?: string;
  /** Files and links that it made. */
  readonly artifacts?: readonly string[];
  /** What later steps and conditions read as `outcome.fields.<key>`. */
  readonly fields?: { readonly [name: string]: Json | undefined };
  /** Last words of the session. */
  readonly finalMessage?: string;
  /** Session that worked on it. */
  readonly sessionId?: string;
  /** Where the outcome was found. */
  readonly extractedFrom?: 'submitted' | 'handoff-block' | 'final-message' | 'action';
}

/** Names one attempt at one node: what is sent for another one is stale, and nothing happens. */
export interface Attempted {
  readonly nodeId: string;
  readonly round: number;
  readonly attempt: number;
}

/** How a session, or a child run, that worked on a step ended. */
export interface StepReport {
  readonly outcome: 'succeeded' | 'failed' | 'interrupted';
  readonly text: string;
  readonly error?: string | null;
  readonly worker: Worker;
  /** What a child run gives back. */
  readonly fields?: { readonly [name: string]: Json | undefined };
  readonly costUsd?: number;
}

/** What the effect of a step is told. */
export interface StepCall extends Attempted {
  /** The attempt's receipt. */
  readonly row: number;
  /** Id of the run. */
  readonly runId: string;
  /** Id of the definition. */
  readonly workflowId: string;
  /** Version that runs. */
  readonly definitionVersion: number;
  /**
   * `begin`: do it, or open the session that does. `collect`: take the outcome out of what the session said.
   */
  readonly mode: 'begin' | 'collect';
  /** The run acts with rights that who gave its input has not: the input decides no address. */
  readonly lent?: boolean;
  /** With `collect`: what the session said last. */
  readonly text?: string;
  /** With `collect`: what the session submitted. */
  readonly fields?: { readonly [name: string]: Json | undefined };
}

/** What it says when it is done. */
export type StepResult =
  /** The `worker` is at work, and its end comes by `step.ended`; `input`: what it was given. */
  | { readonly state: 'opened'; readonly worker: Worker; readonly input?: Json }
  /** It came to its `outcome`; `input`: what it was given, `costUsd`: US dollars. */
  | {
      readonly state: 'done';
      readonly outcome: StepOutcome;
      readonly input?: Json;
      readonly costUsd?: number;
    }
  /** `reason` decides whether it is tried again, `message` is for people; `input`: what it was given. */
  | {
      readonly state: 'failed';
      readonly reason: RetryReason;
      readonly message: string;
      readonly input?: Json;
    }
  /** The session's answer does not fit; it is asked again. */
  | { readonly state: 'unfit'; readonly message: string };

/** What the effect that keeps the evidence is told, and says. */
export interface EvidenceCall {
  readonly runId: string;
  readonly workflowId: string;
  readonly definitionVersion: number;
  readonly status: RunStatus;
}
export interface EvidenceResult {
  readonly evidence: 'written' | 'off' | 'failed';
  readonly reason?: string;
  /** What the run gives back, once it has ended. */
  readonly result?: { readonly [name: string]: Json | undefined };
}

/** How a run is, in the words of the API. */
export type RunStatus = 'running' | 'parked' | 'completed' | 'failed' | 'cancelled';

/** Why a run ended badly, or could not begin. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  readonly ref?: string;
}

/** The chart's state in the API's word: a run that waits for room is shown as running, and queued. */
export const runStatus = (state: unknown): RunStatus =>
  state === 'queued' ? 'running' : (state as RunStatus);

export const isOver = (status: RunStatus): boolean => status !== 'running' && status !== 'parked';
