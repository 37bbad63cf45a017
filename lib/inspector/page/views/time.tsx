import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { actorPath, ask, download } from '../../../page/ask.js';
import { dateAndTime, timeOfDay, withUtc } from '../../../page/clock.js';
import { useAction } from '../../../page/action.js';
import { head } from '../../../page/connection.js';
import { floor, useLoaded, useMachine } from '../live.js';
import { go, linkTo } from '../place.js';
import { readSlice } from '../slice.js';
import { Chart } from '../parts/chart.js';
import { Rail } from '../parts/rail.js';
import { Sequence } from '../parts/sequence.js';
import { Panel } from '../../../page/parts/panel.js';
import { State } from '../../../page/parts/state.js';
import { useRows } from '../../../page/parts/rows.js';
import { readable, Step } from '../parts/step.js';
import { Tree } from '../../../page/parts/tree.js';
import type { Causes, PastActor } from '../../answers.js';
import type { InspectEntry } from '../../../client/inspector-frames.js';
import type { Json } from '../../../../machines/outputs.js';

/**
 * Any moment of the past: what was logged around it, how the actor stood then, and what led from what to
 * what. Everything is read; nothing is run.
 */
export function TimePage({ at }: { readonly at: number | undefined }) {
  const travel = (seq: number | undefined): void =>
    go({ view: 'time', ...(seq !== undefined && { at: seq }) }, { replace: true });
  const newest = useNewest();
  const here = at ?? newest;
  const slice = useLoaded(`slice ${here}`, (signal) => readSlice(here, signal));
  const kept = useRef<readonly InspectEntry[]>([]);
  if (slice.value.value !== undefined) kept.current = slice.value.value;
  const entries = kept.current;
  const chosen = entries.findLast(({ seq }) => seq <= here);
  return (
    <section
      class={at === undefined ? 'view time' : 'view time past'}
      aria-labelledby="time-title"
      data-at={at ?? 'now'}
    >
      <div class="heading">
        <h1 id="time-title">Time</h1>
        <p class="soft">
          {floor.value > 1
            ? `The log reaches back to ${floor.value}.`
            : 'The log reaches back to the beginning.'}
        </p>
      </div>
      <Rail
        from={Math.max(1, floor.value)}
        to={head.value}
        at={at}
        travel={travel}
        says={chosen === undefined ? '' : timeOfDay(chosen.at)}
      />
      {slice.value.error !== undefined && (
        <p class="notice bad" role="alert">
          {slice.value.error}
        </p>
      )}
      {head.value === 0 ? (
        <p class="empty">
          Nothing has happened yet. Begin something: <code>troupe run "count to 3"</code>
        </p>
      ) : (
        <div class="columns time-columns">
          <Log entries={entries} chosen={chosen?.seq} travel={travel} />
          {chosen !== undefined && <Moment entry={chosen} />}
        </div>
      )}
    </section>
  );
}

/** The end of the log, twice a second: anyone who watches it live wants to read, not to flicker. */
function useNewest(): number {
  const newest = useSignal(head.value);
  useEffect(() => {
    const timer = setInterval(() => {
      newest.value = head.value;
    }, 500);
    return () => clearInterval(timer);
  }, []);
  return newest.value;
}

function Log({
  entries,
  chosen,
  travel,
}: {
  readonly entries: readonly InspectEntry[];
  readonly chosen: number | undefined;
  readonly travel: (seq: number) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const { indexes, above, below, measure, reveal } = useRows({
    box: list,
    count: entries.length,
    heightPx: 48,
    keyOf: (index) => entries[index]?.seq ?? index,
  });
  useEffect(() => {
    const at = entries.findIndex(({ seq }) => seq === chosen);
    if (at >= 0) reveal(at, 'center');
  }, [chosen, entries]);
  const shown = indexes.flatMap((index) => {
    const entry = entries[index];
    return entry === undefined ? [] : [{ entry, index }];
  });
  return (
    <Panel name="log" title="Log">
      <div class="history-box log-box" ref={list} tabIndex={0} role="region" aria-label="Log, oldest first">
        <ol class="history log" style={{ paddingTop: `${above}px`, paddingBottom: `${below}px` }}>
          {shown.map(({ entry, index }) => (
            <li
              key={entry.seq}
              ref={measure}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={entries.length}
              data-seq={entry.seq}
              class={`${entry.seq === chosen ? 'at' : ''} ${chosen !== undefined && entry.seq > chosen ? 'later' : ''}`}
            >
              <button
                type="button"
                class="when"
                aria-label={`Go to ${entry.seq}`}
                aria-current={entry.seq === chosen ? 'step' : undefined}
                onClick={() => travel(entry.seq)}
              >
                <span class="num">{entry.seq}</span>
              </button>
              <div class="what">
                <Step entry={entry} />
                <small>
                  <span class="kind-name">{entry.kind}</span> {entry.id}
                </small>
              </div>
            </li>
          ))}
        </ol>
      </div>
    </Panel>
  );
}

function Moment({ entry }: { readonly entry: InspectEntry }) {
  const past = useLoaded(`${entry.kind}/${entry.id}@${entry.seq}`, (signal) =>
    ask<PastActor>(actorPath(entry, `?at=${entry.seq}`), { signal }),
  );
  const machine = useMachine(entry.kind);
  const causes = useLoaded(`causes ${entry.seq}`, (signal) =>
    ask<Causes>(`/api/inspect/causes/${entry.seq}`, { signal }),
  );
  const { type: _type, ...members } = entry.event;
  return (
    <div class="stack">
      <Panel
        name="moment"
        title={<span class="event">{readable(entry.event.type)}</span>}
        about={
          <>
            at <time title={withUtc(entry.at)}>{dateAndTime(entry.at)}</time> by {entry.by}
          </>
        }
      >
        <p>
          <a href={linkTo({ view: 'actor', kind: entry.kind, id: entry.id, at: entry.seq })}>
            <span class="kind-name">{entry.kind}</span> {entry.id}
          </a>{' '}
          <State value={entry.to} />
        </p>
        {machine.value.value !== undefined && (
          <Chart machine={machine.value.value.chart} value={entry.to} last={entry} />
        )}
        <details>
          <summary>Event and context as of {entry.seq}</summary>
          <Tree label="Event" value={members as Json} />
          {past.value.value !== undefined ? (
            <Tree label="Context" value={past.value.value.context} />
          ) : (
            <p class="soft">{past.value.error ?? 'Reading …'}</p>
          )}
        </details>
        <Export entry={entry} />
      </Panel>
      <Panel
        name="causes"
        title="What led from what to what"
        about={causes.value.value?.truncated === true ? 'there is more than is shown' : undefined}
      >
        {causes.value.value === undefined ? (
          <p class="soft">{causes.value.error ?? 'Following …'}</p>
        ) : (
          <Sequence causes={causes.value.value} />
        )}
      </Panel>
    </div>
  );
}

/**
 * A bundle to give away: what people wrote is blanked out in it, and `troupe replay FILE` decides it once
 * more.
 */
function Export({ entry }: { readonly entry: InspectEntry }) {
  const { message, attempt } = useAction();
  const save = (query: Record<string, string>, name: string): Promise<void> =>
    attempt(async () => {
      await download(`/api/inspect/bundle?${new URLSearchParams(query)}`, name);
      return `Saved as ${name}. troupe replay ${name} decides it once more, anywhere.`;
    }, 'Collecting …');
  const from = Math.max(1, entry.seq - 200);
  const name = (text: string): string => `troupe-${text.replace(/[^\w-]+/g, '-').slice(0, 60)}.json`;
  return (
    <div class="export">
      <button
        type="button"
        onClick={() => void save({ kind: entry.kind, id: entry.id }, name(`${entry.kind}-${entry.id}`))}
      >
        Export this actor
      </button>
      <button
        type="button"
        onClick={() => void save({ from: String(from), to: String(entry.seq) }, name(`${from}-${entry.seq}`))}
      >
        Export the log up to here
      </button>
      <p class="soft small" role="status">
        {message || 'A bug bundle without user content.'}
      </p>
    </div>
  );
}
