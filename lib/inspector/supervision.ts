import type { Supervisor } from '../supervisor/contract.js';
import { haltedPlace, type StoredActor } from '../supervisor/inspection-answers.js';
import type { SupervisionTree } from './answers.js';

/**
 * The tree of supervision as it stands: the rules of every kind, who fails and who is halted, what the house
 * lacks.
 */
export async function supervision(supervisor: Supervisor, engines: Engines): Promise<SupervisionTree> {
  const { inspection, status, environment } = supervisor;
  const kinds = await Promise.all(
    inspection.kinds().map(async ({ kind, version, supervision: rules, restarts }) => ({
      kind,
      version,
      total: inspection.counts(kind).total,
      ...rules,
      restarts,
      failing: inspection
        .failing(kind)
        .slice(0, listMax)
        .map((failing) => ({
          ...failing,
          until: failing.until !== null && failing.until > environment.clock.now() ? failing.until : null,
        })),
      halted: await haltedOf(supervisor, kind),
    })),
  );
  return {
    at: environment.clock.now(),
    root: {
      state: status.state,
      subsystems: inspection.subsystems(),
      reindexing: status.reindexing,
      retentionHeldMs: status.retentionHeldMs,
    },
    kinds,
    circuits: [...(await engineCircuits(engines)), ...(await connectorCircuits(supervisor))],
  };
}

/** The public list of the engine registry. */
export interface Engines {
  list(): Promise<{
    readonly engines: Readonly<
      Record<
        string,
        {
          readonly name: string;
          readonly available: boolean;
          readonly reason?: string;
          readonly remedy?: string;
        }
      >
    >;
  }>;
}

async function haltedOf(
  { inspection }: Supervisor,
  kind: string,
): Promise<SupervisionTree['kinds'][number]['halted']> {
  if (inspection.counts(kind).halted === 0) return [];
  const places = await inspection.places(kind, haltedPlace, { limit: listMax });
  const stored = await inspection.stored(places.map(({ id }) => ({ kind, id })));
  return stored.flatMap((actor) =>
    actor === undefined || actor.halted === null ? [] : [{ id: actor.id, ...actor.halted }],
  );
}

async function engineCircuits(engines: Engines): Promise<SupervisionTree['circuits']> {
  const { engines: listed } = await engines.list();
  return Object.values(listed).map(({ name, available, ...why }) => ({
    type: 'engine' as const,
    name,
    state: available ? ('closed' as const) : ('open' as const),
    status: available ? ('works' as const) : ('unavailable' as const),
    reason: reasonOfEngine(why),
    since: null,
    nextTry: null,
  }));
}

/** Why an engine cannot run, and what repairs it. */
export const reasonOfEngine = (why: { readonly reason?: string; readonly remedy?: string }): string | null =>
  [why.reason, why.remedy].filter((part) => part !== undefined).join(' ') || null;

async function connectorCircuits({ inspection }: Supervisor): Promise<SupervisionTree['circuits']> {
  if (!inspection.kinds().some(({ kind }) => kind === 'connector')) return [];
  const stored = await inspection.page('connector', { limit: 200 });
  return stored.map(({ id, view, context, halted, places, timers }) => {
    const { status, detail, name } = view as {
      readonly status?: string;
      readonly detail?: string | null;
      readonly name?: string;
    };
    const { state, status: word } = halted === null ? (links[status ?? ''] ?? failing) : failing;
    return {
      type: 'connector' as const,
      name: name ?? id,
      state,
      status: word,
      reason: halted?.reason ?? detail ?? (state === 'open' ? (status ?? null) : null),
      since:
        halted?.at ??
        (word === 'works' || word === 'stopped' ? linkSince(places) : failingSince(context)) ??
        linkSince(places),
      nextTry: word === 'failing' && halted === null ? nextOf(timers) : null,
    };
  });
}

const failing = { state: 'open', status: 'failing' } as const;
const links: Readonly<
  Record<string, Pick<SupervisionTree['circuits'][number], 'state' | 'status'> | undefined>
> = {
  running: { state: 'closed', status: 'works' },
  starting: { state: 'half-open', status: 'starting' },
  stopped: { state: 'open', status: 'stopped' },
};

/** Of a link that breaks again and again what counts is when it began to. */
const failingSince = (context: StoredActor['context']): number | null =>
  (context as { readonly failingSince?: number | null } | null)?.failingSince ?? null;

/** Of its two regions the link is what counts here; its outbox comes and goes. */
const linkSince = (places: StoredActor['places']): number | null =>
  Object.entries(places).find(([place]) => place.startsWith('link.'))?.[1] ?? null;

function nextOf(timers: StoredActor['timers']): number | null {
  const dues = Object.values(timers).map(({ due }) => due);
  return dues.length === 0 ? null : Math.min(...dues);
}

const listMax = 100;
