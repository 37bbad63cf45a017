import type { AnyEventObject } from 'xstate';
import type { ActorKey, Kind } from '../../../actors/contracts.js';
import type { Step } from '../../../actors/driver.js';
import { callerName, type Causes, type Caller } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { explained, isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { checkedEvent, checkedInput } from './schemas.js';
import type { Op } from '../../store/contract.js';
import { keys } from '../../store/keys.js';
import type { PlannedStep } from '../contract.js';
import type { Kernel } from '../kernel.js';
import { xstate5 } from './driver.js';
import { encodeState } from './codec.js';
import { invalidId, notFound, stateRefusal, judge, judgeInput, stamped } from './admission.js';
import { requestedActions, type RequestedActions, type Ended } from './actions.js';
import { noFailures, type ActorState } from './actor-state.js';
import { draftEntry, type EntryDraft, draftRecord, type RecordDraft } from './stored-form.js';
import { changeTotals, listRows, leave, move, placesOf } from './indexes.js';

/**
 * One commit in the making: steps actors on their committed revisions and collects everything that must be
 * written in one batch. Nothing here is visible to anybody until the committer has written it; a draft that
 * is thrown away has changed nothing.
 */
export class Draft {
  /** Wall time for `at` stamps and monotonic time for timers, epoch ms. */
  readonly at: number;
  readonly monotonic: number;
  readonly by: Caller;
  readonly cause: number | string | null;
  readonly onBehalfOf: Causes | undefined;
  /** Revisions that this commit leads to, by actor. */
  readonly next = new Map<string, DraftedActor>();
  /** Operations that do not depend on the log position. */
  readonly ops: Op[] = [];
  readonly entries: EntryDraft[] = [];
  readonly requested: RequestedActions[] = [];
  readonly steps: PlannedStep[] = [];
  /** Changes of totals, by key. */
  readonly totals = new Map<string, number>();
  /** Keys of the records that this commit creates. */
  readonly reservations: string[] = [];
  /** What was sent last was allowed, and no state took it. */
  untaken = false;
  private underway = 0;
  /** About how much text this commit writes. */
  chars = 0;
  /** Log position of the first entry; set by the committer. */
  position = 0;

  constructor(
    private readonly kernel: Kernel,
    { by, cause, onBehalfOf }: Origin,
  ) {
    const { clock } = kernel.environment;
    this.at = clock.now();
    this.monotonic = clock.monotonic();
    this.by = by;
    this.cause = cause;
    this.onBehalfOf = onBehalfOf;
  }

  /** A step threw half-way: what stands here is neither before nor after it, and must not be written. */
  get torn(): boolean {
    return this.underway > 0;
  }

  /** The revision as of now within this commit. */
  current(key: string, committed: ActorState | undefined): ActorState | undefined {
    return this.next.get(key)?.state ?? committed;
  }

  /** Step an actor. `undefined`: done. A refusal has changed nothing. Throws what the machine throws. */
  send(
    kind: Kind,
    id: string,
    committed: ActorState | undefined,
    event: AnyEventObject,
    ended?: Ended,
  ): Refusal | undefined {
    const key = keys.actor(kind.kind, id);
    this.untaken = false;
    const state = this.current(key, committed);
    if (state === undefined) return notFound(kind.kind, id);
    if (state.halted !== null)
      return refuse('ACTOR_HALTED', { kind: kind.kind, id, reason: state.halted.reason });
    if (state.snapshot.status !== 'active') {
      return refuse(
        'CONFLICT',
        { kind: kind.kind, id },
        `The ${kind.kind} ${id} has ended and accepts no events.`,
      );
    }
    let given = event;
    if (kind.schemas !== undefined) {
      const checked = checkedEvent(kind, event);
      if (isRefusal(checked)) return checked;
      given = checked;
    }
    const seen = stamped(this, given, this.kernel.kinds.facts(kind, state, given));
    // Results and timers of the actor's own making are facts, not requests: no one may refuse them.
    const refusal = event.type.startsWith('xstate.') ? undefined : judge(kind, state.snapshot, seen, this);
    if (refusal !== undefined) return explained(refusal, kind.refusals);
    const taken = (kind.driver ?? xstate5).step(kind.machine, state.snapshot, seen);
    this.untaken = !taken.taken;
    if (this.untaken) return explained(stateRefusal(kind, id, state.snapshot, seen), kind.refusals);
    this.put(kind, id, state, taken, seen, state.parent, ended);
    return undefined;
  }

  create(kind: Kind, id: string, input: Json, parent: ActorKey | null): Refusal | undefined {
    const invalid = invalidId(id);
    if (invalid !== undefined) return invalid;
    const key = keys.actor(kind.kind, id);
    if (this.next.has(key))
      return refuse('EXISTS', { kind: kind.kind, id }, `${kind.kind} ${id} already exists.`);
    const checked = kind.schemas === undefined ? input : checkedInput(kind, input);
    if (isRefusal(checked)) return checked;
    const given = stamped<Record<string, Json> & { id: string }>(
      this,
      { id, ...(checked as Record<string, Json>) },
      this.kernel.kinds.facts(kind, undefined, { type: 'kernel.created', input: checked }),
    );
    given.id = id; // whatever the input says
    const refusal = judgeInput(kind, given, this.onBehalfOf);
    if (refusal !== undefined) return explained(refusal, kind.refusals);
    const first = (kind.driver ?? xstate5).begin(kind.machine, given);
    this.reservations.push(key);
    if (parent !== null) this.ops.push([keys.child(parent.kind, parent.id, kind.kind, id), '{}']);
    this.put(
      kind,
      id,
      undefined,
      first,
      {
        type: 'kernel.created',
        input: given,
        at: this.at,
        by: this.by,
        ...(this.onBehalfOf !== undefined && { onBehalfOf: this.onBehalfOf[0] }),
      },
      parent,
    );
    return undefined;
  }

  /**
   * Does without its machine what a delayed message to another actor asks for: the timer goes, the message is
   * sent.
   */
  forward(
    kind: Kind,
    id: string,
    state: ActorState,
    event: AnyEventObject,
    target: string,
    message: AnyEventObject,
    ended: Ended,
  ): void {
    const still: Step = {
      snapshot: state.snapshot,
      actions: [{ type: 'send', target, event: message }],
      taken: true,
    };
    this.put(kind, id, state, still, stamped(this, event), state.parent, ended);
  }

  /** The parent no longer wants this actor: it ends where it stands; its effects and timers go. */
  end(kind: Kind, id: string, state: ActorState, event: AnyEventObject): undefined {
    const stopped = { ...state.snapshot, status: 'stopped' } as typeof state.snapshot;
    this.put(
      kind,
      id,
      state,
      { snapshot: stopped, actions: [], taken: true },
      stamped(this, event),
      state.parent,
    );
  }

  /** Change what the kernel itself keeps about an actor (failures, halt) without a step of its machine. */
  overlay(
    kind: Kind,
    id: string,
    state: ActorState,
    event: AnyEventObject,
    change: Partial<Pick<ActorState, 'failures' | 'halted'>>,
    ended?: Ended,
  ): void {
    const still: Step = { snapshot: state.snapshot, actions: [], taken: true };
    this.put(kind, id, { ...state, ...change }, still, stamped(this, event), state.parent, ended);
  }

  /** Nothing of an ended actor stays but its log. */
  forget(kind: Kind, id: string, state: ActorState): void {
    this.ops.push([keys.actor(kind.kind, id), null]);
    if (state.parent !== null)
      this.ops.push([keys.child(state.parent.kind, state.parent.id, kind.kind, id), null]);
    leave(kind.kind, id, state.places, this.ops, this.totals);
    listRows(kind, id, state, undefined, this.ops);
    if (state.indexed === (this.kernel.generations.all.get(kind.kind)?.generation ?? 0))
      changeTotals(kind, id, state, undefined, this.totals);
  }

  private put(
    kind: Kind,
    id: string,
    before: ActorState | undefined,
    taken: Step,
    event: AnyEventObject,
    parent: ActorKey | null,
    ended?: Ended,
  ): void {
    this.underway += 1;
    const key = keys.actor(kind.kind, id);
    const persisted = (kind.driver ?? xstate5).persist(kind.machine, taken.snapshot);
    const encoded = encodeState(persisted);
    if (encoded.length > this.kernel.limits.snapshotBytesMax) {
      throw new RangeError(
        `the snapshot of ${kind.kind} ${id} would have ${encoded.length} characters; at most ` +
          `${this.kernel.limits.snapshotBytesMax} are allowed: store growing data in rows`,
      );
    }
    const rev = (before?.revision ?? 0) + 1;
    const requested = requestedActions({
      kind,
      id,
      rev,
      before,
      actions: taken.actions,
      monotonic: this.monotonic,
      parent,
      ended,
      outcome: taken.snapshot,
    });
    for (const op of requested.ops) {
      this.ops.push(op);
      this.chars += op[0].length + (op[1]?.length ?? 0);
    }
    for (const { row } of requested.messages) this.chars += row.length;
    this.requested.push(requested);
    // A difference is worth nothing when the whole snapshot below it has fallen under the retention floor.
    const whole =
      before === undefined || before.sinceSnapshot >= 31 || before.snapshotAt <= this.kernel.log.floor;
    const state: ActorState = {
      revision: rev,
      position: 0,
      snapshotAt: before?.snapshotAt ?? 0,
      sinceSnapshot: whole ? 0 : before.sinceSnapshot + 1,
      createdAt: before?.createdAt ?? this.at,
      updatedAt: this.at,
      parent,
      snapshot: taken.snapshot,
      timers: requested.timers,
      calls: requested.calls,
      children: requested.children,
      failures: before?.failures ?? noFailures,
      halted: before?.halted ?? null,
      places: placesOf(taken.snapshot.value as Json, before?.halted ?? null, before?.places, this.at),
      indexed: this.kernel.generations.all.get(kind.kind)?.generation ?? 0,
    };
    move(kind.kind, id, before?.places, state.places, this.ops, this.totals);
    if (
      kind.forgetAfterMs !== undefined &&
      state.snapshot.status !== 'active' &&
      (before === undefined || before.snapshot.status === 'active')
    ) {
      this.ops.push([keys.expiry(this.kernel.retention.now() + kind.forgetAfterMs, key), '1']);
    }
    // What an older version of the kind listed and counted is not told by this one's functions
    const counted = before?.indexed === state.indexed ? before : undefined;
    if (counted !== before) listRows(kind, id, before, undefined, this.ops);
    listRows(kind, id, counted, state, this.ops);
    changeTotals(kind, id, counted, state, this.totals);
    const { cause, by, at } = this;
    const entry = draftEntry({
      kind,
      id,
      before,
      state,
      event,
      encoded,
      persisted,
      whole,
      requested,
      cause,
      by,
      ...(this.onBehalfOf !== undefined && { onBehalfOf: this.onBehalfOf.map(callerName) }),
      at,
    });
    this.entries.push(entry);
    const record = draftRecord(kind, id, state, encoded);
    this.next.set(key, { kind, id, key, state, record });
    this.chars += entry.tail.length + record.tail.length;
    if (this.chars > draftCharsMax)
      throw new RangeError(`one commit may write at most ${draftCharsMax} characters`);
    for (const { child, input } of requested.reservations)
      this.createChild(child, input, { kind: kind.kind, id });
    this.steps.push({
      kind: kind.kind,
      id,
      from: (before?.snapshot.value ?? null) as Json,
      to: taken.snapshot.value as Json,
      effects: requested.effects,
    });
    this.underway -= 1;
  }

  /** A child that a machine spawned is created in the same commit; a refusal of it fails the whole step. */
  private createChild(child: ActorKey, input: Json, parent: ActorKey): void {
    const kind = this.kernel.kinds.of(child.kind);
    const refusal = this.create(kind, child.id, input, parent);
    if (refusal !== undefined)
      throw new TypeError(`the child ${child.kind} ${child.id} was refused: ${refusal.message}`);
  }
}

/** Of one commit: two of the largest go into one frame of the store, in whatever alphabet. */
const draftCharsMax = 32 << 20;

/** What a commit comes from. */
export interface Origin {
  readonly by: Caller;
  /** With whose rights, where not with those of `by`: each of them must be allowed what is done. */
  readonly onBehalfOf?: Causes | undefined;
  /** Log position or name of what caused it. */
  readonly cause: number | string | null;
}

export interface DraftedActor {
  readonly kind: Kind;
  readonly id: string;
  readonly key: string;
  /** The committer fills in the log position. */
  state: ActorState;
  readonly record: RecordDraft;
}
