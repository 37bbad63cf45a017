import type { ComponentChildren } from 'preact';
import type { components, Answer } from '../../../client/index.js';
import { now, span, withUtc } from '../../../page/clock.js';
import { linkTo } from '../place.js';
import { toneOf, words } from '../work-items.js';
import { relationWords, type Relation } from './links.js';
import { Markdown } from './markdown.js';

interface Entry {
  readonly key: string;
  readonly at: number;
  readonly who: string;
  readonly what: ComponentChildren;
  readonly body?: ComponentChildren;
}

/** Ledger, comments and attempts of a work item in one line, oldest first. */
export function TimeLine({
  events,
  comments,
  attempts,
}: {
  readonly events: readonly components['schemas']['WorkItemEvent'][];
  readonly comments: Answer<'/api/work-items/{id}/comments', 'get'>['comments'];
  readonly attempts: Answer<'/api/work-items/{id}/attempts', 'get'>['attempts'];
}) {
  const entries: readonly Entry[] = [
    ...events
      .filter(({ kind }) => kind !== 'comment_added')
      .map((event): Entry => ({
        key: event.id,
        at: Date.parse(event.createdAt),
        who: event.actor ?? 'the gateway',
        what: whatOf(event),
        ...noteOf(event),
      })),
    ...comments.map((comment): Entry => ({
      key: comment.id,
      at: Date.parse(comment.createdAt),
      who: comment.author,
      what: 'wrote',
      body: <Markdown text={comment.text} />,
    })),
    ...attempts.map((attempt, n): Entry => {
      const { sessionId, outcome, startedAt } = attempt as Readonly<Record<string, unknown>>;
      return {
        key: `attempt/${n}`,
        at: Date.parse(String(startedAt ?? '')) || 0,
        who: 'an agent',
        what: (
          <>
            tried
            {typeof outcome === 'string' && (
              <b class={`state ${outcome === 'succeeded' ? 'done' : 'bad'}`}>{outcome}</b>
            )}
            {typeof sessionId === 'string' && (
              <>
                <a href={linkTo({ view: 'chat', id: sessionId })}>its session</a>{' '}
                <a href={linkTo({ view: 'changes', id: sessionId })}>what it changed</a>
              </>
            )}
          </>
        ),
      };
    }),
  ].sort((one, other) => one.at - other.at);
  return (
    <ol class="time-line">
      {entries.map(({ key, at, who, what, body }) => (
        <li key={key}>
          <p>
            <b>{who}</b> <span class="did">{what}</span>
            <time class="soft num end" title={withUtc(at)}>
              {span(now.value - at)}
            </time>
          </p>
          {body}
        </li>
      ))}
    </ol>
  );
}

type Event = components['schemas']['WorkItemEvent'];

function whatOf({ kind, toStatus, detail }: Event): ComponentChildren {
  if (toStatus !== null && kind !== 'created')
    return (
      <>
        moved it to <b class={`state ${toneOf(toStatus)}`}>{words(toStatus)}</b>
      </>
    );
  if (kind === 'relation_added' || kind === 'relation_removed') {
    const { relation, other } = detail as { readonly relation: Relation; readonly other: string };
    return (
      <>
        {kind === 'relation_added' ? 'linked it:' : 'removed the link:'} {relationWords[relation]}{' '}
        <a href={linkTo({ view: 'item', id: other })}>{other}</a>
      </>
    );
  }
  return kind === 'created' ? 'created it' : words(kind);
}

/** The words that were given with it. */
function noteOf(event: Event): Pick<Entry, 'body'> {
  const { detail } = event as Readonly<Record<string, unknown>>;
  const { note, reason } = (detail ?? {}) as Readonly<Record<string, unknown>>;
  const text = typeof note === 'string' ? note : typeof reason === 'string' ? reason : '';
  return text === '' ? {} : { body: <p class="said small">{text}</p> };
}
