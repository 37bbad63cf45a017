import type { AnyEventObject } from 'xstate';
import type { ActorKey } from '../../actors/contracts.js';
import { system, type Caller, type Causes } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import type { Refusal } from '../../machines/refusals.js';
import type { Op } from '../store/contract.js';
import type { PlannedStep } from './contract.js';
import type { Ended } from './draft/actions.js';
import type { ActorState } from './draft/actor-state.js';
import { own } from './draft/codec.js';
import { selfTarget } from '../../actors/driver.js';

/** An event on its way to one actor: what it is, whose word, what it uses up, and who waits for its outcome. */
export interface Delivery {
  readonly event: AnyEventObject;
  readonly by: Caller;
  readonly onBehalfOf?: Causes | undefined;
  readonly cause: number | string | null;
  /** Rows that this event uses up: its inbox, outbox or timer row. */
  readonly consume?: readonly Op[];
  /** The effect or timer that this event ends. */
  readonly ended?: Ended;
  /** Written with the step and with nothing else (an idempotency row). */
  readonly extra?: readonly Op[];
  /**
   * False: the event is stale (a timer that was set again, a result of an earlier generation) and is dropped.
   */
  readonly fresh?: (state: ActorState) => boolean;
  readonly rehearse?: boolean;
  readonly answer?: (outcome: Outcome) => void;
  /** The delivery has come to its end: committed, dropped, or left to lie in the inbox of a halted actor. */
  readonly finished?: () => void;
}

export type Outcome =
  | { readonly type: 'done'; readonly state: ActorState; readonly position: number }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  | { readonly type: 'rehearsed'; readonly state: ActorState; readonly steps: readonly PlannedStep[] }
  | { readonly type: 'failed'; readonly error: unknown };

/** What the machine will see: the timer's own event, a child's end in XState's words. */
export function seenBy(
  { event, ended }: Delivery,
  state: ActorState | undefined,
): { readonly event: AnyEventObject; readonly ended: Ended | undefined } {
  if (event.type === 'kernel.child-ended') {
    const child = nameOf(event, state);
    return { event: childEnd(event, child ?? '?'), ended: child === undefined ? undefined : { child } };
  }
  const timer =
    ended?.timer === undefined || state === undefined ? undefined : own(state.timers, ended.timer);
  return { event: timer?.target === selfTarget ? timer.event : event, ended };
}

/** The name under which the machine knows a child. */
function nameOf(event: AnyEventObject, state: ActorState | undefined): string | undefined {
  const { kind, id } = event['child'] as ActorKey;
  return Object.entries(state?.children ?? {}).find(
    ([, known]) => known.kind === kind && known.id === id,
  )?.[0];
}

/**
 * The end of a child that is none any more is dropped: XState would take a late error for its own.
 */
export function isStale({ event, fresh }: Delivery, state: ActorState): boolean {
  return (
    fresh?.(state) === false || (event.type === 'kernel.child-ended' && nameOf(event, state) === undefined)
  );
}

/** A durable child's end, in the words that XState uses for the end of a child. */
const childEnd = (event: AnyEventObject, actorId: string): AnyEventObject =>
  event['status'] === 'done'
    ? {
        type: `xstate.done.actor.${actorId}`,
        output: (event['output'] as Json | undefined) ?? undefined,
        actorId,
      }
    : { type: `xstate.error.actor.${actorId}`, error: event['error'] as unknown, actorId };

/** An inbox row as stored. */
export interface InboxRow {
  readonly event: AnyEventObject;
  readonly from?: { readonly kind: string; readonly id: string };
  readonly cause: number | string | null;
  readonly ended?: Ended;
  /**
   * Whose word it is, where that is not the sender's (a retried dead letter keeps its caller's authority, no
   * more).
   */
  readonly by?: Caller;
  readonly onBehalfOf?: Causes;
}

/** Whose word a stored message is: the sending actor's. */
export const senderOf = (row: InboxRow): Caller =>
  system(row.from === undefined ? 'kernel' : `${row.from.kind}:${row.from.id}`);

/** A timer, and when it is due: epoch ms on the monotonic clock. */
export interface Due {
  readonly due: number;
  readonly kind: string;
  readonly id: string;
  readonly timer: string;
}
