import type { ActorKey, Kind } from '../../actors/contracts.js';
import { system, type Caller, type Causes } from '../../machines/caller.js';
import { defaultSupervision, supervise, type Supervision } from '../../machines/supervisor/supervise.js';
import type { Op } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';
import type { Cell } from './cells/actor-cells.js';
import type { Commits } from './commit.js';
import type { DeadLetter, Failing } from './contract.js';
import { seenBy, type Delivery } from './delivery/deliver.js';
import type { Draft } from './draft/draft.js';
import { reasonOf } from '../../machines/text.js';
import type { Kernel } from './kernel.js';

/**
 * What happens when our own code (or a host's) throws. The event is set aside as a dead letter at its
 * first throw, the actor goes back to its last commit, its supervisor's rules say what follows, and the
 * process stays up.
 */
export class Failures {
  /** Since start. */
  restarts = 0;
  private readonly restartsByKind = new Map<string, number>();
  /** By place of the record; the youngest failure last. */
  private readonly recent = new Map<string, Failing & { readonly kind: string }>();
  /** Halted actors for which the whole system answers. */
  private readonly gaveUp = new Set<string>();

  /** Called for siblings that are restarted along with one that failed: their keyed effects start again. */
  readonly restarted = new Set<(actor: ActorKey) => void>();

  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
  ) {}

  restartsOf(kind: string): number {
    return this.restartsByKind.get(kind) ?? 0;
  }

  /** Actors of a kind with failures that still count, worst first. */
  failing(name: string): readonly Failing[] {
    const since =
      this.kernel.environment.clock.now() - specOf(this.kernel.kinds.of(name)).periodSeconds * 1000;
    return [...this.recent.values()]
      .filter(({ kind, lastAt }) => kind === name && lastAt >= since)
      .map(({ kind: _kind, ...failing }) => failing)
      .sort((a, b) => b.failures - a.failures || b.lastAt - a.lastAt);
  }

  private remember(cell: Cell, failing: Failing): void {
    this.recent.delete(cell.key);
    this.recent.set(cell.key, { ...failing, kind: cell.kind });
    if (this.recent.size > recentMax) this.recent.delete(this.recent.keys().next().value as string);
  }

  /**
   * An event made its actor throw. Called with the turn held; releases it. `unwritten` is called where the letter
   * cannot be written.
   */
  readonly deadLetter = (
    cell: Cell,
    kind: Kind,
    delivery: Delivery,
    error: unknown,
    unwritten: (problem: unknown) => void,
  ): void => {
    const fault = this.kernel.fault(`${cell.kind} ${cell.id} threw on "${delivery.event.type}"`, error);
    const failed = { type: 'failed', error: fault } as const;
    const { state } = cell;
    if (state === undefined || delivery.rehearse === true) {
      delivery.finished?.();
      delivery.answer?.(failed);
      return this.kernel.cells.release(cell);
    }
    const now = this.kernel.environment.clock.now();
    const spec = specOf(kind);
    const verdict = supervise(spec, [cell.id], state.failures, cell.id, false, now);
    const halted =
      verdict.type === 'restart' || verdict.type === 'drop'
        ? state.halted
        : {
            at: now,
            reason:
              `It failed ${times(verdict.failures.length)} within ${spec.periodSeconds} s; last: ` +
              `${reasonOf(error)}`,
          };
    this.remember(cell, {
      id: cell.id,
      failures: verdict.failures.length,
      lastAt: now,
      until: verdict.type === 'restart' && verdict.delayMs > 0 ? now + verdict.delayMs : null,
      error: reasonOf(error),
    });
    // A timer is kept by its own event: its row is used up, and a retry must say what it would have said.
    const { event: seen, ended } = delivery.ended?.timer === undefined ? delivery : seenBy(delivery, state);
    const letter: Omit<DeadLetter, 'place'> = {
      id: fault.faultId,
      actor: { kind: cell.kind, id: cell.id },
      at: now,
      event: seen as never,
      faultId: fault.faultId,
      error: reasonOf(error),
    };
    const drafted = (): Draft => {
      const made = this.commits.draft({ by: system('kernel'), cause: delivery.cause });
      made.ops.push(
        ...letterRows(letter, delivery, this.kernel.retention.now()),
        ...(delivery.consume ?? []),
      );
      return made;
    };
    let draft = drafted();
    try {
      draft.overlay(
        kind,
        cell.id,
        state,
        { type: 'kernel.dead-letter', faultId: fault.faultId, error: letter.error, event: seen.type },
        { failures: verdict.failures, halted },
        ended,
      );
    } catch (problem) {
      // the kind cannot even be indexed: the letter alone is written
      this.kernel.fault(
        `the failure of ${cell.kind} ${cell.id} could not be written into its record`,
        problem,
      );
      draft = drafted();
    }
    this.commits.commit(draft, [], (failure) => {
      this.kernel.cells.forget(
        cell,
        verdict.type === 'restart' && failure === undefined ? verdict.delayMs : 0,
      );
      if (failure === undefined) delivery.finished?.();
      else unwritten(failure);
      delivery.answer?.(failed);
      this.kernel.cells.release(cell);
      if (failure !== undefined) return;
      if (verdict.type === 'restart')
        this.restart(kind, cell, spec).catch((problem: unknown) =>
          this.kernel.fault('a restart failed', problem),
        );
      if (verdict.type === 'escalate') this.escalate(cell, state.parent, halted?.reason ?? '');
    });
  };

  /** A person has resumed an actor. */
  resumed({ kind, id }: ActorKey): void {
    this.recent.delete(keys.actor(kind, id));
    if (this.gaveUp.delete(keys.actor(kind, id)) && this.gaveUp.size === 0)
      this.kernel.root.recovered('actors');
  }

  /**
   * Siblings that the strategy restarts along with the failed one: memory is dropped, keyed effects start
   * again.
   */
  private async restart(kind: Kind, cell: Cell, spec: Supervision): Promise<void> {
    this.count(kind.kind);
    if (spec.strategy === 'one_for_one') return;
    const { parent } = (await this.kernel.cells.read(cell.kind, cell.id)) ?? {};
    if (!parent) return;
    const rows = await this.kernel.store.page(prefix(`p/${parent.kind}/${parent.id}/${kind.kind}/`));
    const siblings = rows.map(([key]) => partsOf(key)[4] as string);
    const now = this.kernel.environment.clock.now();
    const verdict = supervise(spec, await this.inStartOrder(kind.kind, siblings), [], cell.id, false, now);
    if (verdict.type !== 'restart') return;
    for (const id of [...verdict.ids].reverse()) {
      if (id === cell.id) continue;
      this.count(kind.kind);
      this.kernel.cells.enter(kind.kind, id, {
        run: (sibling) => {
          this.kernel.cells.forget(sibling, verdict.delayMs);
          this.kernel.cells.release(sibling);
          for (const hear of this.restarted) hear({ kind: kind.kind, id });
        },
        fail: (error) => {
          this.kernel.fault(`${kind.kind} ${id} could not be restarted`, error);
        },
        urgent: true,
      });
    }
  }

  private count(kind: string): void {
    this.restarts += 1;
    this.restartsByKind.set(kind, (this.restartsByKind.get(kind) ?? 0) + 1);
  }

  private async inStartOrder(kind: string, ids: readonly string[]): Promise<string[]> {
    const created = await Promise.all(
      ids.map(async (id) => ({ id, at: (await this.kernel.cells.read(kind, id))?.createdAt ?? 0 })),
    );
    return created.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
  }

  private escalate(cell: Cell, parent: ActorKey | null, reason: string): void {
    if (parent === null) {
      this.gaveUp.add(cell.key);
      return this.kernel.root.failed('actors', `${cell.kind} ${cell.id}: ${reason}`);
    }
    const kind = this.kernel.kinds.of(parent.kind);
    this.kernel.cells.enter(parent.kind, parent.id, {
      run: (above) =>
        this.deadLetter(
          above,
          kind,
          {
            event: { type: 'kernel.child-gave-up', child: { kind: cell.kind, id: cell.id } },
            by: system('kernel'),
            cause: null,
          },
          new Error(`its child ${cell.kind} ${cell.id} gave up: ${reason}`),
          () => undefined, // no row asks for it again
        ),
      fail: (error) => {
        this.kernel.fault(`${parent.kind} ${parent.id} could not be notified that its child gave up`, error);
      },
      urgent: true,
    });
  }
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
const recentMax = 1_000;

const specOf = (kind: Kind): Supervision => ({ ...defaultSupervision, ...kind.supervision });

/** A dead letter as stored. */
export interface StoredLetter extends Omit<DeadLetter, 'place'> {
  readonly by: Caller;
  readonly onBehalfOf?: Causes | undefined;
  /** Absent in letters from before there was a list. */
  readonly listedAt?: number;
}

/** The rows of a new letter: itself, its place in the list, and the mark that letters are listed. */
function letterRows(letter: Omit<DeadLetter, 'place'>, { by, onBehalfOf }: Delivery, listedAt: number): Op[] {
  return [
    [
      keys.deadLetter(letter.id),
      JSON.stringify({ ...letter, by, onBehalfOf, listedAt } satisfies StoredLetter),
    ],
    [keys.deadLetterPlace(listedAt, letter.id), '1'],
    [lettersListedKey, '1'],
  ];
}

export const lettersListedKey = keys.meta('kernel/dead-letters-listed');
