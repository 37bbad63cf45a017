import type { Json } from '../ground.js';

/** The shapes of one attempt at a node: where it stands, what its hand is told and says, what it brings. */

export type RunStatus = 'running' | 'parked' | 'completed' | 'failed' | 'cancelled';

/** Where a node stands in its present round. `done failed skipped checkpoint routed fired` are ends. */
export type NodeStatus = 'running' | 'waiting' | 'parked' | 'done' | 'failed' | 'skipped' | 'checkpoint' | 'routed' | 'fired';

export type RetryReason = 'error' | 'no-output' | 'interrupted' | 'timeout';

/** One node's latest passage. `row` is its receipt. */
export interface Spot {
  readonly status: NodeStatus;
  readonly round: number;
  readonly attempt: number;
  readonly row: number;
  /** When this attempt began. */
  readonly at: number;
  /** The place among its node's gates of the one it is parked at. */
  readonly gate?: number;
  /** A session or a child run works on it: its address, so that it can be stopped. */
  readonly worker?: Worker;
  /** What it said did not fit its typed output; it was asked again so often. */
  readonly reminders?: number;
  /** What its sessions have cost in this attempt. */
  readonly costUsd?: number;
  /** The loop edge that it wants to follow as soon as its round is over. */
  readonly loop?: number;
}

export interface Worker { readonly kind: 'session' | 'workflow-run'; readonly id: string }

/** What a step brought: contents of a receipt. */
export interface StepOutcome {
  readonly summary?: string;
  readonly notes?: string;
  readonly artifacts?: readonly string[];
  readonly fields?: { readonly [name: string]: Json | undefined };
  readonly finalMessage?: string;
  readonly sessionId?: string;
  readonly extractedFrom?: 'submitted' | 'handoff-block' | 'final-message' | 'action';
}

/** Names one attempt at one node: what is sent for another one is stale, and nothing happens. */
export interface Attempted { readonly nodeId: string; readonly round: number; readonly attempt: number }

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

/** What the hand of a step is told. */
export interface StepCall extends Attempted {
  /** The attempt's receipt. */
  readonly row: number;
  readonly runId: string;
  readonly workflowId: string;
  readonly definitionVersion: number;
  /** `begin`: do it, or open the session that does. `collect`: take the outcome out of what the session said. */
  readonly mode: 'begin' | 'collect';
  readonly text?: string;
  readonly fields?: { readonly [name: string]: Json | undefined };
}

/** What it says when it is done. */
export type StepResult =
  | { readonly state: 'opened'; readonly worker: Worker; readonly input?: Json }
  | { readonly state: 'done'; readonly outcome: StepOutcome; readonly input?: Json; readonly costUsd?: number }
  | { readonly state: 'failed'; readonly reason: RetryReason; readonly message: string; readonly input?: Json }
  /** The session's answer does not fit; it is asked again. */
  | { readonly state: 'unfit'; readonly message: string };

/** What the hand that keeps the evidence is told, and says. */
export interface EvidenceCall { readonly runId: string; readonly workflowId: string; readonly definitionVersion: number; readonly status: RunStatus }
export interface EvidenceResult {
  readonly evidence: 'written' | 'off' | 'failed';
  readonly reason?: string;
  /** What the run gives back, once it has ended. */
  readonly result?: { readonly [name: string]: Json | undefined };
}
