import type { ActorKey, Json } from '../../machines/outputs.js';
import { excerpt } from '../../machines/text.js';
import { stateNames } from '../../machines/state-names.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import { haltedPlace, type Place, type StoredActor } from '../supervisor/inspection-answers.js';
import type { Supervisor } from '../supervisor/contract.js';
import type { ActorDetail, ActorsPage, ActorSummary, Fleet, History } from './answers.js';
import { diffOf, entryOf } from './entry-of.js';
import { panelsOf } from './panels.js';
import { childrenOf, parentOf } from './relations.js';
import { redact } from './redact.js';
import { sendableOf } from './sendable.js';

/**
 * Actors as inspectors see them: all of them in numbers, a page of them, one of them, and what happened to
 * it.
 */
export async function fleet(supervisor: Supervisor): Promise<Fleet> {
  const { inspection, status, environment } = supervisor;
  return {
    seq: status.position,
    at: environment.clock.now(),
    kinds: inspection.kinds().map(({ kind, version }) => ({ kind, version, ...inspection.counts(kind) })),
    events: status.events,
    commits: status.commits,
    restarts: status.restarts,
    awake: status.awake,
    effects: status.effects,
    deadLetters: await inspection.deadLetters(),
  };
}

export interface ActorsQuery {
  readonly kind: string;
  readonly state?: string | undefined;
  readonly order?: 'id' | 'age' | undefined;
  /** Seconds: only those that have been in the state for so long at least. */
  readonly age?: number | undefined;
  readonly after?: string | undefined;
  /** Pass over so many first, instead of `after`. */
  readonly offset?: number | undefined;
  readonly limit: number;
}

/** A page that costs the same however many actors there are; with `offset`, the keys that are passed over. */
export async function actors(
  supervisor: Supervisor,
  { kind, state, age, after, offset, limit }: ActorsQuery,
): Promise<ActorsPage | Refusal> {
  const { inspection } = supervisor;
  if (!inspection.kinds().some((known) => known.kind === kind))
    return refuse('BAD_REQUEST', { path: 'kind' }, `kind: unknown kind of actor "${kind}"`);
  if (state === undefined) {
    const page = await inspection.page(kind, { limit, ...from(after, offset) });
    return {
      actors: page.map((stored) => summaryOf(stored)),
      next: page.length === limit ? (page.at(-1)?.id ?? null) : null,
    };
  }
  const { places, next } = await longestIn(supervisor, kind, state, {
    after,
    offset,
    limit,
    until: age === undefined ? Infinity : supervisor.environment.clock.now() - age * 1_000,
  });
  const stored = await inspection.stored(places.map(({ id }) => ({ kind, id })));
  return {
    actors: stored.flatMap((one, n) => (one === undefined ? [] : [summaryOf(one, places[n]?.since)])),
    next,
  };
}

/** Those longest in any of the states that are meant, first: a merge of one sorted list for each of them. */
async function longestIn(
  supervisor: Supervisor,
  kind: string,
  state: string,
  {
    after,
    offset,
    limit,
    until,
  }: Pick<ActorsQuery, 'after' | 'offset' | 'limit'> & { readonly until: number },
): Promise<{ places: readonly Place[]; next: string | null }> {
  const { inspection } = supervisor;
  const known = Object.keys(inspection.counts(kind).states);
  const outer = state.endsWith('.') ? state : `${state}.`;
  // `resting`, `resting.idle` and `idle` all mean sessions in `resting.idle`
  const exact = known.filter(
    (name) => name === state || name.startsWith(outer) || name.endsWith(`.${state}`),
  );
  const names = exact.length === 0 && state === 'halted' ? [haltedPlace] : exact;
  if (names.length > 1 && (offset ?? 0) > 0)
    return passedOver(supervisor, kind, state, { offset: offset ?? 0, limit, until });
  const lists = await Promise.all(
    names.map((name) => inspection.places(kind, name, { limit: limit + 1, ...from(after, offset) })),
  );
  const merged = lists.flat().sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0));
  const unique = merged.filter(({ place, since }, n) => place !== merged[n - 1]?.place && since <= until);
  const places = unique.slice(0, limit);
  return { places, next: unique.length > limit ? (places.at(-1)?.place ?? null) : null };
}

/** How many stand before a place in one of several lists no list tells: they are merged up to there. */
async function passedOver(
  supervisor: Supervisor,
  kind: string,
  state: string,
  { offset, limit, until }: { readonly offset: number; readonly limit: number; readonly until: number },
): ReturnType<typeof longestIn> {
  let after: string | undefined;
  for (let left = offset; left > 0;) {
    const { places, next } = await longestIn(supervisor, kind, state, {
      after,
      limit: Math.min(left, 900),
      until,
    });
    if (next === null) return { places: [], next };
    after = next;
    left -= places.length;
  }
  return longestIn(supervisor, kind, state, { after, limit, until });
}

const from = (
  after: string | undefined,
  offset: number | undefined,
): { after?: string; offset?: number } => ({
  ...(after !== undefined && { after }),
  ...(after === undefined && offset !== undefined && { offset }),
});

export async function detail(supervisor: Supervisor, actor: ActorKey): Promise<ActorDetail | undefined> {
  const { inspection } = supervisor;
  const [stored] = await inspection.stored([actor]);
  if (stored === undefined) return undefined;
  const kind = inspection.kinds().find(({ kind: name }) => name === actor.kind);
  const [children, inbox, letters, panels] = await Promise.all([
    childrenOf(supervisor, actor, childrenMax),
    inspection.inbox(actor),
    supervisor.deadLetters({ limit: 500 }),
    panelsOf(supervisor, actor),
  ]);
  const shown = children.slice(0, childrenMax);
  const below = await inspection.stored(shown);
  return {
    ...summaryOf(stored),
    version: stored.version,
    view: stored.view,
    context: redact(stored.context),
    meta: {
      kind: stored.kind,
      id: stored.id,
      rev: stored.revision,
      createdAt: stored.createdAt,
      updatedAt: stored.updatedAt,
      parent: stored.parent,
      halted: stored.halted,
    },
    children: shown.map((key, n) => ({
      ...key,
      value: below[n]?.value ?? null,
      title: below[n] === undefined ? null : titleOf(below[n].view),
    })),
    timers: Object.values(stored.timers)
      .map(({ due, event }) => ({
        due,
        event: event.type,
        name: /^xstate\.after\.([^.]+)\./.exec(event.type)?.[1] ?? event.type,
      }))
      .sort((a, b) => a.due - b.due),
    calls: Object.entries(stored.calls).map(([id, { src, key }]) => ({
      id,
      src,
      key,
      running: stored.halted === null,
    })),
    failures: stored.failures,
    inbox,
    deadLetters: letters.filter((letter) => letter.actor.kind === actor.kind && letter.actor.id === actor.id)
      .length,
    sendable: kind === undefined || stored.halted !== null ? [] : sendableOf(kind.definition),
    panels,
  };
}

/** Newest first; with `diff` each entry says what it changed. */
export async function history(
  supervisor: Supervisor,
  actor: ActorKey,
  query: {
    readonly before?: number | undefined;
    /** Begin at this step of it; its first is 1. */
    readonly revision?: number | undefined;
    readonly limit: number;
    readonly diff?: boolean | undefined;
  },
): Promise<History> {
  const before =
    query.revision === undefined ? query.before : await positionAfter(supervisor, actor, query.revision);
  const entries = await supervisor.history(actor, {
    limit: query.limit,
    ...(before === undefined ? {} : { before }),
  });
  if (query.diff !== true) return { entries: entries.map(entryOf) };
  return {
    entries: await Promise.all(
      entries.map(async (entry) => {
        const past =
          'whole' in (entry.snapshot as object) && entry.previous > 0
            ? await supervisor.past(actor, entry.previous)
            : undefined;
        return { ...entryOf(entry), diff: diffOf(entry, past?.context as Record<string, Json> | undefined) };
      }),
    ),
  };
}

/** The log position right after a step of an actor, by its number. Reached over the whole snapshots between. */
async function positionAfter(
  { inspection }: Supervisor,
  actor: ActorKey,
  revision: number,
): Promise<number | undefined> {
  const [stored] = await inspection.stored([actor]);
  let entry = stored && (await inspection.entry(stored.position));
  while (entry !== undefined && entry.revision > revision) {
    const far =
      entry.snapshotAt < entry.position && entry.snapshotAt > 0
        ? await inspection.entry(entry.snapshotAt)
        : undefined;
    entry = far !== undefined && far.revision >= revision ? far : await inspection.entry(entry.previous);
  }
  return entry === undefined ? 1 : entry.position + 1;
}

export function summaryOf(stored: StoredActor, since?: number): ActorSummary {
  const {
    kind,
    id,
    value,
    status,
    revision: rev,
    position: seq,
    createdAt,
    updatedAt,
    halted,
    timers,
    calls,
    places,
  } = stored;
  const dues = Object.values(timers).map(({ due }) => due);
  return {
    kind,
    id,
    value,
    status,
    rev,
    seq,
    createdAt,
    updatedAt,
    halted,
    parent: parentOf(stored),
    since:
      since ??
      Object.entries(places).reduce(
        (latest, [name, at]) => (name === haltedPlace ? latest : Math.max(latest, at)),
        0,
      ),
    effects: Object.values(calls).map(({ src }) => src),
    due: dues.length === 0 ? null : Math.min(...dues),
    reason: halted?.reason ?? reasonOf(stored),
    title: titleOf(stored.view),
  };
}

/** As the views of kinds name it by convention; of an actor that goes on, it is of before. */
function reasonOf({ value, view }: Pick<StoredActor, 'value' | 'view'>): string | null {
  if (!stateNames(value).some((name) => stopped.test(name))) return null;
  const { reason, lastError, error, detail, errors } = (
    typeof view === 'object' && view !== null && !Array.isArray(view) ? view : {}
  ) as Readonly<Record<string, unknown>>;
  const first = Array.isArray(errors)
    ? (errors[0] as { readonly message?: unknown } | undefined)?.message
    : null;
  const text = [reason, lastError, error, detail, first].find((one) => typeof one === 'string' && one !== '');
  return typeof text === 'string' ? excerpt(text, reasonCharsMax) : null;
}
const reasonCharsMax = 2_000;
const stopped = /(?:^|\.)(?:error|blocked|interrupted|failed)$/;

/**
 * What a person calls an actor: `titleOf({title: 'Water the plants'})` is `'Water the plants'`; null where its view has
 * none.
 */
export function titleOf(view: Json): string | null {
  const { title, name } = (typeof view === 'object' && view !== null && !Array.isArray(view) ? view : {}) as {
    readonly title?: unknown;
    readonly name?: unknown;
  };
  const text = typeof title === 'string' && title !== '' ? title : name;
  return typeof text === 'string' ? text.slice(0, 200) : null;
}

const childrenMax = 100;
