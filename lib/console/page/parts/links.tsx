import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { toneOf, words, type WorkItemRow } from '../work-items.js';
import { Fault } from './answered.js';

export const relationWords = {
  blocks: 'blocks',
  blocked_by: 'blocked by',
  relates: 'relates to',
  duplicates: 'duplicates',
  duplicated_by: 'duplicated by',
} as const;
export type Relation = keyof typeof relationWords;
export interface Link {
  readonly relation: Relation;
  readonly id: string;
}

/** The work items that one is linked to, as they stand now; links are added and removed at both ends. */
export function Links({ id, links }: { readonly id: string; readonly links: readonly Link[] }) {
  const field = useRef<HTMLInputElement>(null);
  const { message, busy, attempt } = useAction();
  const others = [...new Set(links.map((link) => link.id))];
  const loaded = useLoaded(`links/${others.join('/')}`, (signal) => readAll(others, signal), {
    touches: ({ frames }) =>
      frames.some(
        ({ event, payload }) => event === 'company:changed' && others.includes(String(payload['id'])),
      ),
  });
  const known = loaded.value.value;
  const blockers = links.filter(({ relation, id: other }) => {
    const status = known?.get(other)?.status;
    return relation === 'blocked_by' && status !== undefined && status !== 'done' && status !== 'cancelled';
  }).length;
  const remove = (link: Link): void =>
    void attempt(async () => {
      await must(
        client.delete('/api/work-items/{id}/links/{relation}/{other}', {
          params: { path: { id, relation: link.relation, other: link.id } },
        }),
      );
      field.current?.focus(); // the button that was pressed goes with its row
    });
  return (
    <section class="panel" aria-labelledby="links-title">
      <h2 id="links-title">Links</h2>
      {blockers > 0 && (
        <p class="notice" data-blockers={blockers}>
          Blocked by {blockers === 1 ? 'an open work item' : `${blockers} open work items`}.
        </p>
      )}
      {links.length === 0 && <p class="empty">Linked to no other work item.</p>}
      <ul class="rows">
        {links.map((link) => {
          const other = known?.get(link.id);
          const name = `${relationWords[link.relation]} ${link.id}`;
          return (
            <li key={name} data-link={`${link.relation}/${link.id}`}>
              <span class="soft small">{relationWords[link.relation]}</span>
              {other && <b class={`state ${toneOf(other.status)}`}>{words(other.status)}</b>}
              <span class="title clip">
                <a href={linkTo({ view: 'item', id: link.id })} title={link.id}>
                  {other?.title ?? link.id}
                </a>
              </span>
              <button
                type="button"
                class="quiet end"
                aria-label={`Remove the link: ${name}`}
                disabled={busy}
                onClick={() => remove(link)}
              >
                Remove
              </button>
            </li>
          );
        })}
      </ul>
      <AddLink id={id} busy={busy} field={field} attempt={attempt} />
      <Fault message={message} />
    </section>
  );
}

/** Which relation, to which work item: its id, found by the words of its title. */
function AddLink({
  id,
  busy,
  field,
  attempt,
}: Pick<ReturnType<typeof useAction>, 'busy' | 'attempt'> & {
  readonly id: string;
  readonly field: { current: HTMLInputElement | null };
}) {
  const relation = useRef<HTMLSelectElement>(null);
  const found = useSignal<readonly Pick<WorkItemRow, 'id' | 'title'>[]>([]);
  const asked = useRef<AbortController>(undefined);
  const suggest = (q: string): void => {
    asked.current?.abort();
    const end = (asked.current = new AbortController());
    if (q.trim() === '') return;
    void must(
      client.get('/api/work-items', { params: { query: { q, limit: '8' } }, signal: end.signal }),
    ).then(
      ({ workItems }) => {
        if (!end.signal.aborted) found.value = workItems.filter((one) => one.id !== id);
      },
      () => undefined, // the id can be written without suggestions
    );
  };
  const add = async (): Promise<void> => {
    const workItemId = field.current?.value.trim() ?? '';
    await must(
      client.post('/api/work-items/{id}/links', {
        params: { path: { id } },
        body: { relation: relation.current?.value as Relation, workItemId },
      }),
    );
    if (field.current) field.current.value = '';
  };
  return (
    <form
      class="ways add-link"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(add);
      }}
    >
      <select ref={relation} aria-label="Relation">
        {Object.entries(relationWords).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <input
        ref={field}
        type="text"
        list="link-found"
        aria-label="Other work item"
        placeholder="Id, or words to find it"
        autocomplete="off"
        maxLength={200}
        required
        onInput={({ currentTarget }) => suggest(currentTarget.value)}
      />
      <datalist id="link-found">
        {found.value.map((one) => (
          <option key={one.id} value={one.id} label={one.title} />
        ))}
      </datalist>
      <button type="submit" disabled={busy}>
        Link
      </button>
    </form>
  );
}

/** What cannot be read is shown by its id. */
async function readAll(ids: readonly string[], signal: AbortSignal) {
  const items = await Promise.all(
    ids.map((id) =>
      must(client.get('/api/work-items/{id}', { params: { path: { id } }, signal })).catch(() => undefined),
    ),
  );
  return new Map(items.flatMap((one) => (one === undefined ? [] : [[one.workItem.id, one.workItem]])));
}
