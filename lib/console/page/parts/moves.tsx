import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../../../client/index.js';
import { client, must } from '../../../page/gateway.js';
import { isFocusLost } from '../../../page/keys.js';
import { words, type WorkItemRow } from '../work-items.js';

/** Where a work item may go, and why not where it may not: the gateway's own answer. */
export type Move = Answer<'/api/work-items/{id}/next', 'get'>['moves'][number];
export interface Moves {
  readonly item: Pick<WorkItemRow, 'id' | 'title' | 'status'>;
  readonly moves: readonly Move[];
}

export async function readMoves(item: Moves['item']): Promise<Moves> {
  const { moves } = await must(
    client.get('/api/work-items/{id}/next', { params: { path: { id: item.id } } }),
  );
  return { item, moves: moves.filter(({ status }) => status !== item.status) };
}

/** The way of keys and fingers: every status with its reason, and a note where one is needed. */
export function MoveDialog({
  moves: { item, moves },
  to,
  close,
  choose,
}: {
  readonly moves: Moves;
  /** Chosen already; only its note is missing. */
  readonly to?: Move;
  readonly close: () => void;
  readonly choose: (to: Move, note: string) => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const note = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // A dialog that is closed gives the focus back; one that only goes away does not
      if (opener instanceof HTMLElement && isFocusLost()) opener.focus();
    };
  }, []);
  useEffect(() => {
    if (to !== undefined) note.current?.focus(); // the button that was pressed is gone
  }, [to]);
  return (
    <dialog ref={dialog} class="moves-dialog" aria-labelledby="moves-title" onClose={close}>
      <h2 id="moves-title">
        {to === undefined ? `Move ${item.id}` : `Why is ${item.id} ${words(to.status)}?`}
      </h2>
      <p class="soft">{item.title}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (to !== undefined) choose(to, note.current?.value ?? '');
        }}
      >
        {to === undefined ? (
          <ul class="choices">
            {moves.map((move) => (
              <li key={move.status}>
                <button
                  type="button"
                  disabled={!move.allowed}
                  onClick={() => choose(move, note.current?.value ?? '')}
                  data-to={move.status}
                >
                  {words(move.status)}
                </button>
                {!move.allowed && <small class="soft">{move.reason}</small>}
              </li>
            ))}
          </ul>
        ) : null}
        <label>
          {to === undefined ? 'Note, where one is needed' : 'Note'}
          <textarea ref={note} rows={2} maxLength={2_000} required={to !== undefined} />
        </label>
        <p class="ways">
          {to !== undefined && (
            <button type="submit" class="primary">
              Move to {words(to.status)}
            </button>
          )}
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  );
}
