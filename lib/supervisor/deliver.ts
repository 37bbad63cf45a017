import type { ActorKey, Kind } from '../../actors/contracts.js';
import { system } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import type { Op } from '../store/contract.js';
import { keys } from '../store/keys.js';
import { Fifo } from './cells/actor-cell.js';
import type { Cell, Job } from './cells/actor-cells.js';
import type { Commits } from './commit.js';
import { isStale, seenBy, type Delivery, type Due, type InboxRow } from './delivery.js';
import type { ActorState } from './draft/actor-state.js';
import { own } from './draft/codec.js';
import type { Draft } from './draft/draft.js';
import { selfTarget } from '../../actors/driver.js';
import type { Failures } from './failures.js';
import type { Kernel } from './kernel.js';

/**
 * One event for one actor: takes its turn, decides, commits, answers. Everything that reaches an actor comes
 * through here: requests, messages of other actors, results of effects, timers. (Several actors at once:
 * transaction.ts.)
 */
export class Deliverer {
  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
    private readonly failures: Failures,
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
      return this.deadLetter(cell, kind, delivery, error);
    }
    if (refusal !== undefined) return this.refuse(cell, kind, delivery, refusal);
    const decided = (taken: string | undefined): void => {
      if (taken !== undefined)
        return this.deadLetter(
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

  private deadLetter(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void {
    this.failures.deadLetter(cell, kind, delivery, error, (problem) =>
      this.failed(cell, kind, delivery, problem),
    );
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

/**
 * The way of the kernel's own work to its actors: messages, timers and results of effects. None is ever
 * refused; what lies in the store anyway waits for room.
 */
export class Dispatch {
  private readonly posts = new Fifo<{ readonly to: ActorKey; readonly delivery: Delivery }>();
  /** Unknown kinds that were reported. */
  private readonly unknown = new Set<string>();

  constructor(
    private readonly kernel: Kernel,
    private readonly deliverer: Deliverer,
  ) {
    kernel.intake.add(() => this.postNext());
  }

  /** At once. */
  deliver(to: ActorKey, delivery: Delivery): void {
    const kind = this.kernel.kinds.find(to.kind);
    if (kind !== undefined) return this.deliverer.deliver(kind, to.id, delivery, true);
    delivery.finished?.();
    if (this.unknown.has(to.kind)) return;
    this.unknown.add(to.kind);
    this.kernel.fault(
      `a message for the unknown kind "${to.kind}" stays in the inbox of ${to.id}`,
      new TypeError('unknown kind'),
    );
  }

  /** Messages of one step may be thousands, for as many actors: in their order, as there is room. */
  post(to: ActorKey, delivery: Delivery): void {
    if (this.posts.length === 0 && this.kernel.intake.room) return this.admit(to, delivery);
    this.posts.push({ to, delivery });
    this.kernel.intake.check();
  }

  private postNext(): boolean {
    const next = this.posts.shift();
    if (next !== undefined) this.admit(next.to, next.delivery);
    return next !== undefined;
  }

  /** Work that lies in the store; counted where it wakes someone, for free where it only queues. */
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

  /** A timer of the wheel; one that was set again meanwhile is stale. */
  fire({ kind, id, timer, due }: Due): void {
    this.admit(
      { kind, id },
      {
        event: { type: 'kernel.timer' },
        by: system('timer'),
        cause: 'timer',
        consume: [[keys.timer(due, kind, id, timer), null]],
        ended: { timer },
        fresh: (state) => state.timers[timer]?.due === due,
      },
    );
  }
}
