import { callerName, type Caller } from '../caller.js';
import type { FilterRule } from '../graph/conditions.js';
import type { Json, Stamp } from '../outputs.js';

/**
 * The shapes of a binding that polls for its event by running a program. All plain JSON; times are epoch
 * milliseconds.
 */

/** What a person approves, word for word: nothing else is ever run. Its hash names it. */
export type PollContract = {
  /** The program, as an absolute path, and its arguments. No shell reads them. */
  readonly command: readonly string[];
  readonly intervalSeconds: number;
  /**
   * It runs in a folder of its own, with PATH, HOME, the language and nothing else of the gateway's
   * environment.
   */
  readonly cwdPolicy: 'own-folder';
  readonly envPolicy: 'basics';
  readonly timeoutMs: number;
  readonly stdoutMaxBytes: number;
  readonly stderrMaxBytes: number;
  /** The program and every argument that is a file, as they were: a changed one is not run. */
  readonly executableArtifacts: readonly {
    readonly role: 'executable' | 'argument';
    readonly path: string;
    readonly sha256: string;
  }[];
};

export type PollFields = {
  readonly event: string;
  readonly targetWorkflowId: string;
  readonly filter: readonly FilterRule[];
  readonly contract: PollContract;
  /** SHA-256 of the contract, base64url. */
  readonly contractHash: string;
};

/**
 * The outcome of a check. `revoked`: a file of the contract has changed since it was approved, or its program
 * could not be ended.
 */
export type CheckOutcome =
  | 'fire'
  | 'no-fire'
  | 'nonzero'
  | 'no-output'
  | 'invalid-json'
  | 'timeout'
  | 'output-too-large'
  | 'revoked'
  | 'error';
export type Checked = {
  readonly outcome: CheckOutcome;
  readonly reason?: string;
  readonly payload?: { readonly [member: string]: Json | undefined };
  readonly fireRef?: string;
  /** With `revoked`: the contract as it would have to be approved now. */
  readonly measured?: { readonly contract: PollContract; readonly contractHash: string };
};
export type Fired = {
  readonly outcome: 'fired' | 'no-fire' | 'missing-workflow' | 'refused';
  readonly runId?: string;
  readonly reason?: string;
};

/** An occurrence on its way to its run. `ref` names the check. */
export type Occurrence = {
  readonly payload: { readonly [member: string]: Json | undefined };
  readonly fireRef: string | null;
  readonly ref: string;
};

export interface PollContext extends PollFields {
  readonly id: string;
  readonly revision: number;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly approval: {
    readonly requestedAt: number;
    readonly escalatedAt: number | null;
    readonly reason: string | null;
    readonly decision: 'approved' | 'rejected' | null;
    readonly decidedBy: string | null;
    readonly decidedAt: number | null;
    readonly note: string | null;
  };
  readonly occurrence: Occurrence | null;
  readonly checks: number;
  readonly fired: number;
  /** Failed checks in a row: each makes the next pause longer. */
  readonly failures: number;
  /** Tries to start the run of the present occurrence. */
  readonly tries: number;
  readonly lastCheckedAt: number | null;
  readonly lastFiredAt: number | null;
  readonly lastOutcome: string | null;
  readonly lastReason: string | null;
  readonly lastRunId: string | null;
}

export interface PollInput extends PollFields {
  readonly id: string;
  readonly at: number;
  readonly by: Caller;
}

export type PollEvent = Stamp &
  /** `contractHash`: of the contract that the caller read; another one is not decided. */
  (
    | {
        readonly type: 'activation.decide';
        readonly decision: 'approve' | 'reject';
        readonly contractHash?: string;
        readonly note?: string;
      }
    | { readonly type: 'activation.escalate'; readonly reason?: string }
    | { readonly type: 'binding.delete' }
    | { readonly type: 'binding.revive'; readonly binding: PollFields }
  );

export const firstContext = (
  fields: PollFields,
  {
    id,
    at,
    by,
    revision = 1,
  }: { readonly id: string; readonly at: number; readonly by: Caller; readonly revision?: number },
): PollContext => ({
  id,
  event: fields.event,
  targetWorkflowId: fields.targetWorkflowId,
  filter: fields.filter,
  contract: fields.contract,
  contractHash: fields.contractHash,
  revision,
  createdBy: callerName(by),
  createdAt: at,
  updatedAt: at,
  approval: requested(at),
  occurrence: null,
  checks: 0,
  fired: 0,
  failures: 0,
  tries: 0,
  lastCheckedAt: null,
  lastFiredAt: null,
  lastOutcome: null,
  lastReason: null,
  lastRunId: null,
});

export const requested = (at: number): PollContext['approval'] => ({
  requestedAt: at,
  escalatedAt: null,
  reason: null,
  decision: null,
  decidedBy: null,
  decidedAt: null,
  note: null,
});
