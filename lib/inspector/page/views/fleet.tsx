import { useComputed } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ask } from '../../../page/ask.js';
import { attention } from '../attention.js';
import { useAwaited } from '../awaited.js';
import { now, span, whole } from '../../../page/clock.js';
import { hear, useLoaded } from '../live.js';
import { hasMoved, isWithin } from '../moves.js';
import { go, linkTo, type Place } from '../place.js';
import { perKind, perSecond, refusedCount } from '../pulse.js';
import { ActorList } from '../actor-list.js';
import { Activity } from '../parts/activity.js';
import { Name, State, tone } from '../../../page/parts/state.js';
import { VirtualList } from '../../../page/parts/virtual-list.js';
import { stateNames } from '../../../../machines/state-names.js';
import type { ActorSummary, Fleet } from '../../answers.js';

/** All actors: how many of which kind in which state, what happens how often, and each of them in a list. */
export function FleetPage({
  kind,
  state,
}: {
  readonly kind: string | undefined;
  readonly state: string | undefined;
}) {
  const loaded = useLoaded('fleet', (signal) => ask<Fleet>('/api/inspect/fleet', { signal }), {
    everyMs: 2_000,
    restMs: 1_000,
    touches: ({ entries, skipped }) => skipped > 0 || entries.some(hasMoved),
  });
  const { value: fleet, error } = loaded.value;
  if (fleet === undefined)
    return (
      <section class="view" aria-busy="true">
        <h1>Fleet</h1>
        <p class="soft">{error ?? 'Counting …'}</p>
      </section>
    );
  const total = fleet.kinds.reduce((sum, one) => sum + one.total, 0);
  return (
    <section class="view fleet" aria-labelledby="fleet-title">
      <div class="heading">
        <h1 id="fleet-title">Fleet</h1>
        <p class="soft">
          {whole(total)} {total === 1 ? 'actor' : 'actors'} of {fleet.kinds.length} kinds
        </p>
      </div>
      <Figures fleet={fleet} />
      <Kinds fleet={fleet} kind={kind} state={state} />
      <div class="columns">
        <List fleet={fleet} kind={kind} state={state} />
        <Activity />
      </div>
    </section>
  );
}

function Figures({ fleet }: { readonly fleet: Fleet }) {
  const rate = useComputed(() => perSecond.value.slice(-5).reduce((sum, count) => sum + count, 0) / 5);
  const halted = fleet.kinds.reduce((sum, one) => sum + one.halted, 0);
  const figures: readonly (readonly [name: string, value: string, bad?: boolean, at?: Place])[] = [
    ['events a second', rate.value >= 10 ? whole(Math.round(rate.value)) : rate.value.toFixed(1)],
    ['effects in flight', whole(fleet.effects)],
    ['awake', whole(fleet.awake)],
    ['restarts', whole(fleet.restarts), fleet.restarts > 0, { view: 'supervision' }],
    ['halted', whole(halted), halted > 0, { view: 'waiting' }],
    ['dead letters', whole(fleet.deadLetters), fleet.deadLetters > 0, { view: 'supervision' }],
    ['events refused', whole(refusedCount.value)],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, bad, at], n) => (
        <div key={name} class={bad === true ? 'bad' : ''}>
          <dt>{name}</dt>
          <dd class="num">{bad === true && at !== undefined ? <a href={linkTo(at)}>{value}</a> : value}</dd>
          {n === 0 && <Spark />}
        </div>
      ))}
    </dl>
  );
}

/** A minute of events. The number beside it says the same to who cannot see it. */
function Spark() {
  const counts = perSecond.value;
  const most = Math.max(4, ...counts);
  const points = counts
    .map((count, n) => `${((n / 59) * 100).toFixed(1)},${(23 - (count / most) * 21).toFixed(1)}`)
    .join(' ');
  return (
    <svg class="spark-line" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <polyline points={`0,24 ${points} 100,24`} class="area" />
      <polyline points={points} />
    </svg>
  );
}

function Kinds({
  fleet,
  kind,
  state,
}: {
  readonly fleet: Fleet;
  readonly kind: string | undefined;
  readonly state: string | undefined;
}) {
  return (
    <ul class="kinds" aria-label="Kinds and states">
      {fleet.kinds
        .filter(({ total, kind: name }) => total > 0 || name === kind)
        .map((one) => (
          <li key={one.kind} class={one.kind === kind ? 'card on' : 'card'}>
            <a
              class="kind"
              href={linkTo(
                one.kind === kind && state === undefined
                  ? { view: 'fleet' }
                  : { view: 'fleet', kind: one.kind },
              )}
              aria-current={one.kind === kind && state === undefined ? 'true' : undefined}
            >
              <span>{one.kind}</span>
              {(perKind.value.get(one.kind) ?? 0) > 0 && (
                <span class="rate num">{(perKind.value.get(one.kind) ?? 0).toFixed(1)} a second</span>
              )}
              <span class="num">{whole(one.total)}</span>
            </a>
            <ul class="chips">
              {statesOf(one).map(([name, count]) => (
                <li key={name}>
                  <a
                    class={`chip ${tone(name)}`}
                    aria-current={one.kind === kind && name === state ? 'true' : undefined}
                    href={linkTo(
                      one.kind === kind && name === state
                        ? { view: 'fleet', kind: one.kind }
                        : { view: 'fleet', kind: one.kind, state: name },
                    )}
                  >
                    <Name path={name} /> <b class="num">{whole(count)}</b>
                  </a>
                </li>
              ))}
            </ul>
          </li>
        ))}
    </ul>
  );
}

const statesOf = ({ states, halted }: Fleet['kinds'][number]): readonly (readonly [string, number])[] => [
  ...(halted > 0 ? [['halted', halted] as const] : []),
  ...Object.entries(states)
    .filter(([name, count]) => count > 0 && !name.endsWith('.none'))
    .sort(([, a], [, b]) => b - a),
];

function List({
  fleet,
  kind,
  state,
}: {
  readonly fleet: Fleet;
  readonly kind: string | undefined;
  readonly state: string | undefined;
}) {
  const kinds = kind === undefined ? fleet.kinds.map((one) => one.kind) : [kind];
  const list = useMemo(() => new ActorList(kinds, state), [kinds.join(), state]);
  useEffect(() => {
    const deaf = hear(({ entries, skipped, reset }) => {
      list.take(entries);
      if (skipped > 0 || reset) list.stale();
    });
    return () => {
      deaf();
      list.close();
    };
  }, [list]);
  list.measure(
    kinds.map((name) =>
      totalOf(
        fleet.kinds.find((one) => one.kind === name),
        state,
      ),
    ),
  );
  void list.version.value;
  const count = Math.min(list.count, rowsMax);
  const open = (index: number): void => {
    const actor = list.at(index);
    if (actor !== undefined) go({ view: 'actor', kind: actor.kind, id: actor.id });
  };
  return (
    <section class="panel list" aria-labelledby="list-title">
      <h2 id="list-title">
        {state === undefined
          ? kind === undefined
            ? 'All actors'
            : kind
          : `${kind} in ${state}, longest first`}
        {kind !== undefined && (
          <a class="quiet" href={linkTo({ view: 'fleet' })}>
            show all
          </a>
        )}
      </h2>
      {list.error.value !== undefined && (
        <p class="notice bad" role="alert">
          {list.error.value}{' '}
          <button type="button" class="quiet" onClick={() => list.again()}>
            Try again
          </button>
        </p>
      )}
      {count === 0 ? (
        <Empty kind={kind} state={state} />
      ) : (
        <VirtualList
          key={`${kind} ${state}`}
          label="Actors"
          count={count}
          rowHeight={52}
          open={open}
          seen={(from, to) => list.want(from, to)}
          row={(index) => <Row actor={list.at(index)} />}
        />
      )}
    </section>
  );
}

function totalOf(one: Fleet['kinds'][number] | undefined, state: string | undefined): number {
  if (one === undefined || state === undefined) return one?.total ?? 0;
  if (state === 'halted') return one.halted;
  return Object.entries(one.states).reduce(
    (sum, [name, count]) => sum + (isWithin(name, state) ? count : 0),
    0,
  );
}

/** Further down browsers do not scroll. Choose a kind or a state. */
const rowsMax = 300_000;

function Row({ actor }: { readonly actor: ActorSummary | undefined }) {
  return actor === undefined ? <span class="soft">…</span> : <Filled actor={actor} />;
}

function Filled({ actor }: { readonly actor: ActorSummary }) {
  const on = useAwaited(
    actor,
    actor.halted === null &&
      stateNames(actor.value).some((name) => tone(name) === 'wait' || name.endsWith('escalated')),
  );
  return (
    <>
      <span class="who">
        <b>{actor.title ?? actor.id}</b>
        <small>
          <span class="kind-name">{actor.kind}</span> {actor.title !== null && actor.id}
        </small>
      </span>
      <State value={actor.value} halted={actor.halted !== null} />
      <span class="waits">{askedOf(actor) ?? (on === '' ? waitsFor(actor) : on)}</span>
      <span class="age num" title="In this state for">
        {span(now.value - actor.since)}
      </span>
    </>
  );
}

/** What it waits for on whom, where it is listed as waiting. */
function askedOf({ kind, id }: ActorSummary): string | undefined {
  const own = attention.value?.waiting.find((waiting) => waiting.kind === kind && waiting.id === id);
  return own && `on ${own.on}: ${own.what}`;
}

/** On whom it waits, as far as the list knows: what runs for it, or which deadline comes next. */
function waitsFor({ effects, due, reason, parent }: ActorSummary): string {
  if (reason !== null) return reason;
  if (effects.length > 0) return `on ${[...new Set(effects)].join(', ')}`;
  if (due !== null)
    return due > now.value ? `on a timer, in ${span(due - now.value)}` : 'on a timer that is due';
  return parent === null ? '' : `under ${parent.kind} ${parent.id}`;
}

function Empty({ kind, state }: { readonly kind: string | undefined; readonly state: string | undefined }) {
  if (state !== undefined)
    return (
      <p class="empty">
        No {kind} is in <b>{state}</b> now.{' '}
        <a href={linkTo({ view: 'fleet', ...(kind !== undefined && { kind }) })}>See all of this kind.</a>
      </p>
    );
  return (
    <p class="empty">
      {kind === undefined ? 'No actors yet.' : `No ${kind} yet.`} Start one:{' '}
      <code>troupe run "count to 3"</code>
    </p>
  );
}
