import type { ActorKey, Json } from '../../machines/outputs.js';
import { rootMachine } from '../../machines/root/machine.js';
import type { LogEntry, Supervisor } from '../supervisor/contract.js';
import { readEntry } from '../supervisor/event-log.js';
import type { SealedEntry, StoredActor } from '../supervisor/inspection-answers.js';
import { decodeChange, type Change } from './entry-of.js';
import type { InspectFilter } from '../client/inspector-frames.js';
import { parentOf } from './relations.js';
import {
  actorFrame,
  rootFrame,
  sessionIdOf,
  stateOf,
  stepFrames,
  type StatelyFrame,
} from './stately-frames.js';
import type { FrameSink } from './watch.js';

/**
 * A running Troupe in Stately's words: at first the root and the actors that were asked for (or with `since`,
 * all steps since then), then each actor before its first step, and every step as event and snapshot. At most
 * ten times a second a hundred steps; in a flood the youngest.
 */
export function statelyWatch(
  supervisor: Supervisor,
  filter: StatelyQuery,
  sink: FrameSink,
  failed: (error: unknown) => void,
): { stop(): void } {
  const watch = new StatelyWatch(supervisor, filter, sink);
  const leave = supervisor.inspection.tap((entries) => watch.take(entries));
  watch.run().catch((error: unknown) => {
    if (!watch.ended.signal.aborted) failed(error);
  });
  return {
    stop() {
      leave();
      watch.ended.abort();
      watch.wake();
    },
  };
}

/**
 * `first`: so many of each kind are introduced where none are named (default 50). `since`: log position to go
 * on from.
 */
export interface StatelyQuery extends Pick<InspectFilter, 'kinds' | 'ids'> {
  readonly first?: number | undefined;
  readonly since?: number | undefined;
}

export const firstMax = 1_000;
const firstDefault = 50;
const stepsPerFlush = 100;
const everyMs = 100;
const knownMax = 2_000;

class StatelyWatch {
  readonly ended = new AbortController();
  wake: () => void = () => undefined;
  private pending: SealedEntry[] = [];
  /** What Stately has been told of an actor last. */
  private readonly known = new Map<
    string,
    { seq: number; value: Json; context: Readonly<Record<string, Json>> }
  >();
  private readonly begin: number;

  constructor(
    private readonly supervisor: Supervisor,
    private readonly filter: StatelyQuery,
    private readonly sink: FrameSink,
  ) {
    this.begin = supervisor.inspection.head;
  }

  take(entries: readonly SealedEntry[]): void {
    for (const entry of entries)
      if (entry.position > this.begin && this.wants(entry.actor)) this.pending.push(entry);
    if (this.pending.length > stepsPerFlush * 4) this.pending = this.pending.slice(-stepsPerFlush);
    this.wake();
  }

  async run(): Promise<void> {
    const {
      supervisor: { status, environment },
      ended: { signal },
    } = this;
    this.send(rootFrame(rootMachine, status.state, environment.clock.now()));
    const { since } = this.filter;
    const { floor, head } = this.supervisor.inspection;
    if (since !== undefined && since >= floor && since <= head) await this.catchUp(since);
    else await this.introduce();
    while (!signal.aborted) {
      if (this.pending.length === 0)
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      const steps = this.pending.slice(-stepsPerFlush);
      this.pending = [];
      for (const { value } of steps) if (!signal.aborted) await this.show(readEntry(value));
      await this.sink.drained(signal);
      if (!signal.aborted)
        await new Promise<void>((resolve) => {
          environment.clock.timeout(everyMs, resolve);
        });
    }
  }

  private wants({ kind, id }: ActorKey): boolean {
    const { kinds, ids } = this.filter;
    return (kinds?.includes(kind) ?? true) && (ids?.includes(id) ?? true);
  }

  /** Every step since a position that the log still holds, at the watcher's own pace. */
  private async catchUp(since: number): Promise<void> {
    const { inspection } = this.supervisor;
    const { signal } = this.ended;
    let position = since;
    while (position < inspection.head && !signal.aborted) {
      const page = await inspection.entries(position, stepsPerFlush);
      const [first] = page;
      if (first === undefined) break;
      if (first.position > position + 1) {
        // The retention floor has overtaken this watcher: from here on as if it came without a position
        position = inspection.head;
        await this.introduce();
        continue;
      }
      for (const entry of page) if (this.wants(entry) && !signal.aborted) await this.show(entry);
      position = page.at(-1)?.position ?? position;
      await this.sink.drained(signal);
    }
    this.pending = this.pending.filter(({ position: seq }) => seq > position);
  }

  /** Who is there already: those that were named, else the first of every kind. */
  private async introduce(): Promise<void> {
    const { inspection, environment } = this.supervisor;
    for (const { kind, machine } of inspection.kinds()) {
      if (this.filter.kinds?.includes(kind) === false) continue;
      const named = this.filter.ids?.map((id) => ({ kind, id }));
      const actors =
        named === undefined
          ? await inspection.page(kind, { limit: this.filter.first ?? firstDefault })
          : (await inspection.stored(named)).filter((one): one is StoredActor => one !== undefined);
      for (const actor of actors) {
        this.remember(actor, { seq: actor.position, value: actor.value, context: actor.context });
        this.send(
          actorFrame(
            actor,
            machine,
            parentOf(actor),
            stateOf(actor.value, actor.context, actor.status),
            environment.clock.now(),
          ),
        );
        await this.sink.drained(this.ended.signal); // each frame holds the whole definition
      }
    }
  }

  private async show(entry: LogEntry): Promise<void> {
    const before = this.known.get(sessionIdOf(entry)) ?? (await this.meet(entry));
    if (before !== undefined && entry.position <= before.seq) return; // it was introduced as it is after this step
    const change = decodeChange(entry.snapshot);
    const after =
      before !== undefined && before.seq === entry.previous
        ? applied(before.context, change)
        : await this.contextAt(entry, entry.position);
    if (after === undefined) return;
    this.remember(entry, { seq: entry.position, value: entry.to, context: after });
    const source = this.sourceOf(entry.by);
    for (const frame of stepFrames(
      entry,
      source,
      stateOf(entry.to, after, change.whole?.status ?? change.status ?? 'active'),
    ))
      this.send(frame);
  }

  /**
   * An actor that Stately does not know yet: as it was before this step, or, when this is its creation, as it
   * was created.
   */
  private async meet(
    entry: LogEntry,
  ): Promise<{ seq: number; value: Json; context: Readonly<Record<string, Json>> } | undefined> {
    const kind = this.supervisor.inspection.kinds().find((one) => one.kind === entry.kind);
    const [stored] = await this.supervisor.inspection.stored([entry]);
    if (kind === undefined || stored === undefined) return undefined;
    const at = entry.previous === 0 ? entry.position : entry.previous;
    const context = (await this.contextAt(entry, at)) ?? {};
    const known = { seq: entry.previous, value: entry.previous === 0 ? entry.to : entry.from, context };
    this.send(actorFrame(entry, kind.machine, parentOf(stored), stateOf(known.value, context), entry.at));
    return known;
  }

  private async contextAt(actor: ActorKey, seq: number): Promise<Readonly<Record<string, Json>> | undefined> {
    return (await this.supervisor.past(actor, seq))?.context as Readonly<Record<string, Json>> | undefined;
  }

  /** `session:s1` is an actor where there is such a kind; people and the kernel are not. */
  private sourceOf(by: string): string | undefined {
    const colon = by.indexOf(':');
    const kind = by.slice(0, colon);
    return colon > 0 && this.supervisor.inspection.kinds().some((known) => known.kind === kind)
      ? `${kind}/${by.slice(colon + 1)}`
      : undefined;
  }

  private remember(
    actor: ActorKey,
    state: { seq: number; value: Json; context: Readonly<Record<string, Json>> },
  ): void {
    const place = sessionIdOf(actor);
    this.known.delete(place);
    this.known.set(place, state);
    if (this.known.size > knownMax) this.known.delete(this.known.keys().next().value as string);
  }

  private send(frame: StatelyFrame): void {
    if (!this.ended.signal.aborted) this.sink.send(JSON.stringify(frame));
  }
}

function applied(before: Readonly<Record<string, Json>>, change: Change): Readonly<Record<string, Json>> {
  if (change.whole !== undefined) return change.whole.context;
  const after = { ...before, ...change.set };
  for (const member of change.unset ?? []) delete after[member];
  return after;
}
