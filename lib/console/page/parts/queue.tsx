import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import { isFocusLost } from '../../../page/keys.js';
import type { Conversation } from '../conversation.js';
import type { Session } from '../session.js';
import { writeAgain } from './composer.js';
import { Fault } from './answered.js';

/**
 * Messages that wait for the turn to end; each can be moved up and down, or be taken back, to be written again, and
 * all can be held.
 */
export function Queue({ session, talk }: { readonly session: Session; readonly talk: Conversation }) {
  const items = talk.queue.value;
  const { message, busy, attempt } = useAction();
  const { move, moved } = useMoves(talk, attempt);
  const path = { id: session.id };
  const paused = session.queuePaused === true;
  if (items.length === 0 && !paused) return null;
  const turn = async (): Promise<void> => {
    if (paused) await must(client.post('/api/sessions/{id}/queue/resume', { params: { path } }));
    else await must(client.post('/api/sessions/{id}/queue/pause', { params: { path } }));
  };
  return (
    <section class="queue" aria-labelledby="queue-title">
      <h2 id="queue-title">
        {paused ? 'Queue, paused' : 'Next'}
        <button type="button" class="quiet" disabled={busy} onClick={() => void attempt(turn)}>
          {paused ? 'Resume' : 'Pause'}
        </button>
      </h2>
      <ol>
        {items.map((item, at) => (
          <li
            key={item.id}
            data-queued={item.id}
            onKeyDown={(event) => {
              const by = event.altKey ? steps[event.key] : undefined;
              if (by === undefined) return;
              event.preventDefault();
              move(item.id, by);
            }}
          >
            <span class="clip">{item.prompt ?? 'A message'}</span>
            {items.length > 1 &&
              ([-1, 1] as const).map((by) => (
                // Not disabled at the ends: who moves by keys would lose the button under the finger
                <button
                  key={by}
                  type="button"
                  class="quiet move"
                  aria-disabled={items[at + by] === undefined}
                  aria-label={`Move ${by < 0 ? 'up' : 'down'}: ${item.prompt ?? 'a message'}`}
                  title={by < 0 ? 'Move up (Alt ↑)' : 'Move down (Alt ↓)'}
                  onClick={() => move(item.id, by)}
                >
                  {by < 0 ? '↑' : '↓'}
                </button>
              ))}
            <button
              type="button"
              class="quiet"
              disabled={busy}
              aria-label={`Take back: ${item.prompt ?? 'a message'}`}
              onClick={() =>
                void attempt(async () => {
                  await must(
                    client.delete('/api/sessions/{id}/queue/{item}', {
                      params: { path: { ...path, item: item.id } },
                    }),
                  );
                  writeAgain(session.id, item.prompt ?? '');
                })
              }
            >
              Take back
            </button>
          </li>
        ))}
      </ol>
      <span class="unseen" role="status">
        {moved}
      </span>
      <Fault message={message} />
    </section>
  );
}

const steps: Readonly<Record<string, -1 | 1>> = { ArrowUp: -1, ArrowDown: 1 };

/** Where what was moved stands now, and the focus with it. */
function useMoves(talk: Conversation, attempt: ReturnType<typeof useAction>['attempt']) {
  const moved = useSignal('');
  const held = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    // What changes its place in the page loses the focus: the next key would move nothing
    if (isFocusLost()) held.current?.focus();
    held.current = null;
  }, [talk.queue.value]);
  const move = (id: string, by: -1 | 1): void => {
    const items = talk.queue.value;
    const at = items.findIndex((one) => one.id === id);
    const [item, to] = [items[at], at + by];
    if (item === undefined || items[to] === undefined) return;
    held.current = document.activeElement as HTMLElement | null;
    moved.value = `Number ${to + 1} of ${items.length}`;
    const sent = talk.moveQueued(item, to);
    sent.catch(() => (moved.value = ''));
    void attempt(() => sent);
  };
  return { move, moved: moved.value };
}
