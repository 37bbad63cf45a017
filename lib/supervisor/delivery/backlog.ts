import type { ActorKey } from '../../../actors/contracts.js';
import type { Json } from '../../../machines/outputs.js';
import { keys, partsOf, prefix } from '../../store/keys.js';
import type { Start } from '../draft/actions.js';
import type { Effects, OutboxRow } from '../effects.js';
import type { Failures } from '../failures.js';
import type { Inbox } from './inbox.js';
import type { Kernel } from '../kernel.js';
import { rowsBelow } from '../step-journal.js';

/**
 * What an earlier life left to do: effects to resume and messages to deliver. At the start only the names of
 * the actors are read; the rows of each are read when it is loaded, before anything else reaches it, so that
 * nothing younger overtakes them. The actors are woken one after another, as the intake has room.
 */
export class Backlog {
  /** Of actors that were woken for their rows: to be called when the first of these are through. */
  private readonly feeding = new Map<string, () => void>();
  /** Keys of the actors that are still to be woken. */
  private places: Iterator<string> | undefined;
  /** Is a source of the intake no more. */
  private rest = (): void => undefined;

  constructor(
    private readonly kernel: Kernel,
    private readonly inbox: Inbox,
    private readonly effects: Effects,
    failures: Failures,
  ) {
    failures.restarted.add((actor) => this.restartEffects(actor));
  }

  /** Read whose rows there are. Rows that this build knows nothing of are reported, and stay as they are. */
  async scan(): Promise<void> {
    const unknown = new Map<string, number>();
    for (const start of ['o/', 'i/', 'j/']) await this.scanRows(start, unknown);
    for (const [kind, rows] of unknown)
      this.kernel.fault(
        `${rows} messages and effects of the unknown kind "${kind}" are kept until a version that knows it runs`,
        new TypeError(`unknown kind "${kind}"`),
      );
    this.places = this.kernel.cells.owed.keys();
    this.rest = this.kernel.intake.add(() => this.next());
  }

  private async scanRows(start: string, unknown: Map<string, number>): Promise<void> {
    const { owed } = this.kernel.cells;
    const { lt, gte } = prefix(start);
    for (let after = gte; ;) {
      const page = await this.kernel.store.page({ gt: after, lt, keysOnly: true, limit: 1000 });
      for (const [key] of page) {
        const actor = actorOf(key);
        if (actor === undefined || this.kernel.kinds.find(actor.kind) === undefined) {
          const name = actor?.kind ?? '?';
          unknown.set(name, (unknown.get(name) ?? 0) + 1);
        } else {
          const place = keys.actor(actor.kind, actor.id);
          if (!owed.has(place)) owed.set(place, this.read);
        }
      }
      const last = page.at(-1);
      if (last === undefined || page.length < 1000) return;
      after = last[0];
    }
  }

  /** No actor is woken any more; what is owed stays in the store. */
  stop(): void {
    this.places = undefined;
  }

  /** A source of the intake: wake the next actor that is owed something. */
  next(): boolean {
    for (let next = this.places?.next(); next?.done === false; next = this.places?.next()) {
      const place = next.value;
      const { kind, id } = actorOf(place) as ActorKey;
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
    this.rest();
    return false;
  }

  /**
   * The rows of one actor. What is returned puts them into its mailbox; to be called when nothing else is in
   * it.
   */
  private readonly read = async (actor: ActorKey): Promise<() => void> => {
    const { kernel } = this;
    const start = keys.outbox(actor.kind, actor.id, '');
    const effects = await kernel.store.page(prefix(start));
    const messages = await this.inbox.page(actor, undefined);
    const steps = await rowsBelow(kernel.store, keys.steps(actor.kind, actor.id));
    const left = steps.map(([step]) => step).filter((step) => !effects.some(([key]) => isStepOf(key, step)));
    return () => {
      const place = keys.actor(actor.kind, actor.id);
      const through = this.feeding.get(place);
      void this.resumeInOrder(
        actor,
        effects.map(([key, value]) => ({ key: key.slice(start.length), value })),
      );
      this.effects.sweepSteps(left);
      this.inbox.takePage(actor, messages, through);
    };
  };

  /** Abort an actor's keyed effects and run them again under the same keys. */
  private restartEffects(actor: ActorKey): void {
    void (async () => {
      const kind = this.kernel.kinds.of(actor.kind);
      const prefix = keys.outbox(actor.kind, actor.id, '');
      for (const [key, value] of await this.kernel.store.page({ gte: prefix, lt: `${prefix}\x7f` })) {
        const row = JSON.parse(value) as OutboxRow;
        if (kind.effects?.[row.src]?.guarantee === 'at-least-once') {
          const call = key.slice(prefix.length);
          await this.effects.halt(actor, call);
          const now = await this.kernel.store.get(key); // with what it came to; gone where its state was left
          if (now !== undefined) await this.resumeEffect(actor, call, JSON.parse(now) as OutboxRow);
        }
      }
    })().catch((error: unknown) =>
      this.kernel.fault(`the effects of ${actor.kind} ${actor.id} could not be restarted`, error),
    );
  }

  /**
   * An outbox row of an earlier life or generation: start it, let it recover, or clean up after one whose
   * state was left. Decided with the turn held.
   */
  private resumeEffect(actor: ActorKey, key: string, row: OutboxRow): Promise<void> {
    const { cells, kinds } = this.kernel;
    const kind = kinds.of(actor.kind);
    const start: Start = { key, src: row.src, callId: row.callId, input: row.input };
    return new Promise((resolve, reject) => {
      cells.enter(actor.kind, actor.id, {
        urgent: true,
        fail: reject,
        run: (cell) => {
          const current = cell.state?.calls[row.callId]?.key === key;
          if (current) void this.effects.start(kind, actor, start, row);
          cells.release(cell);
          resolve(current ? undefined : this.effects.sweep(kind, actor, start, row.note));
        },
      });
    });
  }

  /** What an earlier life left behind is cleaned up first; only then does the same actor act again. */
  private async resumeInOrder(
    actor: ActorKey,
    found: readonly { readonly key: string; readonly value: string }[],
  ): Promise<void> {
    const { kernel } = this;
    const reported = (error: unknown, what: string) =>
      kernel.fault(`${what} of ${actor.kind} ${actor.id} could not be resumed`, error);
    const rows: { key: string; row: OutboxRow }[] = [];
    for (const { key, value } of found) {
      if (this.effects.isRunning(actor, key)) continue; // of this life
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
          this.resumeEffect(actor, key, row).catch((error: unknown) =>
            reported(error, `the effect ${row.src}`),
          ),
        ),
      );
  }
}

const isStepOf = (outbox: string, step: string): boolean => step.startsWith(keys.step(outbox, ''));

/** Whose key it is: `a/<kind>/<id>`, `o/<kind>/<id>/…`; undefined for a key that cannot be read. */
function actorOf(key: string): ActorKey | undefined {
  try {
    const [, kind, id] = partsOf(key);
    return kind === undefined || id === undefined ? undefined : { kind, id };
  } catch {
    return undefined;
  }
}
