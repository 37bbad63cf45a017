import { useSignal } from '@preact/signals';
import { awaited } from '../awaited.js';
import { actorPath, ask, Refused } from '../../../page/ask.js';
import { dateAndTime, now, span, withUtc } from '../../../page/clock.js';
import { useLoaded, useMachine } from '../live.js';
import { hasMoved } from '../moves.js';
import { go, linkTo } from '../place.js';
import { useSteps } from '../steps.js';
import { keyOf } from '../stuck.js';
import type { Filter } from '../taken.js';
import { Chart } from '../parts/chart.js';
import { OwnWaiting, Resume } from '../parts/decide.js';
import { OutcomeLine } from '../parts/outcome-line.js';
import { OwnRun } from '../parts/run-queue.js';
import { History } from '../parts/history.js';
import { AsThrown, plainly } from '../parts/cause.js';
import { NextMoves } from '../parts/next-moves.js';
import { Panels } from '../parts/panels.js';
import { Relations, OwnLetters, Pending } from '../parts/pending.js';
import { Working } from '../parts/working.js';
import { Panel } from '../../../page/parts/panel.js';
import { State } from '../../../page/parts/state.js';
import { StatelyLink } from '../parts/stately-link.js';
import { Stepper } from '../parts/stepper.js';
import { Tree } from '../../../page/parts/tree.js';
import type { ActorDetail, PastActor, WhyAnswer } from '../../answers.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/**
 * One actor, laid open: where it stands in its chart, what it knows, what happened to it, what may happen
 * next.
 */
export function ActorPage({ actor, at }: { readonly actor: ActorKey; readonly at: number | undefined }) {
  const key = `${actor.kind}/${actor.id}`;
  const mine = {
    touches: ({ entries, skipped }: { readonly entries: readonly ActorKey[]; readonly skipped: number }) =>
      skipped > 0 || entries.some(({ kind, id }) => kind === actor.kind && id === actor.id),
  };
  const detail = useLoaded(key, (signal) => ask<ActorDetail>(actorPath(actor), { signal }), mine);
  const why = useLoaded(key, (signal) => ask<WhyAnswer>(actorPath(actor, '/why'), { signal }), mine);
  const reader = useSteps(actor, at, mine.touches);
  const { steps } = reader;
  const filter = useSignal<Filter | undefined>(undefined);
  const past = useLoaded(`${key}@${at}`, (signal) =>
    at === undefined ? Promise.resolve(undefined) : pastOf(actor, at, signal),
  );
  const machine = useMachine(actor.kind);
  const { entries } = steps.value;
  const { value: present, error } = detail.value;
  if (present === undefined)
    return (
      <section class="view">
        <Crumbs actor={actor} />
        {error === undefined ? (
          <p class="soft" aria-busy="true">
            Loading …
          </p>
        ) : (
          <Absent error={error} />
        )}
      </section>
    );

  const then = at === undefined ? undefined : past.value.value;
  const value = then === undefined ? present.value : then === 'unborn' ? null : then.value;
  const shown = at === undefined ? entries[0] : entries.find(({ seq }) => seq <= at);
  const moved = entries.find((entry) => (at === undefined || entry.seq <= at) && hasMoved(entry)) ?? shown;
  const travel = (seq: number | undefined): void =>
    go({ view: 'actor', ...actor, ...(seq !== undefined && { at: seq }) }, { replace: true });
  return (
    <section
      class={at === undefined ? 'view actor' : 'view actor past'}
      aria-labelledby="actor-title"
      data-at={at ?? 'now'}
    >
      <Crumbs actor={actor} />
      <div class="heading">
        <h1 id="actor-title">{present.title ?? present.id}</h1>
        {value !== null && <State value={value} halted={at === undefined && present.halted !== null} />}
        <OutcomeLine of={keyOf(actor)} />
        {at === undefined && (
          <p class="soft">
            for {span(now.value - present.since)}
            {awaited(why.value.value?.awaits) !== '' && `, waiting ${awaited(why.value.value?.awaits)}`}
          </p>
        )}
      </div>
      <Stepper reader={reader} last={present.rev} at={at} travel={travel} />
      {at !== undefined && past.value.error !== undefined && (
        <p class="notice bad" role="alert">
          {past.value.error}
        </p>
      )}
      {then === 'unborn' && <p class="notice">At {at} this actor did not exist yet.</p>}
      {present.halted !== null && at === undefined && <Halted actor={present} />}
      {present.halted === null && at === undefined && present.reason !== null && (
        <div class="notice bad">
          {plainly(present.reason)}
          <AsThrown thrown={present.reason} />
        </div>
      )}
      {at === undefined && <OwnRun detail={present} />}
      {at === undefined && <OwnWaiting actor={actor} />}
      {at === undefined && present.calls.some(({ running }) => running) && (
        <Working detail={present} why={why.value.value} />
      )}
      {machine.value.value !== undefined && value !== null && (
        <Panel name="chart" title="Statechart" about={`${actor.kind} version ${machine.value.value.version}`}>
          <Chart
            machine={machine.value.value.chart}
            value={value}
            last={moved}
            filter={(chosen) => {
              filter.value = chosen;
            }}
          />
        </Panel>
      )}
      <div class="columns even">
        <div class="stack">
          <History
            reader={reader}
            machine={machine.value.value?.chart}
            filter={filter}
            at={at}
            travel={travel}
          />
          <Panel name="context" title="Context" about={at === undefined ? undefined : `as of ${at}`}>
            <Tree
              value={then === undefined ? present.context : then === 'unborn' ? null : then.context}
              label="Context"
            />
          </Panel>
        </div>
        <div class="stack">
          {at === undefined && (
            <NextMoves
              actor={actor}
              halted={present.halted !== null}
              why={why.value.value}
              error={why.value.error}
            />
          )}
          {at === undefined && <Pending detail={present} />}
          {at === undefined && present.panels !== null && <Panels given={present.panels} />}
          {at === undefined && <OwnLetters actor={actor} count={present.deadLetters} />}
          <Relations detail={present} />
          <Panel name="record" title="Record" about="as the API shows it">
            <Tree
              value={then === undefined ? present.view : then === 'unborn' ? null : then.view}
              label="Record"
            />
          </Panel>
          <p class="soft small">
            Created <time title={withUtc(present.createdAt)}>{dateAndTime(present.createdAt)}</time>, revision{' '}
            {present.rev}, machine version {present.version}.
          </p>
          {at === undefined && <StatelyLink actor={actor} />}
        </div>
      </div>
    </section>
  );
}

async function pastOf(actor: ActorKey, at: number, signal: AbortSignal): Promise<PastActor | 'unborn'> {
  try {
    return await ask<PastActor>(actorPath(actor, `?at=${at}`), { signal });
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return 'unborn';
    throw error;
  }
}

const Crumbs = ({ actor }: { readonly actor: ActorKey }) => (
  <p class="crumbs">
    <a href={linkTo({ view: 'fleet' })}>Fleet</a> /{' '}
    <a href={linkTo({ view: 'fleet', kind: actor.kind })}>{actor.kind}</a> / <code>{actor.id}</code>
  </p>
);

const Absent = ({ error }: { readonly error: string }) => (
  <div class="empty">
    <h1>Not found</h1>
    <p>{error}</p>
    <p>
      <code>troupe list</code> shows ids; <kbd>/</kbd> searches all kinds.
    </p>
  </div>
);

const Halted = ({ actor }: { readonly actor: ActorDetail }) => (
  <div class="notice bad" role="alert">
    <p>
      <b>Halted:</b> {plainly(actor.halted?.reason ?? '')}. It failed too often in too short a time; its last
      commit stands, and nothing runs.
    </p>
    <AsThrown thrown={actor.halted?.reason ?? ''} />
    <Resume actor={actor} />
  </div>
);
