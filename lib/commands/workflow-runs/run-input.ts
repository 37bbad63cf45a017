import type { ActorKey, Json } from '../../../machines/outputs.js';
import type { Inherited, StepPrompt } from '../../../machines/workflow-run/context.js';

/** What starts a run: by hand, by a trigger, by a step of another run. */
export interface RunInput {
  /** The id of the definition, or its name: one of both. */
  readonly workflowId?: string | undefined;
  readonly name?: string | undefined;
  /** The typed input of the definition. */
  readonly input?: Json | undefined;
  /** Default: manual, with the input as payload. */
  readonly trigger?: RunTrigger | undefined;
  /**
   * The same key with the same input answers with the same run; with another input it is a 409 that names the
   * run.
   */
  readonly idempotencyKey?: string | undefined;
  /** Who is told when the run parks and ends. Default: the session that asks, if it is one. */
  readonly report?: RunReport | null | undefined;
  /** How a session that asks, and names no one else, is told. Default: resume. */
  readonly reportMode?: RunReport['mode'] | undefined;
  /**
   * An actor that is told the end of the run: `work.ended {runId, outcome: succeeded | failed | interrupted,
   * text, error}`.
   */
  readonly reportTo?: ActorKey | undefined;
  /** Other prompts than the definition's, in this run alone. */
  readonly prompts?: readonly StepPrompt[] | undefined;
  /** The work item on which the run's approval gates are mirrored. */
  readonly workItemId?: string | null | undefined;
}

export interface RunTrigger {
  readonly source:
    | 'manual'
    | 'schedule'
    | 'todo-status-change'
    | 'event-webhook'
    | 'check-poll'
    | 'workflow-call';
  /** The event's name, the job's id, the binding's name. */
  readonly event?: string | undefined;
  /** What conditions read as `trigger.payload.…`; at most 64 KiB. */
  readonly payload?: Json | undefined;
  readonly fireRef?: string | undefined;
}

/** What only commands of this folder ask for. */
export interface InnerRunInput extends RunInput {
  /** An older version than the newest. */
  readonly version?: number;
  /** The step of another run that this run is. */
  readonly parent?: {
    readonly runId: string;
    readonly nodeId: string;
    readonly round: number;
    readonly attempt: number;
    readonly depth: number;
  };
  /** A run of the same definition waits for it: it would wait for room for ever. */
  readonly nested?: boolean;
  readonly rerunOf?: { readonly runId: string; readonly nodeId: string };
  readonly inherited?: readonly Inherited[];
  /** Its input is of a run that was lent its rights, or of an agent's run: it may decide no address, either. */
  readonly lent?: boolean;
  /** Of a rerun: its input is not the earlier run's. */
  readonly newInput?: boolean;
}

export interface RunReport {
  readonly sessionId: string;
  readonly mode: 'resume' | 'silent';
}
