import { useSignal, type Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { said } from '../../../page/ask.js';
import { whole } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { LongList } from '../../../page/parts/long-list.js';
import { named, useLoaded } from '../live.js';
import { Card } from '../parts/card.js';
import { MoveDialog, readMoves, type Move, type Moves } from '../parts/moves.js';
import { go, type Place } from '../place.js';
import { statuses, words, type Status, type WorkItemRow } from '../work-items.js';

type BoardPlace = Extract<Place, { readonly view: 'board' }>;

/** Work items by their status. A column that is not allowed says why while one drags, and on the way by keys. */
export function BoardPage({ place }: { readonly place: BoardPlace }) {
  const dragged = useSignal<Moves | undefined>(undefined);
  const dialog = useSignal<{ readonly moves: Moves; readonly to?: Move } | undefined>(undefined);
  const moved = useSignal<ReadonlyMap<string, Status>>(new Map());
  const outcome = useSignal('');
  const org = useLoaded('people', () => must(client.get('/api/org')).catch(() => undefined));

  /** At once, and back where it was with the gateway's reason where that says no. */
  const move = async ({
    item,
    to,
    note,
  }: {
    item: Moves['item'];
    to: Move;
    note?: string;
  }): Promise<void> => {
    dialog.value = undefined;
    if (to.noteNeeded === true && (note ?? '') === '') {
      dialog.value = { moves: { item, moves: [to] }, to };
      return;
    }
    moved.value = new Map(moved.value).set(item.id, to.status);
    outcome.value = '';
    try {
      await must(
        client.post('/api/work-items/{id}/status', {
          params: { path: { id: item.id } },
          body: { status: to.status, ...(note && { note }) },
        }),
      );
    } catch (error) {
      outcome.value = `${item.id} stays in ${words(item.status)}: ${said(error)}`;
      const back = new Map(moved.value);
      back.delete(item.id);
      moved.value = back;
    }
  };
  const drag = async (item: WorkItemRow): Promise<void> => {
    dragged.value = { item, moves: [] };
    const moves = await readMoves(item).catch(() => undefined);
    if (dragged.value?.item.id === item.id) dragged.value = moves;
  };
  const choose = (item: WorkItemRow): void =>
    void readMoves(item).then(
      (moves) => {
        dialog.value = { moves };
      },
      (error: unknown) => {
        outcome.value = said(error);
      },
    );

  return (
    <div class="view board-view">
      <div class="heading">
        <h1>Board</h1>
        <Filters place={place} people={org.value.value?.employees.map(({ name }) => name) ?? []} />
      </div>
      <p class={outcome.value === '' ? 'unseen' : 'notice bad'} role="status" data-outcome>
        {outcome.value}
      </p>
      <div class="board" role="group" aria-label="Work items by status">
        {statuses.map((status) => (
          <Column
            key={status}
            status={status}
            place={place}
            dragged={dragged}
            moved={moved}
            drag={(item) => void drag(item)}
            choose={choose}
            drop={(to) => {
              const what = dragged.value;
              dragged.value = undefined;
              if (what !== undefined) void move({ item: what.item, to });
            }}
          />
        ))}
      </div>
      {dialog.value !== undefined && (
        <MoveDialog
          {...dialog.value}
          close={() => {
            dialog.value = undefined;
          }}
          choose={(to, note) => void move({ item: dialog.value!.moves.item, to, note })}
        />
      )}
    </div>
  );
}

function Filters({ place, people }: { readonly place: BoardPlace; readonly people: readonly string[] }) {
  const change = (to: { [Member in keyof BoardPlace]?: BoardPlace[Member] | undefined }): void => {
    const { lanes, assignee, q } = { ...place, ...to };
    go(
      { view: 'board', ...(lanes && { lanes }), ...(assignee && { assignee }), ...(q && { q }) },
      { replace: true },
    );
  };
  return (
    <p class="filters">
      <input
        type="search"
        aria-label="Only with these words"
        placeholder="Filter"
        value={place.q ?? ''}
        onInput={(event) => change({ q: event.currentTarget.value })}
      />
      {people.length > 0 && (
        <select
          aria-label="Only of"
          value={place.assignee ?? ''}
          onChange={(event) => change({ assignee: event.currentTarget.value })}
        >
          <option value="">Everybody</option>
          {people.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <select
        aria-label="Lanes"
        value={place.lanes ?? ''}
        onChange={(event) =>
          change({ lanes: (event.currentTarget.value || undefined) as BoardPlace['lanes'] })
        }
      >
        <option value="">No lanes</option>
        <option value="assignee">Lanes by employee</option>
        <option value="department">Lanes by department</option>
      </select>
    </p>
  );
}

interface ColumnProps {
  readonly status: Status;
  readonly place: BoardPlace;
  readonly dragged: Signal<Moves | undefined>;
  /** Moves that the gateway is asked for right now. */
  readonly moved: Signal<ReadonlyMap<string, Status>>;
  readonly drag: (item: WorkItemRow) => void;
  readonly choose: (item: WorkItemRow) => void;
  readonly drop: (to: Move) => void;
}

function Column({ status, place, dragged, moved, drag, choose, drop }: ColumnProps) {
  const limit = useSignal(pageMax);
  const { assignee, q, lanes } = place;
  const last = useRef<ColumnPage | undefined>(undefined); // stays in view while more of it is read
  const loaded = useLoaded(
    `${status}?${assignee ?? ''}&${q ?? ''}&${limit.value}`,
    async (signal) => {
      const page = await readColumn(
        {
          status,
          ...(assignee !== undefined && { assignee }),
          ...(q !== undefined && { q }),
        },
        limit.value,
        signal,
      );
      settle(page.workItems);
      return (last.current = page);
    },
    { touches: named(/^company:/) },
  );
  /** What the gateway shows where it was moved to is no guess any more. */
  const settle = (rows: readonly WorkItemRow[]): void => {
    const left = new Map(moved.value);
    for (const { id } of rows) if (left.get(id) === status) left.delete(id);
    if (left.size !== moved.value.size) moved.value = left;
  };
  const { value = last.current, error } = loaded.value;
  const rows = (value?.workItems ?? []).filter(({ id }) => (moved.value.get(id) ?? status) === status);
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
        {words(status)} <span class="soft num">{whole(value?.total ?? 0)}</span>
      </h2>
      {refusal !== undefined && <p class="refusal small">{refusal}</p>}
      {status === 'backlog' && <NewItem />}
      {error !== undefined && <p class="bad small">{error}</p>}
      {groups.map(([lane, items]) => (
        <div key={lane} class="lane">
          {lanes !== undefined && <h3>{lane}</h3>}
          <LongList
            items={items}
            keyOf={({ id }) => id}
            heightPx={72}
            row={(item, at) => (
              <Card
                key={item.id}
                item={item}
                at={at}
                drag={() => drag(item)}
                end={() => {
                  dragged.value = undefined;
                }}
                choose={() => choose(item)}
              />
            )}
          />
        </div>
      ))}
      {value !== undefined && value.total > value.workItems.length && limit.value >= columnMax && (
        <p class="soft small">
          {whole(value.total - value.workItems.length)} more: write words above to see those that are meant.
        </p>
      )}
      {value !== undefined && value.total > value.workItems.length && limit.value < columnMax && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            limit.value = Math.min(columnMax, limit.value + pageMax);
          }}
        >
          {whole(value.total - value.workItems.length)} more
        </button>
      )}
    </section>
  );
}

interface ColumnPage {
  readonly workItems: readonly WorkItemRow[];
  readonly total: number;
}

/** The gateway gives a hundred at a time. */
async function readColumn(
  query: { readonly status: Status; readonly assignee?: string; readonly q?: string },
  limit: number,
  signal: AbortSignal,
): Promise<ColumnPage> {
  const pages = await Promise.all(
    Array.from({ length: Math.ceil(limit / pageMax) }, (_, n) =>
      must(
        client.get('/api/work-items', {
          params: { query: { ...query, limit: String(pageMax), offset: String(n * pageMax) } },
          signal,
        }),
      ),
    ),
  );
  const rows = new Map(pages.flatMap(({ workItems }) => workItems.map((row) => [row.id, row])));
  return { workItems: [...rows.values()], total: pages[0]?.total ?? 0 };
}

const pageMax = 100;
const columnMax = 500;

function byLane(
  rows: readonly WorkItemRow[],
  lanes: 'assignee' | 'department',
): readonly (readonly [string, readonly WorkItemRow[]])[] {
  const groups = new Map<string, WorkItemRow[]>();
  for (const row of rows) {
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
      {message !== '' && (
        <p class="bad small" role="alert">
          {message}
        </p>
      )}
    </form>
  );
}
