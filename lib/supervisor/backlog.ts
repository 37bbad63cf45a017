import type { ActorKey, Kind } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import { keys, partsOf, prefix } from '../store/keys.js';
import type { Store } from '../store/contract.js';
import type { ActorCells } from './cells/actor-cells.js';
import type { Effects, OutboxRow } from './effects.js';
import type { Inbox } from './inbox.js';
import type { Intake } from './cells/intake.js';

/** What it needs of the kernel. */
interface Parts {
  readonly store: Store;
  readonly cells: ActorCells;
  readonly intake: Intake;
  readonly inbox: Inbox;
  readonly effects: Effects;
  knows(kind: string): boolean;
  kind(name: string): Kind;
  resumeEffect(actor: ActorKey, key: string, row: OutboxRow): Promise<void>;
  fault(what: string, error: unknown): Error;
}

/**
 * What an earlier life left to do: effects to take up and messages to deliver. At the start only the names of
 * the actors are read; the rows of each are read when it is loaded, before anything else reaches it, so that
 * nothing younger overtakes them. The actors are woken one after another, as the intake has room.
 */
export class Backlog {
  private readonly owed = new Map<string, ActorKey>();
  private readonly feeding = new Map<string, () => void>();
  private names: Iterator<ActorKey> | undefined;

  constructor(private readonly kernel: Parts) {}

  /** Actors whose rows have not been read yet. */
  get size(): number {
    return this.owed.size;
  }

  owes(key: string): boolean {
    return this.owed.has(key);
  }

  /** Read whose rows there are. Rows that this build knows nothing of are reported, and stay as they are. */
  async scan(): Promise<void> {
    const strange = new Map<string, number>();
    for (const start of ['o/', 'i/']) await this.scanRows(start, strange);
    for (const [kind, rows] of strange)
      this.kernel.fault(
        `${rows} messages and effects of the unknown kind "${kind}" are kept until a version that knows it runs`,
        new TypeError(`unknown kind "${kind}"`),
      );
    this.names = this.owed.values();
  }

  private async scanRows(start: string, strange: Map<string, number>): Promise<void> {
    const { lt, gte } = prefix(start);
    for (let after = gte; ;) {
      const page = await this.kernel.store.page({ gt: after, lt, keysOnly: true, limit: 1000 });
      for (const [key] of page) {
        const actor = actorOf(key);
        if (actor === undefined || !this.kernel.knows(actor.kind)) {
          const name = actor?.kind ?? '?';
          strange.set(name, (strange.get(name) ?? 0) + 1);
        } else {
          const place = keys.actor(actor.kind, actor.id);
          if (!this.owed.has(place)) this.owed.set(place, actor);
        }
      }
      const last = page.at(-1);
      if (last === undefined || page.length < 1000) return;
      after = last[0];
    }
  }

  /** Nobody is woken any more; what is owed stays in the store. */
  stop(): void {
    this.names = undefined;
  }

  /** A source of the intake: wake the next actor that is owed something. */
  next(): boolean {
    for (let next = this.names?.next(); next?.done === false; next = this.names?.next()) {
      const { kind, id } = next.value;
      const place = keys.actor(kind, id);
      if (!this.owed.has(place)) continue;
      const through = this.kernel.intake.begin();
      this.feeding.set(place, through);
      this.kernel.cells
        .wake(kind, id)
        .catch((error: unknown) =>
          this.kernel.fault(`${kind} ${id} could not be loaded for its queued work`, error),
        )
        .finally(() => {
          this.feeding.delete(place);
          through();
        });
      return true;
    }
    return false;
  }

  /**
   * The rows of one actor. What is returned puts them into its mailbox; to be called when nothing else is in
   * it.
   */
  async read(actor: ActorKey): Promise<() => void> {
    const { kernel } = this;
    const start = keys.outbox(actor.kind, actor.id, '');
    const effects = await kernel.store.page(prefix(start));
    const messages = await kernel.inbox.page(actor, undefined);
    return () => {
      const place = keys.actor(actor.kind, actor.id);
      this.owed.delete(place);
      const through = this.feeding.get(place);
      void this.takeUpInOrder(
        actor,
        effects.map(([key, value]) => ({ key: key.slice(start.length), value })),
      );
      kernel.inbox.takePage(actor, messages, through);
    };
  }

  /** Abort an actor's keyed effects and run them anew under the same keys. */
  restartEffects(actor: ActorKey): void {
    void (async () => {
      const kind = this.kernel.kind(actor.kind);
      const prefix = keys.outbox(actor.kind, actor.id, '');
      for (const [key, value] of await this.kernel.store.page({ gte: prefix, lt: `${prefix}\x7f` })) {
        const row = JSON.parse(value) as OutboxRow;
        if (kind.effects?.[row.src]?.guarantee === 'at-least-once') {
          const call = key.slice(prefix.length);
          await this.kernel.effects.halt(actor, call);
          await this.kernel.resumeEffect(actor, call, row); // its state may have been left while it was aborted
        }
      }
    })().catch((error: unknown) =>
      this.kernel.fault(`the effects of ${actor.kind} ${actor.id} could not be restarted`, error),
    );
  }

  /** What an earlier life left behind is cleaned up first; only then does the same actor act anew. */
  private async takeUpInOrder(
    actor: ActorKey,
    found: readonly { readonly key: string; readonly value: string }[],
  ): Promise<void> {
    const { kernel } = this;
    const reported = (error: unknown, what: string) =>
      kernel.fault(`${what} of ${actor.kind} ${actor.id} could not be resumed`, error);
    const rows: { key: string; row: OutboxRow }[] = [];
    for (const { key, value } of found) {
      if (kernel.effects.isRunning(actor, key)) continue; // of this life
      try {
        rows.push({ key, row: JSON.parse(value) as OutboxRow & { readonly input: Json } });
      } catch (error) {
        reported(error, `the effect ${key}`); // the row stays as it is
      }
    }
    const noted = rows.filter(({ row }) => row.note !== undefined);
    const fresh = rows.filter(({ row }) => row.note === undefined);
    for (const part of [noted, fresh])
      await Promise.all(
        part.map(({ key, row }) =>
          kernel
            .resumeEffect(actor, key, row)
            .catch((error: unknown) => reported(error, `the effect ${row.src}`)),
        ),
      );
  }
}

/** Whose row it is: `o/<kind>/<id>/…`; undefined for a key that cannot be read. */
function actorOf(key: string): ActorKey | undefined {
  try {
    const [, kind, id] = partsOf(key);
    return kind === undefined || id === undefined ? undefined : { kind, id };
  } catch {
    return undefined;
  }
}
