import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import type { QueueItem } from '../conversation.js';
import type { Session } from '../session.js';
import { writeAgain } from './composer.js';

/** Messages that wait for the turn to end; each can be taken back, to be written again, and all can be held. */
export function Queue({
  session,
  items,
}: {
  readonly session: Session;
  readonly items: readonly QueueItem[];
}) {
  const { message, busy, attempt } = useAction();
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
        {items.map((item) => (
          <li key={item.id}>
            <span class="clip">{item.prompt ?? 'A message'}</span>
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
      {message !== '' && (
        <p class="bad small" role="alert">
          {message}
        </p>
      )}
    </section>
  );
}
