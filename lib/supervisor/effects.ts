import type { ActorKey, Hand, HandContext, Kind } from '../../actors/contracts.js';
import type { Json } from '../../machines/ground.js';
import { deeperThan } from '../../machines/json-depth.js';
import { keys } from '../store/keys.js';
import { errorData, type Start } from './interpret.js';

/**
 * Runs the hands of effects whose start is committed, and brings their results back as events. A result is one
 * commit: the outbox row goes and the machine steps in the same batch.
 */
export interface OutboxRow {
  readonly callId: string;
  readonly src: string;
  readonly input: Json;
  /** The durable intent of a fenced effect; once it is there the effect may have acted. */
  readonly note?: Json;
}

interface House {
  /** Write one outbox row (null: take it away); resolves after the commit. */
  write(key: string, row: OutboxRow | null): Promise<void>;
  /** Deliver a result; the outbox row goes with it. */
  settle(actor: ActorKey, start: Start, outboxKey: string, event: { type: string }): void;
  tell(actor: ActorKey, event: { readonly type: string }, cause: string): Promise<void>;
  progress(actor: ActorKey, event: string, payload: Json): void;
  rows(actor: ActorKey, collection: string, last: number | undefined): Promise<readonly Json[]>;
  fault(what: string, error: unknown): void;
}

type AbortReason = 'left' | 'stopping' | 'restarting';
const sentences: Record<AbortReason, string> = { left: 'the actor left the state', stopping: 'the supervisor is stopping', restarting: 'the actor is restarted' };

interface Running {
  readonly controller: AbortController;
  readonly listeners: ((event: { readonly type: string }) => void)[];
  reason: AbortReason | undefined;
  /** A fenced effect with a note may have acted. */
  noted: boolean;
  readonly settled: Promise<void>;
}

export class Effects {
  private readonly running = new Map<string, Running>();
  private stopping = false;

  constructor(private readonly house: House) {}

  get inFlight(): number { return this.running.size; }

  /** Start an effect. `note` is there when an earlier process may have acted already: then it recovers instead. */
  start(kind: Kind, actor: ActorKey, start: Start, note?: Json): Promise<void> {
    const hand = kind.hands?.[start.src];
    if (hand === undefined || this.stopping) return Promise.resolve(); // its row stays; the next boot takes it up
    return this.launch(hand, actor, start, note, false);
  }

  /** Clean up after an effect whose state was left while the process that ran it died. */
  sweep(kind: Kind, actor: ActorKey, start: Start, note: Json | undefined): Promise<void> {
    const hand = kind.hands?.[start.src];
    if (hand?.fence === true && note !== undefined) return this.launch(hand, actor, start, note, true);
    return this.house.write(keys.outbox(actor.kind, actor.id, start.key), null);
  }

  /** The machine left the invoking state. */
  leave(actor: ActorKey, key: string): void {
    this.abort(this.running.get(keys.outbox(actor.kind, actor.id, key)), 'left');
  }

  /** Abort an effect that is to run anew, and wait until it has settled. */
  async halt(actor: ActorKey, key: string): Promise<void> {
    const running = this.running.get(keys.outbox(actor.kind, actor.id, key));
    this.abort(running, 'restarting');
    await running?.settled;
  }

  signal(actor: ActorKey, key: string, event: { readonly type: string }): void {
    const running = this.running.get(keys.outbox(actor.kind, actor.id, key));
    for (const listener of running?.listeners ?? []) {
      try { listener(event); } catch (error) { this.house.fault(`an effect of ${actor.kind} ${actor.id} threw in its listener`, error); }
    }
  }

  /** Abort everything and wait until the hands have settled, at most `ms`. */
  async stop(deadline: Promise<void>): Promise<void> {
    this.stopping = true;
    const all = [...this.running.values()];
    for (const running of all) this.abort(running, 'stopping');
    await Promise.race([Promise.all(all.map((running) => running.settled)), deadline]);
  }

  private abort(running: Running | undefined, reason: AbortReason): void {
    if (running === undefined || running.reason !== undefined) return;
    running.reason = reason;
    running.controller.abort(new Error(sentences[reason]));
  }

  private launch(hand: Hand, actor: ActorKey, start: Start, note: Json | undefined, left: boolean): Promise<void> {
    const outboxKey = keys.outbox(actor.kind, actor.id, start.key);
    const row: OutboxRow = { callId: start.callId, src: start.src, input: start.input };
    const controller = new AbortController();
    const listeners: Running['listeners'] = [];
    const finished = (event: { type: string }): void => this.finished(actor, start, outboxKey, hand, event);
    const context = this.contextOf(actor, start, outboxKey, row, controller, listeners);
    const settled = Promise.resolve() // a hand that throws at once is a hand that rejects
      .then(() => note !== undefined && hand.fence ? hand.recover(start.input, note, context) : hand.run(start.input, context))
      .then(json) // what is no data is the hand's error
      .then(
        (output) => finished({ type: `xstate.done.actor.${start.callId}`, output, actorId: start.callId } as { type: string }),
        (error: unknown) => finished({ type: `xstate.error.actor.${start.callId}`, error: errorData(error), actorId: start.callId } as { type: string }),
      )
      .catch((error: unknown) => this.house.fault(`the effect ${outboxKey} could not be settled`, error));
    this.running.set(outboxKey, { controller, listeners, reason: undefined, noted: note !== undefined, settled });
    if (left) this.abort(this.running.get(outboxKey), 'left');
    return settled;
  }

  private finished(actor: ActorKey, start: Start, outboxKey: string, hand: Hand, event: { type: string }): void {
    const { reason, noted } = this.running.get(outboxKey) as Running;
    this.running.delete(outboxKey);
    if (reason === 'left') {
      if (hand.fence) this.house.write(outboxKey, null).catch((error: unknown) => this.house.fault(`the row ${outboxKey} could not be removed`, error));
      return;
    }
    if (reason === 'restarting') return;
    // What was cut off by the stop and may run again does so at the next boot, under the same key.
    if (reason === 'stopping' && (hand.fence ? !noted : event.type.startsWith('xstate.error.'))) return;
    this.house.settle(actor, start, outboxKey, event);
  }

  private contextOf(actor: ActorKey, start: Start, outboxKey: string, row: OutboxRow, controller: AbortController, listeners: Running['listeners']): HandContext {
    return {
      key: outboxKey.slice(2), actor, signal: controller.signal,
      reason: () => this.running.get(outboxKey)?.reason,
      send: (event) => this.house.tell(actor, event, `effect:${start.src}`),
      note: (note) => {
        const running = this.running.get(outboxKey);
        if (running !== undefined) running.noted = true;
        return this.house.write(outboxKey, { ...row, note });
      },
      progress: (event, payload) => this.house.progress(actor, event, payload),
      onEvent: (listener) => { listeners.push(listener); },
      rows: (collection, options) => this.house.rows(actor, collection, options?.last),
    };
  }
}

const depthMax = 200;

/** What a hand returns becomes part of an event, and events are data. */
function json(output: unknown): Json | undefined {
  if (output === undefined) return undefined;
  if (deeperThan(output, depthMax)) throw new RangeError(`The outcome is nested deeper than ${depthMax}.`); // no snapshot could hold it
  return JSON.parse(JSON.stringify(output)) as Json;
}
