import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Answer, components } from '../../../client/index.js';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { Decision } from '../parts/decision.js';
import { Delegate } from '../parts/delegate.js';
import { Links, type Link } from '../parts/links.js';
import { Markdown } from '../parts/markdown.js';
import { MoveDialog, readMoves, type Moves } from '../parts/moves.js';
import { TimeLine } from '../parts/time-line.js';
import { inspectorLink, linkTo } from '../place.js';
import { waiting } from '../waiting.js';
import { toneOf, words } from '../work-items.js';
import { Fault } from '../parts/answered.js';

/** One work item: what is to be done, where it stands, and everything that happened to it in one time line. */
export function WorkItemPage({ id }: { readonly id: string }) {
  const loaded = useLoaded(`item/${id}`, (signal) => read(id, signal), {
    touches: ({ frames }) =>
      frames.some(
        ({ event, payload }) =>
          (event === 'company:changed' && payload['id'] === id) ||
          /^session:(?:completed|started)$/.test(event),
      ),
  });
  const { value, error } = loaded.value;
  if (value === undefined)
    return (
      <div class="view" aria-busy={error === undefined}>
        <h1>{id}</h1>
        <p class={error === undefined ? 'soft' : 'notice bad'}>{error ?? 'Loading …'}</p>
      </div>
    );
  const { workItem: item } = value;
  const asked = waiting.value?.find(
    (thing) => thing.kind === 'work-item' && thing.id === id && thing.what === 'approval',
  );
  return (
    <div class="view item">
      <p class="crumbs">
        <a href={linkTo({ view: 'board' })}>Board</a> / <code>{id}</code>
      </p>
      <div class="heading">
        <h1>{item.title}</h1>
        <b class={`state ${toneOf(item.status)}`} data-status={item.status}>
          {words(item.status)}
        </b>
        <a class="quiet" href={inspectorLink('work-item', id)}>
          Inspect
        </a>
      </div>
      {error !== undefined && <p class="notice bad">{error}</p>}
      {asked !== undefined && (
        <section class="panel asks" aria-labelledby="asked-title">
          <h2 id="asked-title">
            It waits for an approval{' '}
            <span class="soft">asked of {asked.on === 'operator' ? 'you' : asked.on}</span>
          </h2>
          <p class="said">{item.approvalRequest}</p>
          <Decision thing={asked} />
        </section>
      )}
      <div class="columns">
        <div class="stack">
          <section class="panel" aria-labelledby="body-title">
            <h2 id="body-title">What is to be done</h2>
            {item.body === null || item.body === '' ? (
              <p class="empty">Nothing but its title.</p>
            ) : (
              <Markdown text={item.body} />
            )}
            {item.acceptance !== null && (
              <>
                <h3>Done when</h3>
                <Markdown text={item.acceptance} />
              </>
            )}
          </section>
          <section class="panel" aria-labelledby="line-title">
            <h2 id="line-title">What happened</h2>
            <TimeLine {...value} />
            <Comment id={id} />
          </section>
        </div>
        <div class="stack">
          <Facts item={item} spendUsd={value.spendUsd} people={value.people} />
          {value.people.length > 0 && (
            <Delegate key={id} id={id} assignee={item.assignee} people={value.people} />
          )}
          <Links key={id} id={id} links={linksOf(item)} />
          {value.children.length > 0 && (
            <section class="panel" aria-labelledby="children-title">
              <h2 id="children-title">Sub-tasks</h2>
              <ul class="rows">
                {value.children.map((child) => (
                  <li key={child.id}>
                    <a href={linkTo({ view: 'item', id: child.id })}>
                      <b class={`state ${toneOf(child.status)}`}>{words(child.status)}</b>
                      <span class="title clip">{child.title}</span>
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

/** The document promises a work item's own members only. */
const linksOf = ({ links }: Whole['workItem']): readonly Link[] =>
  Array.isArray(links) ? (links as readonly Link[]) : [];

export interface Whole {
  readonly workItem: components['schemas']['WorkItem'];
  readonly events: readonly components['schemas']['WorkItemEvent'][];
  readonly spendUsd: number;
  readonly comments: Answer<'/api/work-items/{id}/comments', 'get'>['comments'];
  readonly attempts: Answer<'/api/work-items/{id}/attempts', 'get'>['attempts'];
  readonly children: Answer<'/api/work-items/{id}/children', 'get'>['workItems'];
  readonly people: readonly string[];
}

async function read(id: string, signal: AbortSignal): Promise<Whole> {
  const at = { params: { path: { id } }, signal };
  const [{ workItem, events, spendUsd }, comments, attempts, children, org] = await Promise.all([
    must(client.get('/api/work-items/{id}', at)),
    must(client.get('/api/work-items/{id}/comments', at)),
    must(client.get('/api/work-items/{id}/attempts', at)),
    must(client.get('/api/work-items/{id}/children', at)),
    must(client.get('/api/org', { signal })).catch(() => undefined), // a gateway without records has no people
  ]);
  return {
    workItem,
    events,
    spendUsd,
    comments: comments.comments,
    attempts: attempts.attempts,
    children: children.workItems,
    people: org?.employees.map(({ name }) => name) ?? [],
  };
}

function Facts({
  item,
  spendUsd,
  people,
}: {
  readonly item: Whole['workItem'];
  readonly spendUsd: number;
  readonly people: readonly string[];
}) {
  const { message, busy, attempt } = useAction();
  const dialog = useSignal<Moves | undefined>(undefined);
  const { id } = item;
  const move = (status: Whole['workItem']['status'], note: string): void => {
    dialog.value = undefined;
    void attempt(async () => {
      await must(
        client.post('/api/work-items/{id}/status', {
          params: { path: { id } },
          body: { status, ...(note !== '' && { note }) },
        }),
      );
    });
  };
  return (
    <section class="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">Where it stands</h2>
      <dl class="facts wide">
        <div>
          <dt>Assigned to</dt>
          <dd>
            {people.length === 0 ? (
              (item.assignee ?? 'no one')
            ) : (
              <select
                aria-label="Assigned to"
                disabled={busy}
                value={item.assignee ?? ''}
                onChange={(event) => {
                  const assignee = event.currentTarget.value;
                  void attempt(() =>
                    must(
                      client.post('/api/work-items/{id}/assign', {
                        params: { path: { id } },
                        body: { assignee },
                      }),
                    ),
                  );
                }}
              >
                <option value="" disabled>
                  no one
                </option>
                {people.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </dd>
        </div>
        <div>
          <dt>Department</dt>
          <dd>{item.department ?? 'none'}</dd>
        </div>
        <div>
          <dt>From</dt>
          <dd>{item.source}</dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd class="num">${spendUsd.toFixed(2)}</dd>
        </div>
        {item.rounds > 0 && (
          <div>
            <dt>Review rounds</dt>
            <dd class="num">{item.rounds}</dd>
          </div>
        )}
      </dl>
      <p class="ways">
        {/* Never disabled: a dialog that closes gives the focus back to it */}
        <button
          type="button"
          onClick={() =>
            void attempt(async () => {
              dialog.value = await readMoves(item);
            })
          }
        >
          Move …
        </button>
      </p>
      <Fault message={message} />
      {dialog.value !== undefined && (
        <MoveDialog
          moves={dialog.value}
          close={() => {
            dialog.value = undefined;
          }}
          choose={(to, note) => move(to.status, note)}
        />
      )}
    </section>
  );
}

function Comment({ id }: { readonly id: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { message, busy, attempt } = useAction();
  return (
    <form
      class="comment"
      onSubmit={(event) => {
        event.preventDefault();
        const text = field.current?.value.trim() ?? '';
        if (text === '') return;
        void attempt(async () => {
          await must(
            client.post('/api/work-items/{id}/comments', { params: { path: { id } }, body: { text } }),
          );
          if (field.current) field.current.value = '';
        });
      }}
    >
      <textarea ref={field} rows={2} maxLength={20_000} aria-label="Comment" placeholder="Write a comment" />
      <p class="ways">
        {message !== '' && (
          <span class="bad small" role="alert">
            {message}
          </span>
        )}
        <button type="submit" class="end" disabled={busy}>
          Comment
        </button>
      </p>
    </form>
  );
}
