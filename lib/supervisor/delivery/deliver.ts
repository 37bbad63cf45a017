import type { AnyEventObject } from 'xstate';
import type { ActorKey, Kind } from '../../../actors/contracts.js';
import { system, type Caller, type Causes } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { Op } from '../../store/contract.js';
import { keys } from '../../store/keys.js';
import type { Cell, Job } from '../cells/actor-cells.js';
import type { Commits } from '../commit.js';
import type { PlannedStep } from '../contract.js';
import type { Ended } from '../draft/actions.js';
import type { ActorState } from '../draft/actor-state.js';
import { own } from '../draft/codec.js';
import type { Draft } from '../draft/draft.js';
import { selfTarget } from '../../../actors/driver.js';
import type { Kernel } from '../kernel.js';

/**
 * One event for one actor: takes its turn, decides, commits, answers. Everything that reaches an actor comes
 * through here: requests, messages of other actors, results of effects, timers. (Several actors at once:
 * transaction.ts.)
 */
export class Deliverer {
  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
    /** What becomes of an event whose step threw. `unwritten`: not even that could be written. */
    private readonly deadLetter: (
      cell: Cell,
      kind: Kind,
      delivery: Delivery,
      error: unknown,
      unwritten: (problem: unknown) => void,
    ) => void,
  ) {}

  /** Urgent deliveries (results, timers, messages already stored) are never turned away by a full mailbox. */
  deliver(kind: Kind, id: string, delivery: Delivery, urgent = false): void {
    const taken = this.kernel.cells.enter(kind.kind, id, this.job(kind, delivery, urgent));
    if (!taken)
      delivery.answer?.({
        type: 'refused',
        refusal: refuse(
          'BUSY',
          { kind: kind.kind, id },
          `Too many events are queued for ${kind.kind} ${id}.`,
        ),
      });
  }

  /**
   * A write failed. What lies in the store anyway (a message, a result, a timer) is tried again; a request is
   * answered.
   */
  failed(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void {
    if (delivery.consume !== undefined)
      this.kernel.cells.postpone(cell, this.job(kind, delivery, true), error);
    else delivery.answer?.({ type: 'failed', error });
  }

  job(kind: Kind, delivery: Delivery, urgent: boolean): Job {
    return {
      urgent,
      run: (cell) => this.run(cell, kind, delivery),
      fail: (error) => {
        delivery.finished?.();
        delivery.answer?.({ type: 'failed', error });
      },
    };
  }

  private run(cell: Cell, kind: Kind, delivery: Delivery): void {
    const { state } = cell;
    if (state !== undefined && isStale(delivery, state)) return this.drop(cell, kind, delivery);
    const draft = this.commits.draft(delivery);
    // First what the event uses up: its step may write the same row again (a timer set for the same moment)
    if (delivery.consume !== undefined) draft.ops.push(...delivery.consume);
    let refusal: Refusal | undefined;
    try {
      refusal = this.decide(draft, kind, cell, delivery);
    } catch (error) {
      return this.threw(cell, kind, delivery, error);
    }
    if (refusal !== undefined) return this.refuse(cell, kind, delivery, refusal);
    const decided = (taken: string | undefined): void => {
      if (taken !== undefined)
        return this.threw(
          cell,
          kind,
          delivery,
          new TypeError(`it tried to create ${taken.slice(2)}, which already exists`),
        );
      if (delivery.rehearse !== true) return this.commit(draft, cell, kind, delivery);
      delivery.answer?.({
        type: 'rehearsed',
        state: draft.current(cell.key, state) as ActorState,
        steps: draft.steps,
      });
      this.kernel.cells.release(cell);
    };
    const unread = (error: unknown): void => {
      this.failed(cell, kind, delivery, error);
      this.kernel.cells.release(cell);
    };
    if (delivery.rehearse === true) this.commits.reservations.check(draft, [cell], decided, unread);
    else this.commits.reservations.claim(draft, [cell], decided, unread);
  }

  private commit(draft: Draft, cell: Cell, kind: Kind, delivery: Delivery): void {
    if (delivery.extra !== undefined) draft.ops.push(...delivery.extra);
    this.commits.commit(draft, [cell], (error) => {
      if (error !== undefined) return this.failed(cell, kind, delivery, error);
      delivery.finished?.();
      delivery.answer?.({
        type: 'done',
        state: draft.current(cell.key, undefined) as ActorState,
        position: draft.position,
      });
    });
  }

  private decide(draft: Draft, kind: Kind, cell: Cell, delivery: Delivery): Refusal | undefined {
    const { state } = cell;
    const { event, ended } = seenBy(delivery, state);
    if (event.type === 'xstate.stop' && state?.snapshot.status === 'active')
      return draft.end(kind, cell.id, state, event);
    if (state !== undefined && ended?.timer !== undefined) {
      const timer = own(state.timers, ended.timer);
      if (timer !== undefined && timer.target !== selfTarget) {
        draft.forward(kind, cell.id, state, event, timer.target, timer.event, ended);
        return undefined;
      }
    }
    const refusal = draft.send(kind, cell.id, state, event, ended);
    // A result or a timer that no state takes is used up all the same: XState ignores it, and so do we.
    const unused = draft.untaken || refusal?.code === 'UNKNOWN_EVENT';
    if (refusal !== undefined && unused && ended !== undefined && state !== undefined) {
      draft.overlay(kind, cell.id, state, event, {}, ended);
      return undefined;
    }
    return refusal;
  }

  private refuse(cell: Cell, kind: Kind, delivery: Delivery, refusal: Refusal): void {
    delivery.answer?.({ type: 'refused', refusal });
    // Refusals are not written; watchers hear of them as they happen
    this.kernel.progress({ kind: cell.kind, id: cell.id }, 'refusal', {
      event: delivery.event.type,
      code: refusal.code,
      message: refusal.message,
    });
    if (delivery.consume === undefined) return this.kernel.cells.release(cell);
    if (refusal.code !== 'ACTOR_HALTED') return this.drop(cell, kind, delivery);
    // A halted actor keeps its inbox; a result that finds it halted waits there too.
    if (delivery.ended?.call === undefined) {
      delivery.finished?.();
      return this.kernel.cells.release(cell);
    }
    const row: InboxRow = { event: delivery.event, ended: delivery.ended, cause: delivery.cause };
    this.write(cell, kind, delivery, [
      ...delivery.consume,
      [keys.inbox(cell.kind, cell.id, 0, `${delivery.event.type}.${delivery.cause}`), JSON.stringify(row)],
    ]);
  }

  private threw(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void {
    this.deadLetter(cell, kind, delivery, error, (problem) => this.failed(cell, kind, delivery, problem));
  }

  private drop(cell: Cell, kind: Kind, delivery: Delivery): void {
    if (delivery.consume !== undefined) return this.write(cell, kind, delivery, delivery.consume);
    delivery.finished?.();
    this.kernel.cells.release(cell);
  }

  private write(cell: Cell, kind: Kind, delivery: Delivery, ops: readonly Op[]): void {
    const draft = this.commits.draft();
    draft.ops.push(...ops);
    this.commits.commit(draft, [cell], (error) => {
      if (error !== undefined) return this.failed(cell, kind, delivery, error);
      delivery.finished?.();
    });
  }
}

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
