import type { AnyEventObject } from 'xstate';
import type { ActorKey, IndexRow, Kind, Stamp } from '../../actors/contracts.js';
import type { Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import type { Op } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { PlannedStep } from './contract.js';
import { begin, persist, step, type Step } from './driver.js';
import { encodeState } from './codec.js';
import { interpret, type Asked, type Ended } from './interpret.js';
import { metaOf, noFailures, type Live } from './live.js';
import { draftEntry, type EntryDraft } from './entry.js';
import { leave, move, placesOf } from './places.js';

/**
 * One commit in the making: steps actors on their committed revisions and collects everything that must be written
 * in one batch. Nothing here is visible to anybody until the committer has written it; a stage that is thrown away
 * has changed nothing.
 */
export class Stage {
  /** Revisions that this commit leads to, by actor. */
  readonly next = new Map<string, Staged>();
  /** Operations that do not depend on the log position. */
  readonly ops: Op[] = [];
  readonly entries: EntryDraft[] = [];
  readonly asked: Asked[] = [];
  readonly steps: PlannedStep[] = [];
  /** Changes of tallies, by key. */
  readonly tallies = new Map<string, number>();
  /** Keys of the records that this commit creates. */
  readonly births: string[] = [];
  /** Log position of the first entry; set by the committer. */
  tx = 0;

  constructor(
    /** Wall time for `at` stamps and steady time for timers, epoch ms. */
    readonly at: number,
    readonly steady: number,
    readonly by: Caller,
    readonly cause: number | string | null,
    private readonly house: StageHouse,
  ) {}

  /** The revision as of now within this commit. */
  current(key: string, committed: Live | undefined): Live | undefined {
    return this.next.get(key)?.live ?? committed;
  }

  /** Step an actor. `undefined`: done. A refusal has changed nothing. Throws what the machine throws. */
  send(kind: Kind, id: string, committed: Live | undefined, event: AnyEventObject, facts: Json | undefined, ended?: Ended): Refusal | undefined {
    const key = keys.actor(kind.kind, id);
    const live = this.current(key, committed);
    if (live === undefined) return notFound(kind.kind, id);
    if (live.halted !== null) return refuse('ACTOR_HALTED', { kind: kind.kind, id, reason: live.halted.reason });
    if (live.snapshot.status !== 'active') {
      return refuse('CONFLICT', { kind: kind.kind, id }, `The ${kind.kind} ${id} has ended and takes no events.`);
    }
    const stamped = this.stamped(event, facts);
    // Results and timers of the actor's own making are facts, not requests: nobody may refuse them.
    const refusal = event.type.startsWith('xstate.') ? undefined : kind.policy?.(live.snapshot, stamped as never);
    if (refusal !== undefined) return refusal;
    const taken = step(kind.machine, live.snapshot, stamped);
    if (!taken.taken) {
      return refuse('UNKNOWN_EVENT', { event: event.type, state: live.snapshot.value },
        `The ${kind.kind} ${id} does not take "${event.type}" in its state ${JSON.stringify(live.snapshot.value)}.`);
    }
    this.put(kind, id, live, taken, stamped, live.parent, ended);
    return undefined;
  }

  create(kind: Kind, id: string, input: Json, parent: ActorKey | null, facts: Json | undefined): Refusal | undefined {
    const key = keys.actor(kind.kind, id);
    if (this.next.has(key)) return refuse('EXISTS', { kind: kind.kind, id }, `There is a ${kind.kind} ${id} already.`);
    const given = this.stamped<Record<string, Json> & { id: string }>({ id, ...(input as Record<string, Json>) }, facts);
    given.id = id; // whatever the input says
    const refusal = kind.admit?.(given);
    if (refusal !== undefined) return refusal;
    const first = begin(kind.machine, given);
    this.births.push(key);
    if (parent !== null) this.ops.push([keys.child(parent.kind, parent.id, kind.kind, id), '{}']);
    this.put(kind, id, undefined, first, { type: 'kernel.created', input: given, at: this.at, by: this.by }, parent);
    return undefined;
  }

  /** Does without its machine what a delayed message to another actor asks for: the timer goes, the message is sent. */
  forward(kind: Kind, id: string, live: Live, event: AnyEventObject, target: string, message: AnyEventObject, ended: Ended): void {
    const still: Step = { snapshot: live.snapshot, actions: [{ type: 'send', target, event: message }], taken: true };
    this.put(kind, id, live, still, this.stamped(event), live.parent, ended);
  }

  /** The parent no longer wants this actor: it ends where it stands; its effects and timers go. */
  end(kind: Kind, id: string, live: Live, event: AnyEventObject): undefined {
    const stopped = { ...live.snapshot, status: 'stopped' } as typeof live.snapshot;
    this.put(kind, id, live, { snapshot: stopped, actions: [], taken: true }, this.stamped(event), live.parent);
  }

  /** Change what the kernel itself keeps about an actor (failures, halt) without a step of its machine. */
  overlay(kind: Kind, id: string, live: Live, event: AnyEventObject, change: Partial<Pick<Live, 'failures' | 'halted'>>, ended?: Ended): void {
    const still: Step = { snapshot: live.snapshot, actions: [], taken: true };
    this.put(kind, id, { ...live, ...change }, still, this.stamped(event), live.parent, ended);
  }

  /** Nothing of an ended actor stays but its log. */
  forget(kind: Kind, id: string, live: Live): void {
    this.ops.push([keys.actor(kind.kind, id), null]);
    if (live.parent !== null) this.ops.push([keys.child(live.parent.kind, live.parent.id, kind.kind, id), null]);
    leave(kind.kind, id, live.places, this.ops, this.tallies);
    this.index(kind, id, live, undefined);
    this.count(kind, id, live, undefined);
  }

  /**
   * With time, caller and facts. They stand before the spread, and are set again behind it: to V8 a member that is new
   * behind a spread costs half a microsecond, one that is there already nothing.
   */
  private stamped<Members extends object>(members: Members, facts?: Json): Members & Stamp {
    const { at, by } = this;
    const all = facts === undefined ? { at, by, ...members } : { at, by, facts, ...members };
    all.at = at;
    all.by = by;
    if (facts !== undefined) (all as { facts?: Json }).facts = facts;
    return all;
  }

  private put(kind: Kind, id: string, before: Live | undefined, taken: Step, event: AnyEventObject, parent: ActorKey | null, ended?: Ended): void {
    const key = keys.actor(kind.kind, id);
    const persisted = persist(kind.machine, taken.snapshot);
    const state = encodeState(persisted);
    if (state.length > this.house.snapshotBytesMax) {
      throw new RangeError(`the snapshot of ${kind.kind} ${id} would have ${state.length} characters; at most ${this.house.snapshotBytesMax} are allowed: keep what grows in rows`);
    }
    const rev = (before?.rev ?? 0) + 1;
    const asked = interpret({ kind, id, rev, before, actions: taken.actions, steady: this.steady, parent, ended, outcome: taken.snapshot });
    this.ops.push(...asked.ops);
    this.asked.push(asked);
    // A difference is worth nothing when the whole snapshot below it has fallen under the retention floor.
    const whole = before === undefined || before.sinceBase >= 31 || before.base <= this.house.logFloor;
    const live: Live = {
      rev, seq: 0, base: before?.base ?? 0, sinceBase: whole ? 0 : before.sinceBase + 1,
      createdAt: before?.createdAt ?? this.at, updatedAt: this.at, parent,
      snapshot: taken.snapshot, timers: asked.timers, calls: asked.calls, children: asked.children,
      failures: before?.failures ?? noFailures, halted: before?.halted ?? null,
      places: placesOf(taken.snapshot.value as Json, before?.halted ?? null, before?.places, this.at),
    };
    move(kind.kind, id, before?.places, live.places, this.ops, this.tallies);
    if (kind.forgetAfterMs !== undefined && live.snapshot.status !== 'active' && (before === undefined || before.snapshot.status === 'active')) {
      this.ops.push([keys.expiry(this.at + kind.forgetAfterMs, key), '1']);
    }
    this.index(kind, id, before, live);
    this.count(kind, id, before, live);
    this.entries.push(draftEntry({ kind, id, before, live, event, state, persisted, whole, asked, cause: this.cause, by: this.by, at: this.at }));
    this.next.set(key, { kind, id, key, live, state });
    for (const { child, input } of asked.births) this.bear(child, input, { kind: kind.kind, id });
    this.steps.push({ kind: kind.kind, id, from: (before?.snapshot.value ?? null) as Json, to: taken.snapshot.value as Json, effects: asked.effects });
  }

  /** A child that a machine spawned is born in the same commit; whoever refuses it refuses the whole step. */
  private bear(child: ActorKey, input: Json, parent: ActorKey): void {
    const kind = this.house.kind(child.kind);
    const refusal = this.create(kind, child.id, input, parent, this.house.facts(kind, undefined, { type: 'kernel.created' }));
    if (refusal !== undefined) throw new TypeError(`the child ${child.kind} ${child.id} was refused: ${refusal.message}`);
  }

  private count(kind: Kind, id: string, before: Live | undefined, after: Live | undefined): void {
    if (kind.counts === undefined) return;
    const own = { kind: kind.kind, id };
    const old = before === undefined ? [] : kind.counts(before.snapshot, metaOf(own, before));
    const now = after === undefined ? [] : kind.counts(after.snapshot, metaOf(own, after));
    for (const name of old) if (!now.includes(name)) this.tally(kind, name, -1);
    for (const name of now) if (!old.includes(name)) this.tally(kind, name, 1);
  }

  private tally(kind: Kind, name: string, change: number): void {
    const key = keys.count(kind.kind, name);
    this.tallies.set(key, (this.tallies.get(key) ?? 0) + change);
  }

  private index(kind: Kind, id: string, before: Live | undefined, after: Live | undefined): void {
    if (kind.index === undefined) return;
    const own = { kind: kind.kind, id };
    const old = before === undefined ? [] : kind.index(before.snapshot, metaOf(own, before));
    const now = after === undefined ? [] : kind.index(after.snapshot, metaOf(own, after));
    const place = ({ index, key }: IndexRow): string => keys.list(kind.kind, index, key, id);
    for (const row of old) if (!now.some((other) => samePlace(row, other))) this.ops.push([place(row), null]);
    for (const row of now) {
      const text = textOf(row);
      const earlier = old.find((other) => samePlace(row, other));
      if (earlier === undefined || textOf(earlier) !== text) this.ops.push([place(row), text]);
    }
  }
}

/** What a stage must know of the house around it. */
export interface StageHouse {
  readonly snapshotBytesMax: number;
  /** Log entries at or below this position are gone. */
  readonly logFloor: number;
  kind(name: string): Kind;
  facts(kind: Kind, live: Live | undefined, event: { readonly type: string }): Json | undefined;
}

export interface Staged {
  readonly kind: Kind;
  readonly id: string;
  readonly key: string;
  /** The committer fills in the log position. */
  live: Live;
  readonly state: string;
}

const samePlace = (a: IndexRow, b: IndexRow): boolean => a.key === b.key && a.index === b.index;
const textOf = ({ row }: IndexRow): string => row === undefined ? '1' : JSON.stringify(row);

export const notFound = (kind: string, id: string): Refusal => refuse('NOT_FOUND', { kind, id }, `There is no ${kind} ${id}.`);
