import { useRef } from 'preact/hooks';
import { now, span, timeOfDay, withUtc } from '../../../page/clock.js';
import { later } from '../../../page/parts/later.js';
import { LongList, type RowPlace } from '../../../page/parts/long-list.js';
import { useKeptRows } from '../../../page/parts/use-kept-rows.js';
import { go, linkTo, type WaitingColumn, type WaitingPlace } from '../place.js';
import { causeOf, whatHelps, type Problem, wordsOfState } from '../problems.js';
import { AsThrown, Cause, plainly } from './cause.js';
import { OutcomeLine } from './outcome-line.js';
import { readable } from './step.js';

/** Read once the rows are drawn: what a decision is about, and what ends it. */
const SubjectOf = later(async () => (await import('./subject.js')).SubjectOf);
const Remedy = later(async () => (await import('./remedy.js')).Remedy);

/** All that is stuck in one table: rows keep their places under the pointer, and columns their widths. */
export function ProblemTable({
  at,
  found,
  isAny,
}: {
  readonly at: WaitingPlace;
  readonly found: readonly Problem[];
  readonly isAny: boolean;
}) {
  const { by = 'since', isDown = false } = at;
  const box = useRef<HTMLTableElement>(null);
  const rows = useKeptRows(found, ({ key }) => key, { box, order: linkTo(at) });
  return (
    <div class="panel table-box">
      <table ref={box} class="waiting" aria-label="What is stuck" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(([column, name]) => (
              <th
                key={column}
                scope="col"
                aria-sort={by === column ? (isDown ? 'descending' : 'ascending') : 'none'}
              >
                <button
                  type="button"
                  class="quiet"
                  onClick={() =>
                    go({ ...at, by: column, isDown: by === column && !isDown }, { replace: true })
                  }
                >
                  {name}
                </button>
              </th>
            ))}
            <th scope="col">What ends it</th>
          </tr>
        </thead>
        <LongList
          of="table"
          items={rows}
          keyOf={({ key }) => key}
          heightPx={104}
          row={({ key, item, isGone }, place) => <Row key={key} of={item} isGone={isGone} at={place} />}
        />
      </table>
      {rows.length === 0 && (
        <p class="empty">
          {isAny
            ? 'Nothing that is stuck matches.'
            : 'Nothing waits on a person or an employee, nothing has stopped, no event is a dead letter.'}
        </p>
      )}
    </div>
  );
}

const columns: readonly (readonly [WaitingColumn, string])[] = [
  ['title', 'What, and why'],
  ['state', 'State'],
  ['on', 'Waits on'],
  ['since', 'For how long'],
  ['until', 'Ends by itself'],
];

function Row({ of, isGone, at }: { readonly of: Problem; readonly isGone: boolean; readonly at: RowPlace }) {
  const { since, until, kind, id } = of;
  return (
    <tr data-problem={of.type} data-key={of.key} class={isGone ? 'gone' : ''} {...at}>
      <th scope="row">
        <a href={linkTo(of.at)}>{of.type === 'letter' ? readable(of.title) : of.title}</a>
        <small>
          <span class="kind-name">{kind}</span> {id !== kind && id !== of.title && id}
        </small>
        <Why of={of} />
      </th>
      <td>
        <b
          class={`state ${of.type === 'stopped' || of.type === 'letter' || of.type === 'engine' ? 'bad' : 'wait'}`}
        >
          {wordsOfState(of.state)}
        </b>
      </td>
      <td>{of.on}</td>
      <td class="num" title={withUtc(since)}>
        {span(now.value - since)}
      </td>
      <td class="num">
        {until === null ? (
          <span class="soft">{endsWhen[of.state] ?? 'never'}</span>
        ) : until > now.value ? (
          `in ${span(until - now.value)}`
        ) : (
          'now'
        )}
      </td>
      <td>
        {isGone ? <OutcomeLine of={of.key} otherwise={goneWords[of.type]} isPast /> : <Remedy of={of} />}
      </td>
    </tr>
  );
}

/** What has no time at which it ends, and goes on without a person all the same. */
const endsWhen: Readonly<Record<string, string>> = {
  queued: 'when that run ends',
  connector: 'when a try works',
  notification: 'when a try works',
  backup: 'when one works',
  quiet: 'when its turn ends',
  'long at work': 'when it is done',
};

/** Of what went without anything that was pressed here. */
const goneWords: Readonly<Record<Problem['type'], string>> = {
  decision: 'It waits no more.',
  stopped: 'It goes on.',
  slow: 'It goes on.',
  engine: 'Nothing waits for it any more.',
  letter: 'Another has dealt with it.',
};

/** Its cause in full sight, beneath its title. */
function Why({ of }: { readonly of: Problem }) {
  if (of.type === 'decision') return <SubjectOf thing={of.waiting} />;
  if (of.type === 'slow') return <WhySlow of={of.actor} />;
  const due = of.type === 'stopped' && of.actor.halted === null ? of.actor.due : null;
  return (
    <Cause text={plainly(causeOf(of))} isBad>
      {plainly(causeOf(of)) !== causeOf(of) && <AsThrown thrown={causeOf(of)} />}
      {of.kind === 'connector' && (
        <>
          {due !== null && (
            <span>
              <b>next try</b> {due > now.value ? `in ${span(due - now.value)}` : 'now'}
            </span>
          )}
          <span>
            <b>what helps</b> {whatHelps}
          </span>
        </>
      )}
      {of.type === 'engine' && (
        <span>
          <b>needed by</b>{' '}
          <a href={linkTo({ view: 'actor', kind: of.engine.first.kind, id: of.engine.first.id })}>
            {of.engine.first.title ?? of.engine.first.id}
          </a>
          {of.engine.sessions > 1
            ? ` and ${of.engine.isAtLeast ? 'at least ' : ''}${of.engine.sessions - 1} more`
            : of.engine.isAtLeast && ' and perhaps more'}
        </span>
      )}
    </Cause>
  );
}

function WhySlow({ of }: { readonly of: Extract<Problem, { type: 'slow' }>['actor'] }) {
  if (of.why === 'long') return <Cause text={`At work since ${timeOfDay(of.slowSince)}.`} />;
  if (of.why === 'quiet')
    return <Cause text={`No output since ${timeOfDay(of.slowSince)}, and it waits for no one.`} />;
  const { workflow = '', runs = [] } = of.behind ?? {};
  return (
    <div class="cause">
      <p>
        Its workflow allows no more runs at the same time. It starts when{' '}
        {runs.length > 1 ? 'one of these ends' : 'this run ends'}: {runs.length === 0 && 'an earlier one'}
        {runs.map((run, n) => (
          <span key={run.id}>
            {n > 0 && ', '}
            <a href={linkTo({ view: 'runs', workflow, id: run.id })}>
              {run.title ?? run.id} <small>{run.id}</small>
            </a>
          </span>
        ))}
      </p>
    </div>
  );
}
