import { useAction } from '../../../page/action.js';
import { ask, actorPath } from '../../../page/ask.js';
import { readOnly } from '../../../page/base.js';
import { mebibytes, now, span, withUtc } from '../../../page/clock.js';
import { Panel } from '../../../page/parts/panel.js';
import { useLoaded } from '../live.js';
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
  const silentMs = now.value - (said?.at ?? startedAt);
  return (
    <Panel
      name="working"
      title="At work"
      about={`for ${span(now.value - startedAt)}`}
      end={readOnly === undefined && why?.next.some(isStop) && <Stop detail={detail} />}
      error={error}
      class="working"
    >
      <dl class="work-facts">
        {work?.place != null && <Fact name="place in the queue" value={String(work.place)} isBad />}
        <Fact name="silent for" value={span(silentMs)} isBad={silentMs > silentBadMs} />
        {turn !== undefined && (
          <>
            <Fact
              name="turn is ended in"
              value={span(turn.deadlineAt - now.value)}
              title={withUtc(turn.deadlineAt)}
            />
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

/** Ends the turn where its silence is seen; with a reason it is sent from the possible events below. */
function Stop({ detail }: { readonly detail: ActorDetail }) {
  const { message, busy, attempt } = useAction();
  const stop = (): Promise<unknown> =>
    ask(actorPath(detail, '/send'), { post: { event: { type: 'session.stop' } } });
  return (
    <span class="end">
      {message !== '' && (
        <small class="bad" role="alert">
          {message}
        </small>
      )}
      <button type="button" disabled={busy} onClick={() => void attempt(stop)}>
        Stop the turn
      </button>
    </span>
  );
}

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

/** Half of how long an engine may be silent before it is looked after. */
const silentBadMs = 60_000;

/** The turn of a session, from its context. */
function turnOf({ context, since }: ActorDetail): {
  readonly startedAt: number;
  readonly deadlineAt: number;
  readonly costUsd: number;
} {
  const { turn, turnDeadlineMs, totalCost } = context as {
    readonly turn?: { readonly startedAt?: number } | null;
    readonly turnDeadlineMs?: number;
    readonly totalCost?: number;
  };
  const startedAt = turn?.startedAt ?? since;
  return { startedAt, deadlineAt: startedAt + (turnDeadlineMs ?? 0), costUsd: totalCost ?? 0 };
}
