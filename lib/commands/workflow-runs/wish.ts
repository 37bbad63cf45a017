import type { Json } from '../../../machines/ground.js';
import type { Refusal } from '../../../machines/refusals.js';
import type { ActorView } from '../../supervisor/contract.js';
import type { Asking, Desk, Done } from '../desk.js';

/** What starts a run: by hand, by a trigger, by a step of another run. */
export interface RunWish {
  /** The id of the definition, or its name: one of both. */
  readonly workflowId?: string | undefined;
  readonly name?: string | undefined;
  /** The typed input of the definition. */
  readonly input?: Json | undefined;
  /** Default: manual, with the input as payload. */
  readonly trigger?: RunTrigger | undefined;
  /** The same key with the same input answers with the same run; with another input it is a 409 that names the run. */
  readonly idempotencyKey?: string | undefined;
  /** Who is told when the run parks and ends. Default: the session that asks, if it is one. */
  readonly report?: RunReport | null | undefined;
  /** The work item on which the run's approval gates are mirrored. */
  readonly workItemId?: string | null | undefined;
}

export interface RunTrigger {
  readonly source: 'manual' | 'schedule' | 'todo-status-change' | 'event-webhook' | 'check-poll' | 'workflow-call';
  /** The event's name, the job's id, the binding's name. */
  readonly event?: string | undefined;
  /** What conditions read as `trigger.payload.…`; at most 64 KiB. */
  readonly payload?: Json | undefined;
  readonly fireRef?: string | undefined;
}

export interface RunReport { readonly sessionId: string; readonly mode: 'resume' | 'silent' }

/**
 * Start a run of a definition's newest version. The value is the run; `view.status` may be `failed` at once where the
 * run cannot start (an unknown employee). Refusals: NOT_FOUND, CONFLICT (paused, retired, or as many runs as
 * `concurrency` allows), IDEMPOTENCY_CONFLICT (`runId`), BAD_REQUEST (the input does not fit).
 * @example await startRun(desk, {workflowId: 'digest', trigger: {source: 'schedule', event: 'workflow:digest', fireRef}, idempotencyKey: fireRef}, {by: system('cron')})
 */
export type StartRun = (desk: Desk, wish: RunWish, asking: Asking) => Promise<Done<ActorView> | Refusal>;
