import type { Signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { stateNames } from '../../../../machines/state-names.js';
import { short, timeOfDay, withUtc } from '../../../page/clock.js';
import { Panel } from '../../../page/parts/panel.js';
import { useRows } from '../../../page/parts/rows.js';
import type { Chart } from '../../chart/definition.js';
import { linkTo } from '../place.js';
import type { StepReader } from '../steps.js';
import { nameOf, takes, type Filter } from '../taken.js';
import { readable, Step } from './step.js';
import { Details, valuesBefore, type Values } from './changes.js';
import type { InspectEntry } from '../../../client/inspector-frames.js';

/**
 * What happened to an actor, newest first, and what each step changed. A click goes back to that moment. However long
 * the life, only the steps that can be seen are in the page.
 */
export function History({
  reader: { steps: read, earlier, later },
  machine,
  filter,
  at,
  travel,
}: {
  readonly reader: StepReader;
  readonly machine: Chart | undefined;
  readonly filter: Signal<Filter | undefined>;
  readonly at: number | undefined;
  readonly travel: (seq: number | undefined) => void;
}) {
  const { entries, error, whole, isPast, busy } = read.value;
  const chosen = filter.value;
  const shown = useMemo(
    () => (chosen === undefined ? entries : entries.filter((entry) => takes(chosen, entry, machine))),
    [entries, chosen, machine],
  );
  const before = useMemo(() => valuesBefore(entries), [entries]);
  const current = at === undefined ? entries[0]?.seq : entries.find(({ seq }) => seq <= at)?.seq;
  const box = useRef<HTMLDivElement>(null);
  const { indexes, above, below, measure, reveal } = useRows({
    box,
    count: shown.length,
    heightPx: 64,
    keyOf: (index) => shown[index]?.seq ?? index,
  });
  const atIndex = shown.findIndex(({ seq }) => seq === current);
  useEffect(() => {
    if (at !== undefined && atIndex >= 0) reveal(atIndex);
  }, [at, atIndex]);
  return (
    <Panel
      name="history"
      title="History"
      about={countOf(entries, { whole, isPast, found: chosen && shown.length })}
      error={error}
    >
      <FilterBar entries={entries} filter={filter} />
      {isPast && (
        <button type="button" class="earlier" onClick={later} aria-disabled={busy}>
          {busy ? 'Loading …' : 'Later steps'}
        </button>
      )}
      {shown.length === 0 && chosen !== undefined && (
        <p class="empty">None of these steps. Earlier ones may be.</p>
      )}
      <div class="history-box" ref={box} tabIndex={0} role="region" aria-label="Steps, newest first">
        <ol class="history" style={{ paddingTop: `${above}px`, paddingBottom: `${below}px` }}>
          {indexes.map((index) => {
            const entry = shown[index];
            return (
              entry !== undefined && (
                <Row
                  key={entry.seq}
                  entry={entry}
                  index={index}
                  count={shown.length}
                  measure={measure}
                  before={before.get(entry.seq)}
                  where={
                    entry.seq === current ? 'at' : at !== undefined && entry.seq > at ? 'later' : undefined
                  }
                  travel={travel}
                />
              )
            );
          })}
        </ol>
      </div>
      {!whole && (
        <button type="button" class="earlier" onClick={earlier} aria-disabled={busy}>
          {busy ? 'Loading …' : 'Earlier steps'}
        </button>
      )}
    </Panel>
  );
}

function countOf(
  entries: readonly InspectEntry[],
  {
    whole,
    isPast,
    found,
  }: { readonly whole: boolean; readonly isPast: boolean; readonly found: number | undefined },
): string {
  const count = `${entries.length} ${entries.length === 1 ? 'step' : 'steps'}`;
  const [newest, oldest] = [entries[0], entries.at(-1)];
  const which = isPast ? `steps ${oldest?.rev} to ${newest?.rev}` : whole ? count : `the last ${count}`;
  return found === undefined ? which : `${found} of ${which}`;
}

/** Which steps are shown: all, those of an event, or those that the chart was asked for. */
function FilterBar({
  entries,
  filter,
}: {
  readonly entries: readonly InspectEntry[];
  readonly filter: Signal<Filter | undefined>;
}) {
  const chosen = filter.value;
  const types = [...new Set(entries.map(({ event }) => event.type))].sort();
  const states = [...new Set(entries.flatMap(({ to }) => stateNames(to)))].sort();
  const value = chosen === undefined ? '' : `${chosen.by}:${nameOf(chosen)}`;
  return (
    <p class="history-filter">
      <label>
        Show{' '}
        <select
          value={value}
          onChange={({ currentTarget }) => {
            const [by, ...rest] = currentTarget.value.split(':');
            const name = rest.join(':');
            filter.value =
              by === 'event'
                ? { by, type: name }
                : by === 'state'
                  ? { by, path: name }
                  : by === '' || by === undefined
                    ? undefined
                    : chosen;
          }}
        >
          <option value="">all steps</option>
          {chosen?.by === 'edges' && <option value={value}>{short(nameOf(chosen), 60)}</option>}
          {chosen?.by === 'state' && !states.includes(chosen.path) && (
            <option value={value}>{chosen.path}</option>
          )}
          <optgroup label="Into or out of">
            {states.map((path) => (
              <option key={path} value={`state:${path}`}>
                {path}
              </option>
            ))}
          </optgroup>
          <optgroup label="Events">
            {types.map((type) => (
              <option key={type} value={`event:${type}`}>
                {readable(type)}
              </option>
            ))}
          </optgroup>
        </select>
      </label>
      {chosen !== undefined && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            filter.value = undefined;
          }}
        >
          Show all steps
        </button>
      )}
    </p>
  );
}

function Row({
  entry,
  index,
  count,
  measure,
  before,
  where,
  travel,
}: {
  readonly entry: InspectEntry;
  readonly index: number;
  readonly count: number;
  readonly measure: (row: Element | null) => void;
  readonly before: Values | undefined;
  readonly where: 'at' | 'later' | undefined;
  readonly travel: (seq: number) => void;
}) {
  return (
    <li
      ref={measure}
      data-index={index}
      data-seq={entry.seq}
      class={where ?? ''}
      aria-posinset={index + 1}
      aria-setsize={count}
    >
      <button
        type="button"
        class="when"
        aria-current={where === 'at' ? 'step' : undefined}
        onClick={() => travel(entry.seq)}
        aria-label={`Go to ${entry.seq}`}
        title={`Go to ${entry.seq}`}
      >
        <span class="num">{entry.seq}</span>
      </button>
      <div class="what">
        <Step entry={entry} />
        <small>
          <time title={withUtc(entry.at)}>{timeOfDay(entry.at)}</time> by {entry.by}
          {entry.cause !== null && (
            <>
              ,{' '}
              <a href={linkTo({ view: 'time', at: entry.seq })}>
                because of {typeof entry.cause === 'number' ? `step ${entry.cause}` : entry.cause}
              </a>
            </>
          )}
          {entry.effects.length > 0 && (
            <>
              ,{' '}
              {entry.effects
                .map((name) => (name.startsWith('-') ? `left ${name.slice(1)}` : `started ${name}`))
                .join(', ')}
            </>
          )}
        </small>
        <Details entry={entry} before={before} />
      </div>
    </li>
  );
}
