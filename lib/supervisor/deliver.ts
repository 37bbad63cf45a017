import type { AnyEventObject } from 'xstate';
import type { ActorKey, Kind } from '../../actors/contracts.js';
import { system, type Causes, type Caller } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import type { Json } from '../../machines/outputs.js';
import type { Op } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { IdReservations } from './id-reservations.js';
import type { Cell, ActorCells, Job } from './cells/actor-cells.js';
import type { PlannedStep } from './contract.js';
import { selfTarget } from './draft/step.js';
import type { Ended } from './draft/actions.js';
import type { ActorState } from './draft/actor-state.js';
import { own } from './draft/codec.js';
import { Draft, type DraftKernel } from './draft/draft.js';
import { Fifo } from './cells/actor-cell.js';
import type { Intake } from './cells/intake.js';

/**
 * One event for one actor: takes its turn, decides, commits, answers. Everything that reaches an actor comes
 * through here: requests, messages of other actors, results of effects, timers. (Several actors at once:
 * transaction.ts.)
 */
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
   * False: the event is stale (a timer that was set anew, a result of an earlier generation) and is dropped.
   */
  readonly fresh?: (live: ActorState) => boolean;
  readonly rehearse?: boolean;
  readonly answer?: (outcome: Outcome) => void;
  /** The delivery has come to its end: committed, dropped, or left to lie in the inbox of a halted actor. */
  readonly finished?: () => void;
}

export type Outcome =
  | { readonly type: 'done'; readonly live: ActorState; readonly seq: number }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  | { readonly type: 'rehearsed'; readonly live: ActorState; readonly steps: readonly PlannedStep[] }
  | { readonly type: 'failed'; readonly error: unknown };

interface KernelParts extends DraftKernel {
  readonly cells: ActorCells;
  readonly reservations: IdReservations;
  now(): number;
  steady(): number;
  commit(draft: Draft, cells: readonly Cell[], settled: (error?: unknown) => void): void;
  deadLettered(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void;
  refused(cell: Cell, delivery: Delivery, refusal: Refusal): void;
}

export class Deliverer {
  constructor(private readonly kernel: KernelParts) {}

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
    const { live } = cell;
    if (live !== undefined && isStale(delivery, live)) return this.drop(cell, kind, delivery);
    const draft = new Draft(
      this.kernel.now(),
      this.kernel.steady(),
      delivery.by,
      delivery.cause,
      this.kernel,
      delivery.onBehalfOf,
    );
    // First what the event uses up: its step may write the same row anew (a timer set for the same moment)
    if (delivery.consume !== undefined) draft.ops.push(...delivery.consume);
    let refusal: Refusal | undefined;
    try {
      refusal = this.decide(draft, kind, cell, delivery);
    } catch (error) {
      return this.kernel.deadLettered(cell, kind, delivery, error);
    }
    if (refusal !== undefined) return this.refuse(cell, kind, delivery, refusal);
    const decided = (taken: string | undefined): void => {
      if (taken !== undefined)
        return this.kernel.deadLettered(
          cell,
          kind,
          delivery,
          new TypeError(`it tried to create ${taken.slice(2)}, which already exists`),
        );
      if (delivery.rehearse !== true) return this.commit(draft, cell, kind, delivery);
      delivery.answer?.({
        type: 'rehearsed',
        live: draft.current(cell.key, live) as ActorState,
        steps: draft.steps,
      });
      this.kernel.cells.release(cell);
    };
    const unread = (error: unknown): void => {
      this.failed(cell, kind, delivery, error);
      this.kernel.cells.release(cell);
    };
    if (delivery.rehearse === true) this.kernel.reservations.look(draft, [cell], decided, unread);
    else this.kernel.reservations.claim(draft, [cell], decided, unread);
  }

  private commit(draft: Draft, cell: Cell, kind: Kind, delivery: Delivery): void {
    if (delivery.extra !== undefined) draft.ops.push(...delivery.extra);
    this.kernel.commit(draft, [cell], (error) => {
      if (error !== undefined) return this.failed(cell, kind, delivery, error);
      delivery.finished?.();
      delivery.answer?.({
        type: 'done',
        live: draft.current(cell.key, undefined) as ActorState,
        seq: draft.tx,
      });
    });
  }

  private decide(draft: Draft, kind: Kind, cell: Cell, delivery: Delivery): Refusal | undefined {
    const { live } = cell;
    const { event, ended } = seenBy(delivery, live);
    if (event.type === 'xstate.stop' && live?.snapshot.status === 'active')
      return draft.end(kind, cell.id, live, event);
    if (live !== undefined && ended?.timer !== undefined) {
      const timer = own(live.timers, ended.timer);
      if (timer !== undefined && timer.target !== selfTarget) {
        draft.forward(kind, cell.id, live, event, timer.target, timer.event, ended);
        return undefined;
      }
    }
    const facts = live === undefined ? undefined : this.kernel.facts(kind, live, event);
    const refusal = draft.send(kind, cell.id, live, event, facts, ended);
    // A result or a timer that no state takes is used up all the same: XState ignores it, and so do we.
    const unused = draft.untaken || refusal?.code === 'UNKNOWN_EVENT';
    if (refusal !== undefined && unused && ended !== undefined && live !== undefined) {
      draft.overlay(kind, cell.id, live, event, {}, ended);
      return undefined;
    }
    return refusal;
  }

  private refuse(cell: Cell, kind: Kind, delivery: Delivery, refusal: Refusal): void {
    delivery.answer?.({ type: 'refused', refusal });
    this.kernel.refused(cell, delivery, refusal);
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

  private drop(cell: Cell, kind: Kind, delivery: Delivery): void {
    if (delivery.consume !== undefined) return this.write(cell, kind, delivery, delivery.consume);
    delivery.finished?.();
    this.kernel.cells.release(cell);
  }

  private write(cell: Cell, kind: Kind, delivery: Delivery, ops: readonly Op[]): void {
    const draft = new Draft(this.kernel.now(), this.kernel.steady(), system('kernel'), null, this.kernel);
    draft.ops.push(...ops);
    this.kernel.commit(draft, [cell], (error) => {
      if (error !== undefined) return this.failed(cell, kind, delivery, error);
      delivery.finished?.();
    });
  }
}

/** What the machine will see: the timer's own event, a child's end in XState's words. */
export function seenBy(
  { event, ended }: Delivery,
  live: ActorState | undefined,
): { readonly event: AnyEventObject; readonly ended: Ended | undefined } {
  if (event.type === 'kernel.child-ended') {
    const child = nameOf(event, live);
    return { event: childEnd(event, child ?? '?'), ended: child === undefined ? undefined : { child } };
  }
  const timer = ended?.timer === undefined || live === undefined ? undefined : own(live.timers, ended.timer);
  return { event: timer?.target === selfTarget ? timer.event : event, ended };
}

/** The name under which the machine knows a child. */
function nameOf(event: AnyEventObject, live: ActorState | undefined): string | undefined {
  const { kind, id } = event['child'] as ActorKey;
  return Object.entries(live?.children ?? {}).find(
    ([, known]) => known.kind === kind && known.id === id,
  )?.[0];
}

/**
 * The end of a child that is none any more is nobody's business: XState would take a late error for its own.
 */
function isStale({ event, fresh }: Delivery, live: ActorState): boolean {
  return (
    fresh?.(live) === false || (event.type === 'kernel.child-ended' && nameOf(event, live) === undefined)
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

/** What it needs of the kernel. */
interface Parts {
  readonly cells: ActorCells;
  readonly deliverer: Deliverer;
  readonly intake: Intake;
  knows(kind: string): boolean;
  kind(name: string): Kind;
  fault(what: string, error: unknown): Error;
}

/**
 * The way of the kernel's own work to its actors: messages, timers and results of effects. None is ever
 * refused; what lies in the store anyway waits for room.
 */
export class Dispatch {
  private readonly posts = new Fifo<{ readonly to: ActorKey; readonly delivery: Delivery }>();
  /** Unknown kinds that were reported. */
  private readonly strange = new Set<string>();

  constructor(private readonly kernel: Parts) {
    kernel.intake.add(() => this.postNext());
  }

  /** At once. */
  deliver(to: ActorKey, delivery: Delivery): void {
    const kind = this.kernel.knows(to.kind) ? this.kernel.kind(to.kind) : undefined;
    if (kind !== undefined) return this.kernel.deliverer.deliver(kind, to.id, delivery, true);
    delivery.finished?.();
    if (this.strange.has(to.kind)) return;
    this.strange.add(to.kind);
    this.kernel.fault(
      `a message for the unknown kind "${to.kind}" stays in the inbox of ${to.id}`,
      new TypeError('unknown kind'),
    );
  }

  /** Messages of one step may be thousands, for as many actors: in their order, as there is room. */
  post(to: ActorKey, delivery: Delivery): void {
    if (this.posts.length === 0 && this.kernel.intake.room) return this.admit(to, delivery);
    this.posts.push({ to, delivery });
    this.kernel.intake.look();
  }

  private postNext(): boolean {
    const next = this.posts.shift();
    if (next !== undefined) this.admit(next.to, next.delivery);
    return next !== undefined;
  }

  /** Work that lies in the store; counted where it wakes somebody, for free where it only queues. */
  admit(to: ActorKey, delivery: Delivery): void {
    if (!this.kernel.cells.isResting(to.kind, to.id)) return this.deliver(to, delivery);
    const through = this.kernel.intake.begin();
    const { finished } = delivery;
    this.deliver(to, {
      ...delivery,
      finished: () => {
        finished?.();
        through();
      },
    });
  }
}
