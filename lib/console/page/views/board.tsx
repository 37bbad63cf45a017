import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { said } from '../../../page/ask.js';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { Column, type BoardPlace } from '../parts/board-column.js';
import { MoveDialog, readMoves, type Move, type Moves } from '../parts/moves.js';
import { go } from '../place.js';
import { statuses, words, type Status, type WorkItemRow } from '../work-items.js';

/** Work items by their status. A column that is not allowed says why while one drags, and on the way by keys. */
export function BoardPage({ place }: { readonly place: BoardPlace }) {
  const dragged = useSignal<Moves | undefined>(undefined);
  const dialog = useSignal<{ readonly moves: Moves; readonly to?: Move } | undefined>(undefined);
  const moved = useSignal<ReadonlyMap<string, Status>>(new Map());
  const outcome = useSignal('');
  const followed = useRef<string | null>(null);
  const asked = useRef<string | null>(null);
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
  const choose = (item: WorkItemRow): void => {
    asked.current = item.id;
    readMoves(item).then(
      (moves) => {
        // Keys may be faster than answers: the last that was asked for opens, and nothing changes beneath what is open
        if (asked.current === item.id && dialog.value === undefined) dialog.value = { moves };
      },
      (error: unknown) => {
        outcome.value = said(error);
      },
    );
  };

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
            followed={followed}
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
          choose={(to, note) => {
            const { item } = dialog.value!.moves;
            followed.current = item.id;
            void move({ item, to, note });
          }}
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
