import { writeRow, type Json, type WriteRow, type Output } from '../outputs.js';
import type { RunContext, RunFacts } from './context.js';
import type { RunNode } from './graph.js';
import type { NodeStatus, RunError, StepOutcome, StepReport, StepRun } from './step-run.js';

/** What a step's machine is stepped with: what the run keeps of it, and what it must know of the run. */
export interface StepContext {
  /** The run as it is now. */
  readonly run: RunContext;
  readonly node: RunNode;
  readonly place: number;
  readonly at: number;
  readonly facts: RunFacts | null | undefined;
  readonly step: Omit<StepRun, 'state'>;
  /** Receipts of the run so far, its cost: a step adds to them. */
  readonly receipts: number;
  readonly costUsd: number;
  /** What the step has come to. */
  readonly end: StepEnd | null;
  /** Rows, messages and frames, in the run's name. */
  readonly outputs: readonly Output[];
}

/** How a step ended, and what follows in the graph. */
export interface StepEnd {
  readonly status: NodeStatus;
  readonly attempt: number;
  readonly outcome: StepOutcome | null;
  /**
   * `edges`: those out of it are decided by their conditions. `error`: its error lane alone is taken. `dead`:
   * nothing came this way, and nothing goes on. `null`: the run fails here.
   */
  readonly follow: 'edges' | 'error' | 'dead' | null;
  /** The run has failed for this. */
  readonly error?: RunError;
  /** Counts among the steps that came to an end. */
  readonly settled: boolean;
}

/** What a run sends to one of its steps. */
export type StepEvent =
  | { readonly type: 'step.begin' }
  | { readonly type: 'step.skip' }
  | { readonly type: 'step.cancel'; readonly why: string }
  | ({ readonly type: 'step.ended' } & StepReport)
  | { readonly type: 'step.submitted'; readonly outcome: StepOutcome }
  /** `mirrored`: the work item that shows the gate is decided in the same commit. */
  | {
      readonly type: 'gate.open';
      readonly detail: string;
      readonly note?: string | undefined;
      readonly mirrored?: boolean | undefined;
    }
  | {
      readonly type: 'gate.reject';
      readonly detail: string;
      readonly note?: string | undefined;
      readonly mirrored?: boolean | undefined;
    }
  | { readonly type: 'gate.escalate' };

/** The row of an attempt, a passage or a gate. */
export const receipt = (
  { node }: StepContext,
  row: number,
  members: Readonly<Record<string, Json | undefined>>,
): WriteRow => writeRow('receipts', row, { nodeId: node.id, ...members });
