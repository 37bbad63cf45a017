import { ask, actorPath } from '../../../page/ask.js';
import { mebibytes, now, span, withUtc } from '../../../page/clock.js';
import { Panel } from '../../../page/parts/panel.js';
import { useLoaded } from '../live.js';
import { StopTurn } from './decide.js';
import type { ActorDetail, WhyAnswer, Work } from '../../answers.js';

/**
 * How a running agent does: its last words as they come, for how long it has been silent, when its turn is ended,
 * its place in the queue, whether its process lives, and what it has cost. Of other kinds: what their effects
 * say of themselves.
 */
export function Working({
  detail,
  why,
}: {
  readonly detail: ActorDetail;
  readonly why: WhyAnswer | undefined;
}) {
  const { kind, id, calls } = detail;
  const loaded = useLoaded(
    `work ${kind}/${id} ${calls.map((call) => call.key).join()}`,
    (signal) => ask<Work>(actorPath({ kind, id }, '/work'), { signal }),
    { everyMs: 1_000 },
  );
  const { value: work, error } = loaded.value;
  const turn = kind === 'session' ? turnOf(detail) : undefined;
  const startedAt = turn?.startedAt ?? detail.since;
  const said = work?.said != null && work.said.at >= startedAt ? work.said : undefined;
  const silentMs = now.value - Math.max(said?.at ?? startedAt, turn?.heardAt ?? startedAt);
  return (
    <Panel
      name="working"
      title="At work"
      about={`for ${span(now.value - startedAt)}`}
      end={
        why?.next.some(isStop) && (
          <span class="end">
            <StopTurn actor={detail} />
          </span>
        )
      }
      error={error}
      class="working"
    >
      <dl class="work-facts">
        {work?.place != null && <Fact name="place in the queue" value={String(work.place)} isBad />}
        <Fact name="silent for" value={span(silentMs)} isBad={silentMs > silentBadMs} />
        {turn !== undefined && (
          <>
            <TurnLimit turn={turn} beganAt={work?.worker?.since ?? startedAt} />
            <Fact name="cost so far" value={`$${turn.costUsd.toFixed(2)}`} />
          </>
        )}
        {work?.worker != null && <InWorker worker={work.worker} />}
        {work?.processes.map(({ pid, isAlive, machine }) => (
          <Fact
            key={pid}
            name={`process ${pid}`}
            value={isAlive === null ? `on ${machine ?? 'this machine'}` : isAlive ? 'alive' : 'gone'}
            isBad={isAlive === false}
          />
        ))}
      </dl>
      {said === undefined ? (
        <p class="empty">
          {work === undefined ? 'Loading …' : 'It has said nothing yet, or the gateway has restarted since.'}
        </p>
      ) : (
        <pre class="said" tabIndex={0} role="log" aria-label="Last output" aria-live="off">
          {said.text.trim()}
        </pre>
      )}
    </Panel>
  );
}

/**
 * When its turn is ended by itself, counted from when it began: one that waits for a slot has all of its time left.
 * Past that, and past the time that its program gets to end, the page says that this did not happen.
 */
function TurnLimit({
  turn: { hasBegun, limitMs },
  beganAt,
}: {
  readonly turn: Turn;
  readonly beganAt: number;
}) {
  if (!hasBegun) return <Fact name="turn may take, once it begins" value={span(limitMs)} />;
  const endsAt = beganAt + limitMs;
  const leftMs = endsAt - now.value;
  if (leftMs > 0) return <Fact name="turn is ended in" value={span(leftMs)} title={withUtc(endsAt)} />;
  if (leftMs > -endingMs) return <Fact name="turn is ended" value="now" title={withUtc(endsAt)} />;
  return (
    <>
      <Fact name="turn should have ended" value={`${span(-leftMs)} ago`} title={withUtc(endsAt)} isBad />
      <p class="bad">
        It was not ended after {span(limitMs)}, as it should have been. Stop the turn; if it stays, restart
        the gateway: <code>troupe stop --now</code>, <code>troupe start</code>.
      </p>
    </>
  );
}

/** Where a turn is that outlives the gateway. That the gateway names it says that it lives. */
function InWorker({
  worker: { name, state, pid, since, startedAt, memoryBytes },
}: {
  readonly worker: NonNullable<Work['worker']>;
}) {
  const memory = memoryBytes === null ? '' : `, ${mebibytes(memoryBytes)}`;
  return (
    <Fact
      name={`${name}, alive`}
      value={`for ${span(now.value - since)}${memory}`}
      title={`process ${pid}, up for ${span(now.value - startedAt)}, ${state}`}
    />
  );
}

const isStop = ({ event, allowed, sendable }: WhyAnswer['next'][number]): boolean =>
  event === 'session.stop' && allowed && sendable;

function Fact({
  name,
  value,
  title,
  isBad = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly title?: string;
  readonly isBad?: boolean;
}) {
  return (
    <div class={isBad ? 'bad' : ''}>
      <dt>{name}</dt>
      <dd class="num" title={title}>
        {value}
      </dd>
    </div>
  );
}

/** From then on it stands in *Waiting* as quiet (`quietSeconds` of `GET /api/inspect/stuck`). */
const silentBadMs = 60_000;
/** A program that is ended is given time for that. */
const endingMs = 30_000;

interface Turn {
  readonly startedAt: number;
  /** Its effect has a slot, and the clock of its limit runs. */
  readonly hasBegun: boolean;
  readonly heardAt: number | undefined;
  readonly limitMs: number;
  readonly costUsd: number;
}

/** The turn of a session, from its context. */
function turnOf({ context, since }: ActorDetail): Turn {
  const { turn, turnDeadlineMs, totalCost } = context as {
    readonly turn?: {
      readonly startedAt?: number;
      readonly began?: boolean;
      readonly heardAt?: number;
    } | null;
    readonly turnDeadlineMs?: number;
    readonly totalCost?: number;
  };
  return {
    startedAt: turn?.startedAt ?? since,
    hasBegun: turn?.began === true,
    heardAt: turn?.heardAt,
    limitMs: turnDeadlineMs ?? 0,
    costUsd: totalCost ?? 0,
  };
}
