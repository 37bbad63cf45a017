import type { ActorKey } from '../../actors/contracts.js';
import { partsOf } from '../store/keys.js';
import { causeOf } from '../supervisor/event-log.js';
import type { LogEntry, Supervisor } from '../supervisor/contract.js';
import { readTraceparent, spanIdOf, traceIdOf, type TraceContext } from './spans.js';

/** Where an entry of the log, or an effect, stands in a trace. */
export interface Place extends TraceContext {
  readonly parentSpanId?: string;
  /** Epoch milliseconds of the first entry of the trace. */
  readonly since: number;
  /** What else led to it. */
  readonly links: readonly TraceContext[];
}

/** An effect as the log knows it. */
export interface KnownEffect {
  /** The entry that started it. */
  readonly started: LogEntry;
  /** `<revision>.<n>`: unique within its actor. */
  readonly key: string;
  readonly src: string;
  readonly place: Place;
}

/**
 * Traces are read from the log. Each entry says what caused it, and ids of spans are made of the log's own hashes: the
 * gateway that ends a turn after a crash knows its trace as the one did that began it.
 *
 * A trace ends after a day, and at each tick of a clock that ticks for ever: what comes later begins a new one that is
 * linked to it.
 */
export class Lineage {
  private readonly places = new Map<number, Promise<Place>>();

  constructor(private readonly supervisor: Pick<Supervisor, 'inspection' | 'history'>) {}

  /** Of the span of this entry. */
  of(entry: LogEntry, depth = 0): Promise<Place> {
    const known = this.places.get(entry.position);
    if (known !== undefined) return known;
    const place = this.read(entry, depth);
    this.places.set(entry.position, place);
    place.catch(() => this.places.delete(entry.position)); // what failed once is tried again
    const [oldest] = this.places.keys();
    if (this.places.size > placesMax && oldest !== undefined) this.places.delete(oldest);
    return place;
  }

  /** The effect that this entry is the end of, or was sent by. */
  async effectBehind(entry: LogEntry, depth = 0): Promise<KnownEffect | undefined> {
    const cause = String(entry.cause);
    if (!cause.startsWith('effect:')) return undefined;
    const name = cause.slice('effect:'.length);
    if (/^\d+\.\d+$/.test(name)) return this.effectAt(entry, name, depth);
    const started = await causeOf(this.supervisor.inspection, entry);
    return started && this.effectOf(started, keyOf(started, name), depth);
  }

  /** The newest effect of that name that this actor started, by entries up to `before`. */
  async latestEffect(actor: ActorKey, src: string, before?: number): Promise<KnownEffect | undefined> {
    const started = await this.find(
      actor,
      ({ effects }) => effects.includes(src),
      before === undefined ? {} : { before },
    );
    return started && this.effectOf(started, keyOf(started, src), 0);
  }

  /** An effect by its whole name: `<kind>/<id>/<revision>.<n>`. */
  async effectNamed(name: string, depth = 0): Promise<KnownEffect | undefined> {
    const [kind = '', id = '', key = ''] = partsOf(name);
    return this.effectAt({ kind, id }, key, depth);
  }

  private async effectAt(
    actor: ActorKey & { readonly position?: number },
    key: string,
    depth: number,
  ): Promise<KnownEffect | undefined> {
    const revision = Number.parseInt(key, 10);
    const started = await this.find(actor, (entry) => entry.revision <= revision);
    return started?.revision === revision ? this.effectOf(started, key, depth) : undefined;
  }

  private async effectOf(started: LogEntry, key: string, depth: number): Promise<KnownEffect> {
    const askedBy = await this.askedBy(started);
    const [parent, ...others] = await Promise.all(
      askedBy.reverse().map((entry) => this.of(entry, depth + 1)),
    );
    const { spanId, ...place } = parent as Place;
    const src = sources(started)[Number(key.split('.')[1])] ?? '';
    const links = others.filter(({ traceId }) => traceId !== place.traceId);
    return {
      started,
      key,
      src,
      place: { ...place, spanId: spanIdOf(started.chain, key), parentSpanId: spanId, links },
    };
  }

  /**
   * Whose doing an effect is: usually the entry that started it. A turn answers messages that may have waited for
   * the end of the turn before, which is not their cause.
   */
  private async askedBy(started: LogEntry): Promise<LogEntry[]> {
    if (started.kind !== 'session' || !started.effects.includes(turnEffect)) return [started];
    const wanted = new Set(messagesOf(started));
    const found: LogEntry[] = [];
    await this.find(started, (entry) => {
      const id = messageIn(entry);
      if (id !== undefined && wanted.delete(id)) found.unshift(entry);
      return wanted.size === 0;
    });
    return found.length === 0 ? [started] : found;
  }

  private async read(entry: LogEntry, depth: number): Promise<Place> {
    const before = depth < depthMax ? await this.before(entry, depth) : undefined;
    const spanId = spanIdOf(entry.chain);
    if (before !== undefined && entry.at - before.since < traceMs) {
      const { traceId, isSampled, since } = before;
      return { traceId, spanId, isSampled, since, parentSpanId: before.spanId, links: [] };
    }
    const { chain, at } = entry;
    const links = before === undefined ? [] : [before];
    return { traceId: traceIdOf(chain), spanId, isSampled: before?.isSampled ?? true, since: at, links };
  }

  private async before(
    entry: LogEntry,
    depth: number,
  ): Promise<(TraceContext & { readonly since: number }) | undefined> {
    const [, what, name = ''] = /(?:^| )(traceparent|effect)=(\S+)$/.exec(String(entry.cause)) ?? [];
    if (what === 'traceparent') {
      const given = readTraceparent(name);
      return given && { ...given, since: entry.at };
    }
    if (what === 'effect') return (await this.effectNamed(name, depth + 1))?.place;
    const effect = await this.effectBehind(entry, depth + 1);
    if (effect !== undefined) return effect.place;
    if (entry.cause === 'timer' && clocks.has(entry.kind)) return undefined;
    const earlier = await causeOf(this.supervisor.inspection, entry);
    return earlier && this.of(earlier, depth + 1);
  }

  /** The newest entry of an actor that is meant, among its last few thousand. */
  private async find(
    actor: ActorKey & { readonly position?: number },
    isMeant: (entry: LogEntry) => boolean,
    {
      before = actor.position === undefined ? undefined : actor.position + 1,
    }: { readonly before?: number } = {},
  ): Promise<LogEntry | undefined> {
    const { kind, id } = actor;
    let end = before;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const page = await this.supervisor.history(
        { kind, id },
        { limit: pageMax, ...(end !== undefined && { before: end }) },
      );
      const found = page.find(isMeant);
      if (found !== undefined) return found;
      if (page.length < pageMax) return undefined;
      end = page.at(-1)?.position;
    }
    return undefined;
  }
}

/** The effect of a session that is a turn of its agent. */
export const turnEffect = 'engine-turn';

/** They tick for ever; one tick does not cause the next. */
const clocks: ReadonlySet<string> = new Set(['schedule', 'poll', 'home']);

const traceMs = 24 * 3_600_000;
const depthMax = 200;
const placesMax = 20_000;
const pageMax = 100;
const pagesMax = 30;

/** Effects that an entry started, in order. */
const sources = ({ effects }: LogEntry): readonly string[] => effects.filter((name) => !name.startsWith('-'));

const keyOf = (started: LogEntry, src: string): string =>
  `${started.revision}.${sources(started).indexOf(src)}`;

interface Messages {
  readonly message?: { readonly id?: string };
  readonly input?: Messages;
}

const messageIn = ({ event }: LogEntry): string | undefined => {
  const { message, input } = event as Messages;
  return message?.id ?? input?.message?.id;
};

/** Ids of the messages of the turn that begins with this entry, oldest first. */
export function messagesOf({ snapshot }: LogEntry): readonly string[] {
  interface WithTurn {
    readonly turn?: { readonly items?: readonly { readonly id: string }[] } | null;
  }
  const { set, whole } = snapshot as { set?: WithTurn; whole?: { readonly context?: WithTurn } };
  return ((set ?? whole?.context)?.turn?.items ?? []).map(({ id }) => id);
}
