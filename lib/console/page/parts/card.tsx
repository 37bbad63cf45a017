import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { now, span } from '../../../page/clock.js';
import { isFocusLost } from '../../../page/keys.js';
import type { RowPlace } from '../../../page/parts/long-list.js';
import { linkTo } from '../place.js';
import { words, type WorkItemRow } from '../work-items.js';

/** A work item on the board: dragged, or moved with `m` while it has the focus. */
export function Card({
  item,
  at,
  drag,
  end,
  choose,
  followed,
}: {
  readonly item: WorkItemRow;
  readonly at: RowPlace;
  readonly drag: () => void;
  readonly end: () => void;
  readonly choose: () => void;
  /** Id of the item that was moved by key: the focus goes with it to its new column. */
  readonly followed: RefObject<string | null>;
}) {
  const title = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (followed.current !== item.id) return;
    followed.current = null;
    if (isFocusLost()) title.current?.focus();
  }, []);
  return (
    <li
      class="card"
      {...at}
      draggable
      data-item={item.id}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', item.id);
        drag();
      }}
      onDragEnd={end}
      onKeyDown={(event) => {
        if (event.key !== 'm' || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        choose();
      }}
    >
      <p class="top">
        <span class="soft mono small">{item.id}</span>
        <span class="soft num small end" data-age title={ageTitle(item)}>
          {span(now.value - Date.parse(item.statusSince ?? item.updatedAt))}
        </span>
      </p>
      <a ref={title} class="title" href={linkTo({ view: 'item', id: item.id })} draggable={false}>
        {item.title}
      </a>
      {item.approvalState === 'pending' && (
        <p class="small waits" title={item.approvalRequest ?? ''}>
          Waits for an approval of {item.approvalTarget ?? 'you'}
        </p>
      )}
      {item.approvalState === 'rejected' && <p class="small bad">Its approval was rejected</p>}
      <p class="bottom small">
        <span class="soft clip">{item.assignee ?? 'unassigned'}</span>
        {item.attemptCount != null && (
          <span class="soft num" data-attempts title="Attempts, and what they cost as far as it is known">
            {item.attemptCount}×{item.costUsd != null && ` ${dollars(item.costUsd)}`}
          </span>
        )}
        <button type="button" class="quiet end" onClick={choose} aria-label={`Move ${item.id}`}>
          Move
        </button>
      </p>
    </li>
  );
}

/** Not in local time: that costs more than the whole card, and a board draws its cards again every second. */
const ageTitle = ({ status, statusSince, updatedAt }: WorkItemRow): string =>
  `${statusSince == null ? 'changed' : `${words(status)} since`} ` +
  `${(statusSince ?? updatedAt).slice(0, 16).replace('T', ' ')} UTC`;

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;
