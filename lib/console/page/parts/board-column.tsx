import { useSignal, type Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { whole } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { LongList } from '../../../page/parts/long-list.js';
import { named, useLoaded } from '../live.js';
import type { Place } from '../place.js';
import { words, type Status, type WorkItemRow } from '../work-items.js';
import { Card } from './card.js';
import type { Move, Moves } from './moves.js';
import { Fault } from './answered.js';

export type BoardPlace = Extract<Place, { readonly view: 'board' }>;

interface ColumnProps {
  readonly status: Status;
  readonly place: BoardPlace;
  readonly dragged: Signal<Moves | undefined>;
  /** Moves that the gateway is asked for right now. */
  readonly moved: Signal<ReadonlyMap<string, Status>>;
  readonly drag: (item: WorkItemRow) => void;
  readonly choose: (item: WorkItemRow) => void;
  readonly drop: (to: Move) => void;
  readonly followed: RefObject<string | null>;
}

/**
 * The work items of one status, of any number: those that one looks at are read, a hundred at a time. Lanes need to
 * know all that they sort, so there it is the first hundreds.
 */
export function Column({ status, place, dragged, moved, drag, choose, drop, followed }: ColumnProps) {
  const pages = useSignal<PageRange>({ first: 0, last: 0 });
  const { assignee, q, lanes } = place;
  const filter = `${assignee ?? ''}&${q ?? ''}&${lanes ?? ''}`;
  const known = useRef<{ readonly of: string; readonly column: ColumnRows } | undefined>(undefined);
  if (known.current?.of !== filter) {
    known.current = undefined;
    if (pages.value.last > 0) pages.value = { first: 0, last: 0 };
  }
  const { first, last } = pages.value;
  const loaded = useLoaded(
    `${status}?${filter}&${first}-${last}`,
    async (signal) => {
      const query = { status, ...(assignee !== undefined && { assignee }), ...(q !== undefined && { q }) };
      const column = await readPages(query, pages.value, known.current?.column, signal);
      settle(column.rows);
      known.current = { of: filter, column };
      return column;
    },
    { touches: named(/^company:/) },
  );
  /** What the gateway shows where it was moved to is no guess any more. */
  const settle = (rows: ColumnRows['rows']): void => {
    const left = new Map(moved.value);
    for (const row of rows) if (row !== undefined && left.get(row.id) === status) left.delete(row.id);
    if (left.size !== moved.value.size) moved.value = left;
  };
  const { value = known.current?.column, error } = loaded.value;
  const rows = (value?.rows ?? [])
    .map((row, index) => row ?? index)
    .filter((row) => typeof row === 'number' || (moved.value.get(row.id) ?? status) === status);
  const target = dragged.value?.moves.find((move) => move.status === status);
  const isOwn = dragged.value?.item.status === status;
  const refusal = target?.allowed === false ? (target.reason ?? 'This is not allowed.') : undefined;
  const className = [
    'column',
    rows.length === 0 && status !== 'backlog' && 'bare',
    dragged.value !== undefined && !isOwn && target !== undefined && (target.allowed ? 'open' : 'refused'),
  ]
    .filter(Boolean)
    .join(' ');
  const groups = lanes === undefined ? [['', rows] as const] : byLane(rows, lanes);
  const left = lanes === undefined ? 0 : rows.filter((row) => typeof row === 'number').length;
  return (
    <section
      class={className}
      aria-labelledby={`column-${status}`}
      data-status={status}
      title={refusal}
      onDragOver={(event) => {
        if (target?.allowed === true) event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        if (target?.allowed === true) drop(target);
      }}
    >
      <h2 id={`column-${status}`}>
        {words(status)} <span class="soft num">{whole(value?.rows.length ?? 0)}</span>
      </h2>
      {refusal !== undefined && <p class="refusal small">{refusal}</p>}
      {status === 'backlog' && <NewItem />}
      {error !== undefined && <p class="bad small">{error}</p>}
      {groups.map(([lane, items]) => (
        <div key={lane} class="lane">
          {lanes !== undefined && <h3>{lane}</h3>}
          <LongList
            items={items}
            keyOf={(row) => (typeof row === 'number' ? `at ${row}` : row.id)}
            heightPx={72}
            {...(lanes === undefined && {
              onRange: (from: number, to: number) => {
                const next = {
                  first: Math.floor(from / pageMax),
                  last: Math.floor(Math.max(0, to - 1) / pageMax),
                };
                if (next.first !== pages.value.first || next.last !== pages.value.last) pages.value = next;
              },
            })}
            row={(row, at) =>
              typeof row === 'number' ? (
                <li key={`at ${row}`} class="card coming" {...at} />
              ) : (
                <Card
                  key={row.id}
                  item={row}
                  at={at}
                  drag={() => drag(row)}
                  end={() => {
                    dragged.value = undefined;
                  }}
                  choose={() => choose(row)}
                  followed={followed}
                />
              )
            }
          />
        </div>
      ))}
      {left > 0 && last + 1 >= lanePagesMax && (
        <p class="soft small">{whole(left)} more: write words above to see those that are meant.</p>
      )}
      {left > 0 && last + 1 < lanePagesMax && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            pages.value = { first: 0, last: last + 1 };
          }}
        >
          {whole(left)} more
        </button>
      )}
    </section>
  );
}

interface PageRange {
  readonly first: number;
  readonly last: number;
}

/** As long as the column is: undefined is one that was not looked at yet. */
interface ColumnRows {
  readonly rows: readonly (WorkItemRow | undefined)[];
}

/** The gateway gives a hundred at a time. What was read before of other pages stays until one looks there again. */
async function readPages(
  query: { readonly status: Status; readonly assignee?: string; readonly q?: string },
  { first, last }: PageRange,
  before: ColumnRows | undefined,
  signal: AbortSignal,
): Promise<ColumnRows> {
  const pages = await Promise.all(
    Array.from({ length: last - first + 1 }, (_, n) =>
      must(
        client.get('/api/work-items', {
          params: { query: { ...query, limit: String(pageMax), offset: String((first + n) * pageMax) } },
          signal,
        }),
      ),
    ),
  );
  const read = new Map(pages.flatMap(({ workItems }) => workItems.map((row) => [row.id, row])));
  const rows = Array.from<WorkItemRow | undefined>({ length: pages[0]?.total ?? 0 });
  // Others have moved up or down since: each is there once, where it was read last
  before?.rows.slice(0, rows.length).forEach((row, index) => {
    if (row !== undefined && !read.has(row.id)) rows[index] = row;
  });
  rows.fill(undefined, first * pageMax, (last + 1) * pageMax);
  [...read.values()].forEach((row, n) => {
    rows[first * pageMax + n] = row;
  });
  return { rows };
}

const pageMax = 100;
const lanePagesMax = 5;

function byLane(
  rows: readonly (WorkItemRow | number)[],
  lanes: 'assignee' | 'department',
): readonly (readonly [string, readonly WorkItemRow[]])[] {
  const groups = new Map<string, WorkItemRow[]>();
  for (const row of rows) {
    if (typeof row === 'number') continue;
    const name = row[lanes] ?? 'none';
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}

function NewItem() {
  const field = useRef<HTMLInputElement>(null);
  const { message, busy, attempt } = useAction();
  return (
    <form
      class="new-item"
      onSubmit={(event) => {
        event.preventDefault();
        const title = field.current?.value.trim() ?? '';
        if (title === '') return;
        void attempt(async () => {
          await must(client.post('/api/work-items', { body: { title } }));
          if (field.current) field.current.value = '';
        });
      }}
    >
      <input
        ref={field}
        aria-label="Title of a new work item"
        placeholder="Add a work item"
        maxLength={200}
        disabled={busy}
      />
      <Fault message={message} />
    </form>
  );
}
