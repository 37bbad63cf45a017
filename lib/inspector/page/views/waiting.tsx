import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { now, span, withUtc } from '../../../page/clock.js';
import { LongList, type RowPlace } from '../../../page/parts/long-list.js';
import { attention, type Waiting } from '../attention.js';
import { linkTo, type Place } from '../place.js';
import { Decide } from '../parts/decide.js';
import { DeadLettersPanel } from '../parts/letters.js';
import { Stale, Stopped } from '../parts/stopped.js';

/**
 * What is stuck, and why: everything that waits on a person or an employee, longest first, with what ends it; and
 * below it what has stopped by itself. What was searched and how far one had read survives the way back.
 */
export function WaitingPage() {
  useEffect(() => {
    scrollTo({ top: scrolled });
    return () => {
      scrolled = scrollY;
    };
  }, []);
  const read = attention.value;
  const all = read?.waiting ?? [];
  const found = sorted(all.filter(matches));
  return (
    <section class="view" aria-labelledby="waiting-title">
      <div class="heading">
        <h1 id="waiting-title">Waiting</h1>
        <p class="soft">
          {read === undefined ? 'Loading …' : `${all.length}${read.isCut ? ' and more' : ''}, longest first`}
        </p>
      </div>
      {read?.error !== undefined && (
        <p class="notice bad" role="alert">
          {read.error}
        </p>
      )}
      {all.length > 0 && <Filters all={all} />}
      {read !== undefined && all.length === 0 ? (
        <div class="panel">
          <p class="empty">Nothing waits on a person or an employee.</p>
        </div>
      ) : (
        all.length > 0 && <Table found={found} />
      )}
      <Stale />
      <Stopped />
      <DeadLettersPanel />
    </section>
  );
}

let scrolled = 0;
const words = signal('');
const what = signal('');
const on = signal('');
const order = signal<{ readonly by: Column; readonly isDown: boolean }>({ by: 'since', isDown: false });

type Column = 'title' | 'what' | 'on' | 'since' | 'until';

/** Every word somewhere in it: `gate ann report`. */
function matches(waiting: Waiting): boolean {
  const text = `${waiting.title} ${waiting.kind} ${waiting.id} ${waiting.what} ${waiting.on}`.toLowerCase();
  return (
    (what.value === '' || waiting.what === what.value) &&
    (on.value === '' || waiting.on === on.value) &&
    words.value
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word))
  );
}

function sorted(rows: readonly Waiting[]): readonly Waiting[] {
  const { by, isDown } = order.value;
  const keyOf = (row: Waiting): string => row[by] ?? '9999'; // what never ends by itself comes last
  return [...rows].sort(
    (a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0) * (isDown ? -1 : 1),
  );
}

function Filters({ all }: { readonly all: readonly Waiting[] }) {
  const choices = (member: 'what' | 'on'): readonly string[] =>
    [...new Set(all.map((row) => row[member]))].sort();
  return (
    <form class="filters" role="search" aria-label="Waiting" onSubmit={(event) => event.preventDefault()}>
      <label>
        Find
        <input
          type="search"
          value={words.value}
          placeholder="words of the title, an id, a kind"
          onInput={(event) => {
            words.value = event.currentTarget.value;
          }}
        />
      </label>
      {(
        [
          ['For', what, 'what'],
          ['On', on, 'on'],
        ] as const
      ).map(([label, chosen, member]) => (
        <label key={label}>
          {label}
          <select
            value={chosen.value}
            onChange={(event) => {
              chosen.value = event.currentTarget.value;
            }}
          >
            <option value="">all</option>
            {choices(member).map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        </label>
      ))}
    </form>
  );
}

const columns: readonly (readonly [Column, string])[] = [
  ['title', 'What'],
  ['what', 'Waits for'],
  ['on', 'On'],
  ['since', 'For'],
  ['until', 'Ends by itself'],
];

function Table({ found }: { readonly found: readonly Waiting[] }) {
  const { by, isDown } = order.value;
  return (
    <div class="panel table-box">
      <table class="waiting" aria-label="What waits" aria-rowcount={found.length + 1}>
        <thead>
          <tr>
            {columns.map(([column, name]) => (
              <th
                key={column}
                scope="col"
                aria-sort={by === column ? (isDown ? 'descending' : 'ascending') : 'none'}
              >
                <button
                  type="button"
                  class="quiet"
                  onClick={() => {
                    order.value = { by: column, isDown: by === column && !isDown };
                  }}
                >
                  {name}
                </button>
              </th>
            ))}
            <th scope="col">Decide</th>
          </tr>
        </thead>
        <LongList
          of="table"
          items={found}
          keyOf={keyOf}
          heightPx={58}
          row={(row, at) => <Row key={keyOf(row)} row={row} at={at} />}
        />
      </table>
      {found.length === 0 && <p class="empty">Nothing that waits matches.</p>}
    </div>
  );
}

const keyOf = ({ kind, id, waitingId }: Waiting): string => `${kind}/${id}/${waitingId}`;

function Row({ row, at }: { readonly row: Waiting; readonly at: RowPlace }) {
  const since = Date.parse(row.since);
  const until = row.until === null ? null : Date.parse(row.until);
  return (
    <tr data-waiting={row.waitingId} {...at}>
      <th scope="row">
        <a href={linkTo(placeOf(row))}>{row.title}</a>
        <small>
          <span class="kind-name">{row.kind}</span> {row.id}
        </small>
      </th>
      <td>{row.what}</td>
      <td>{row.on}</td>
      <td class="num" title={withUtc(since)}>
        {span(now.value - since)}
      </td>
      <td class="num">
        {until === null ? (
          <span class="soft">never</span>
        ) : until > now.value ? (
          `in ${span(until - now.value)}`
        ) : (
          'now'
        )}
      </td>
      <td>
        <Decide waiting={row} />
      </td>
    </tr>
  );
}

const placeOf = ({ kind, id, within }: Waiting): Place =>
  kind === 'workflow-run' && within !== undefined
    ? { view: 'runs', workflow: within, id }
    : { view: 'actor', kind, id };
