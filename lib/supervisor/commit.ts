import { system } from '../../machines/caller.js';
import { StoreError, type Op, type Store } from '../store/contract.js';
import type { Cell } from './cells/actor-cells.js';
import { Committer } from './committer.js';
import type { RequestedActions } from './draft/actions.js';
import { Draft, type Origin } from './draft/draft.js';
import type { Kernel } from './kernel.js';

/**
 * The one way from a decision to what follows from it: draft → reserve its ids → commit → release. What an
 * event asked for (effects, timers, messages) is let go after the fsync, and nowhere else.
 */
export class Commits {
  readonly committer: Committer;
  readonly reservations: IdReservations;
  /** By what a step of a durable commit asked for: who is called with it, and with the position of its entry. */
  readonly released: Readonly<Record<Asked, Set<Released>>> = {
    effects: new Set(),
    messages: new Set(),
    timers: new Set(),
  };

  constructor(private readonly kernel: Kernel) {
    this.committer = new Committer(kernel);
    this.reservations = new IdReservations(kernel.store);
  }

  /** Takes over the turns of `held`. `settled()` after the fsync, or with the error: then nothing was written. */
  commit(draft: Draft, held: readonly Cell[], settled: (error?: unknown) => void): void {
    this.committer.submit(draft, (error) => {
      try {
        this.reservations.settled(draft);
        if (error === undefined) this.adopt(draft);
        settled(error);
      } catch (problem) {
        // a host's view or predicate that throws while it is answered must not hold up the others
        this.kernel.fault('reply could not be delivered', problem);
      } finally {
        for (const cell of held) this.kernel.cells.release(cell);
      }
      if (error === undefined) this.release(draft);
    });
  }

  /** Write rows that need no decision (checkpoints, expired keys). */
  write(ops: readonly Op[]): Promise<void> {
    const draft = this.draft();
    draft.ops.push(...ops);
    return new Promise((resolve, reject) =>
      this.commit(draft, [], (error) => (error === undefined ? resolve() : reject(error))),
    );
  }

  /** Take away rows that nothing else will come for in this life: while the store cannot write, it is tried again. */
  remove(rows: readonly string[]): Promise<void> {
    return this.write(rows.map((key) => [key, null])).catch((error: unknown) => {
      if (!(error instanceof StoreError) || this.kernel.cells.isClosed) throw error;
      return new Promise((resolve, reject) => {
        this.kernel.environment.clock.timeout(
          removeAgainMs,
          () => void this.remove(rows).then(resolve, reject),
        );
      });
    });
  }

  /** By default the kernel's own doing. */
  draft(origin: Origin = ownDoing): Draft {
    return new Draft(this.kernel, origin);
  }

  private adopt(draft: Draft): void {
    for (const { kind, id, state } of draft.next.values())
      this.kernel.cells.adopt(kind.kind, id, state, (error) =>
        this.kernel.fault(`an observer of ${kind.kind} ${id} threw`, error),
      );
  }

  private release({ requested, position }: Draft): void {
    for (let index = 0; index < requested.length; index += 1) {
      const step = requested[index] as RequestedActions;
      if (!step.releases) continue;
      if (step.left.length + step.started.length + step.signals.length > 0)
        for (const hear of this.released.effects) hear(step, position + index);
      if (step.armed.length > 0) for (const hear of this.released.timers) hear(step, position + index);
      if (step.messages.length > 0) for (const hear of this.released.messages) hear(step, position + index);
    }
  }
}

type Asked = 'effects' | 'messages' | 'timers';
type Released = (requested: RequestedActions, position: number) => void;

const removeAgainMs = 250;
const ownDoing: Origin = { by: system('kernel'), cause: null };

/**
 * An id belongs to one actor, ever. Anyone who creates an actor whose turn it does not hold (a child that a
 * machine spawned, an actor that a plan did not name) must not write over one that lives: the claim is
 * checked against the store before the commit, and against the claims of commits that are on their way.
 */
export class IdReservations {
  private readonly claimed = new Set<string>();

  constructor(private readonly store: Store) {}

  /**
   * `decided()` (at once where the turns are held) when the ids are free, `decided(key)` with one that is
   * not.
   */
  claim(
    draft: Draft,
    held: readonly Cell[],
    decided: (taken?: string) => void,
    failed: (error: unknown) => void,
  ): void {
    const { reservations } = draft;
    if (reservations.length === 0) return decided();
    const taken = reservations.find((key) => this.claimed.has(key));
    if (taken !== undefined) return decided(taken);
    for (const key of reservations) this.claimed.add(key);
    this.replay(
      draft,
      held,
      (stored) => {
        if (stored !== undefined) this.settled(draft);
        decided(stored);
      },
      (error) => {
        this.settled(draft);
        failed(error);
      },
    );
  }

  /** The same for a rehearsal, which claims nothing: no one else is refused because of it. */
  check(
    draft: Draft,
    held: readonly Cell[],
    decided: (taken?: string) => void,
    failed: (error: unknown) => void,
  ): void {
    const taken = draft.reservations.find((key) => this.claimed.has(key));
    if (taken !== undefined) return decided(taken);
    this.replay(draft, held, decided, failed);
  }

  private replay(
    { reservations }: Draft,
    held: readonly Cell[],
    decided: (taken?: string) => void,
    failed: (error: unknown) => void,
  ): void {
    const unknown = reservations.filter((key) => !held.some((cell) => cell.key === key));
    if (unknown.length === 0) return decided();
    this.store
      .getMany(unknown)
      .then((records) => decided(unknown[records.findIndex((record) => record !== undefined)]))
      .catch(failed);
  }

  /** The commit is through, or will never be. */
  settled(draft: Draft): void {
    for (const key of draft.reservations) this.claimed.delete(key);
  }
}
