import type { ActorsPage, ActorSummary, Fleet } from '../../../inspector/answers.js';
import { ask } from '../../../page/ask.js';
import { now, span, whole } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { Count, linkOf, More, rowsMax } from './rows.js';

/** Sessions and runs at work: those that have been so longest, and how many there are. */
export interface WorkingList {
  readonly rows: readonly ActorSummary[];
  readonly total: number;
  /** Sessions of these whose turn waits for a free process. */
  readonly queued: ReadonlySet<string>;
}

const kinds = ['session', 'workflow-run'];

export function useWorking(): {
  readonly list: WorkingList | undefined;
  readonly error: string | undefined;
} {
  const loaded = useLoaded('working', read, {
    touches: named(/^(?:session|sessions|run):/),
    restMs: 1_000,
  });
  return { list: loaded.value.value, error: loaded.value.error };
}

async function read(signal: AbortSignal): Promise<WorkingList> {
  const running = { status: 'running', limit: '50' } as const;
  const [fleet, found, ...pages] = await Promise.all([
    ask<Fleet>('/api/inspect/fleet', { signal }),
    must(client.get('/api/search/sessions', { params: { query: running }, signal })),
    ...kinds.map((kind) => {
      const query = new URLSearchParams({ kind, state: 'running', limit: String(rowsMax) });
      return ask<ActorsPage>(`/api/inspect/actors?${query}`, { signal });
    }),
  ]);
  const rows = pages.flatMap(({ actors }) => actors).sort((one, other) => one.since - other.since);
  const counted = fleet.kinds
    .filter(({ kind }) => kinds.includes(kind))
    .reduce((sum, { states }) => sum + (states['running'] ?? 0), 0);
  // What was read a moment apart may differ by one that has just begun
  const queued = found.sessions.flatMap(({ id, transportState }) =>
    transportState === 'queued' ? [id] : [],
  );
  const total = pages.every(({ next }) => next === null) ? rows.length : counted;
  return { rows, total, queued: new Set(queued) };
}

export function Working({ list, error }: ReturnType<typeof useWorking>) {
  const shown = list?.rows.slice(0, rowsMax) ?? [];
  return (
    <section class="panel" aria-labelledby="working-title">
      <h2 id="working-title">
        At work <Count of={list?.total} />
      </h2>
      {error !== undefined && <p class="bad small">{error}</p>}
      {list?.total === 0 && (
        <p class="empty">
          Nothing runs right now. <a href={linkTo({ view: 'chat' })}>Talk to an agent</a> or take something
          from the <a href={linkTo({ view: 'board' })}>board</a>.
        </p>
      )}
      {list !== undefined && list.queued.size > 0 && (
        <p class="soft small" data-queued>
          {whole(list.queued.size)} of them {list.queued.size === 1 ? 'waits' : 'wait'} for a free process: as
          many work at once as <code>maxProcesses</code> allows.
        </p>
      )}
      <ul class="rows">
        {shown.map((actor) => (
          <li key={`${actor.kind}/${actor.id}`}>
            <a href={linkOf(actor)}>
              {actor.kind === 'session' && list?.queued.has(actor.id) ? (
                <b class="state wait">queued</b>
              ) : (
                <i class="lamp running" aria-hidden="true" />
              )}
              <span class="title clip">{actor.title ?? actor.id}</span>
              <span class="soft num end">{span(now.value - actor.since)}</span>
            </a>
          </li>
        ))}
      </ul>
      <More count={(list?.total ?? 0) - shown.length} href={linkTo({ view: 'chat' })} />
    </section>
  );
}
