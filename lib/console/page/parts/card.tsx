import { now, span } from '../../../page/clock.js';
import type { RowPlace } from '../../../page/parts/long-list.js';
import { linkTo } from '../place.js';
import type { WorkItemRow } from '../work-items.js';

/** A work item on the board: dragged, or moved with `m` while it has the focus. */
export function Card({
  item,
  at,
  drag,
  end,
  choose,
}: {
  readonly item: WorkItemRow;
  readonly at: RowPlace;
  readonly drag: () => void;
  readonly end: () => void;
  readonly choose: () => void;
}) {
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
        <span class="soft num small end">{span(now.value - Date.parse(item.updatedAt))}</span>
      </p>
      <a class="title" href={linkTo({ view: 'item', id: item.id })} draggable={false}>
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
        <button type="button" class="quiet end" onClick={choose} aria-label={`Move ${item.id}`}>
          Move
        </button>
      </p>
    </li>
  );
}
