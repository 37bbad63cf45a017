import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { moodOf, titleOf, type Session } from '../session.js';

/** The sessions that this one opened, with how they are, and those that they opened. Nothing where there are none. */
export function Children({ id, depth = 1 }: { readonly id: string; readonly depth?: number }) {
  const loaded = useLoaded(
    `children/${id}`,
    (signal) => must(client.get('/api/sessions/{id}/children', { params: { path: { id } }, signal })),
    {
      touches: ({ frames }) =>
        frames.some(
          ({ event, payload }) =>
            (event === 'session:created' && payload['parentSessionId'] === id) ||
            (/^session:(?:started|completed|stopped|interrupted)$/.test(event) &&
              known.has(String(payload['sessionId']))),
        ),
    },
  );
  const children = (loaded.value.value ?? []) as readonly Session[];
  const known = new Set(children.map((child) => child.id));
  if (children.length === 0) return null;
  return (
    <ul class="children" aria-label="Sessions that it opened">
      {children.map((child, n) => {
        const mood = moodOf(child);
        return (
          <li key={child.id}>
            <a href={linkTo({ view: 'chat', id: child.id })}>
              <i class={`lamp ${mood.tone}`} aria-hidden="true" />
              <span class="clip">{titleOf(child)}</span>
              <span class="soft">{mood.word}</span>
            </a>
            {depth < depthMax && n < branchesMax && <Children id={child.id} depth={depth + 1} />}
          </li>
        );
      })}
    </ul>
  );
}

/** Deeper, and of further siblings, they are one click away: each branch is a question to the gateway. */
const depthMax = 4;
const branchesMax = 12;
