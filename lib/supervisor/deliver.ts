import type { AnyEventObject } from 'xstate';
import type { ActorKey, Kind } from '../../actors/contracts.js';
import { system, type Caller } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import type { Op } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { Births } from './births.js';
import type { Cell, Cells, Job } from './cells.js';
import type { PlannedStep } from './contract.js';
import { selfTarget } from './driver.js';
import type { Ended } from './interpret.js';
import type { Live } from './live.js';
import { Stage, type StageHouse } from './stage.js';

/**
 * One event for one actor: takes its turn, decides, commits, answers. Everything that reaches an actor comes
 * through here: requests, messages of other actors, results of effects, timers. (Plans over several actors: turns.ts.)
 */
export interface Delivery {
  readonly event: AnyEventObject;
  readonly by: Caller;
  readonly cause: number | string | null;
  /** Rows that this event uses up: its inbox, outbox or timer row. */
  readonly consume?: readonly Op[];
  /** The effect or timer that this event ends. */
  readonly ended?: Ended;
  /** Written with the step and with nothing else (an idempotency row). */
  readonly extra?: readonly Op[];
  /** False: the event is stale (a timer that was set anew, a result of an earlier generation) and is dropped. */
  readonly fresh?: (live: Live) => boolean;
  readonly rehearse?: boolean;
  readonly answer?: (outcome: Outcome) => void;
  /** The delivery has come to its end: committed, dropped, or left to lie in the inbox of a halted actor. */
  readonly finished?: () => void;
}

export type Outcome =
  | { readonly type: 'done'; readonly live: Live; readonly seq: number }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  | { readonly type: 'rehearsed'; readonly live: Live; readonly steps: readonly PlannedStep[] }
  | { readonly type: 'failed'; readonly error: unknown };

interface House extends StageHouse {
  readonly cells: Cells;
  readonly births: Births;
  now(): number;
  steady(): number;
  commit(stage: Stage, cells: readonly Cell[], settled: (error?: unknown) => void): void;
  poisoned(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void;
  refused(cell: Cell, delivery: Delivery, refusal: Refusal): void;
}

export class Deliverer {
  constructor(private readonly house: House) {}

  /** Urgent deliveries (results, timers, messages already stored) are never turned away by a full mailbox. */
  deliver(kind: Kind, id: string, delivery: Delivery, urgent = false): void {
    const taken = this.house.cells.enter(kind.kind, id, this.job(kind, delivery, urgent));
    if (!taken) delivery.answer?.({ type: 'refused', refusal: refuse('BUSY', { kind: kind.kind, id }, `Too many events wait for the ${kind.kind} ${id} already.`) });
  }

  /** A write failed. What lies in the store anyway (a message, a result, a timer) is tried again; a request is answered. */
  failed(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void {
    if (delivery.consume !== undefined) this.house.cells.postpone(cell, this.job(kind, delivery, true), error);
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
    const stage = new Stage(this.house.now(), this.house.steady(), delivery.by, delivery.cause, this.house);
    let refusal: Refusal | undefined;
    try {
      refusal = this.decide(stage, kind, cell, delivery);
    } catch (error) {
      return this.house.poisoned(cell, kind, delivery, error);
    }
    if (refusal !== undefined) return this.refuse(cell, kind, delivery, refusal);
    if (delivery.rehearse === true) {
      delivery.answer?.({ type: 'rehearsed', live: stage.current(cell.key, live) as Live, steps: stage.steps });
      return this.house.cells.release(cell);
    }
    this.house.births.claim(stage, [cell], (taken) => {
      if (taken === undefined) return this.commit(stage, cell, kind, delivery);
      this.house.poisoned(cell, kind, delivery, new TypeError(`it wanted to create ${taken.slice(2)}, which lives already`));
    }, (error) => {
      this.failed(cell, kind, delivery, error);
      this.house.cells.release(cell);
    });
  }

  private commit(stage: Stage, cell: Cell, kind: Kind, delivery: Delivery): void {
    if (delivery.consume !== undefined) stage.ops.push(...delivery.consume);
    if (delivery.extra !== undefined) stage.ops.push(...delivery.extra);
    this.house.commit(stage, [cell], (error) => {
      if (error !== undefined) return this.failed(cell, kind, delivery, error);
      delivery.finished?.();
      delivery.answer?.({ type: 'done', live: stage.current(cell.key, undefined) as Live, seq: stage.tx });
    });
  }

  private decide(stage: Stage, kind: Kind, cell: Cell, delivery: Delivery): Refusal | undefined {
    const { live } = cell;
    const { event, ended } = seenBy(delivery, live);
    if (event.type === 'xstate.stop' && live?.snapshot.status === 'active') return stage.end(kind, cell.id, live, event);
    if (live !== undefined && ended?.timer !== undefined) {
      const timer = live.timers[ended.timer];
      if (timer !== undefined && timer.target !== selfTarget) {
        stage.forward(kind, cell.id, live, event, timer.target, timer.event, ended);
        return undefined;
      }
    }
    const facts = live === undefined ? undefined : this.house.facts(kind, live, event);
    const refusal = stage.send(kind, cell.id, live, event, facts, ended);
    // A result or a timer that no state takes is used up all the same: XState ignores it, and so do we.
    if (refusal?.code === 'UNKNOWN_EVENT' && ended !== undefined && live !== undefined) {
      stage.overlay(kind, cell.id, live, event, {}, ended);
      return undefined;
    }
    return refusal;
  }

  private refuse(cell: Cell, kind: Kind, delivery: Delivery, refusal: Refusal): void {
    delivery.answer?.({ type: 'refused', refusal });
    this.house.refused(cell, delivery, refusal);
    if (delivery.consume === undefined) return this.house.cells.release(cell);
    if (refusal.code !== 'ACTOR_HALTED') return this.drop(cell, kind, delivery);
    // A halted actor keeps its inbox; a result that finds it halted waits there too.
    if (delivery.ended?.call === undefined) {
      delivery.finished?.();
      return this.house.cells.release(cell);
    }
    const row: InboxRow = { event: delivery.event, ended: delivery.ended, cause: delivery.cause };
    this.write(cell, kind, delivery, [...delivery.consume, [keys.inbox(cell.kind, cell.id, 0, `${delivery.event.type}.${delivery.cause}`), JSON.stringify(row)]]);
  }

  private drop(cell: Cell, kind: Kind, delivery: Delivery): void {
    if (delivery.consume !== undefined) return this.write(cell, kind, delivery, delivery.consume);
    delivery.finished?.();
    this.house.cells.release(cell);
  }

  private write(cell: Cell, kind: Kind, delivery: Delivery, ops: readonly Op[]): void {
    const stage = new Stage(this.house.now(), this.house.steady(), system('kernel'), null, this.house);
    stage.ops.push(...ops);
    this.house.commit(stage, [cell], (error) => {
      if (error !== undefined) return this.failed(cell, kind, delivery, error);
      delivery.finished?.();
    });
  }
}

/** What the machine will see: the timer's own event, a child's end in XState's words. */
export function seenBy({ event, ended }: Delivery, live: Live | undefined): { readonly event: AnyEventObject; readonly ended: Ended | undefined } {
  if (event.type === 'kernel.child-ended') {
    const child = nameOf(event, live);
    return { event: childEnd(event, child ?? '?'), ended: child === undefined ? undefined : { child } };
  }
  const timer = ended?.timer === undefined ? undefined : live?.timers[ended.timer];
  return { event: timer?.target === selfTarget ? timer.event : event, ended };
}

/** The name under which the machine knows a child. */
function nameOf(event: AnyEventObject, live: Live | undefined): string | undefined {
  const { kind, id } = event['child'] as ActorKey;
  return Object.entries(live?.children ?? {}).find(([, known]) => known.kind === kind && known.id === id)?.[0];
}

/** The end of a child that is none any more is nobody's business: XState would take a late error for its own. */
function isStale({ event, fresh }: Delivery, live: Live): boolean {
  return fresh?.(live) === false || (event.type === 'kernel.child-ended' && nameOf(event, live) === undefined);
}

/** A durable child's end, in the words that XState uses for the end of a child. */
const childEnd = (event: AnyEventObject, actorId: string): AnyEventObject => event['status'] === 'done'
  ? { type: `xstate.done.actor.${actorId}`, output: event['output'] ?? undefined, actorId }
  : { type: `xstate.error.actor.${actorId}`, error: event['error'], actorId };

/** An inbox row as stored. */
export interface InboxRow {
  readonly event: AnyEventObject;
  readonly from?: { readonly kind: string; readonly id: string };
  readonly cause: number | string | null;
  readonly ended?: Ended;
  /** Whose word it is, where that is not the sender's (a retried dead letter keeps its caller's authority, no more). */
  readonly by?: Caller;
}

/** Whose word a stored message is: the sending actor's. */
export const senderOf = (row: InboxRow): Caller => system(row.from === undefined ? 'kernel' : `${row.from.kind}:${row.from.id}`);
