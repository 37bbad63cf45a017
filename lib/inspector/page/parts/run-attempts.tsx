import { useRef } from 'preact/hooks';
import { ask } from '../../../page/ask.js';
import { duration, now, withUtc } from '../../../page/clock.js';
import { Panel } from '../../../page/parts/panel.js';
import { useRows } from '../../../page/parts/rows.js';
import { tone } from '../../../page/parts/state.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { wordOfStep, type Attempt } from './run-record.js';

/**
 * Every attempt at every step, each as a bar on the time of the run: what took long, what was tried again and why,
 * and who worked on it.
 */
export function RunAttempts({
  id,
  path,
  from,
  until,
  choose,
}: {
  readonly id: string;
  readonly path: string;
  /** Of the run, epoch ms; `until` is null while it goes on. */
  readonly from: number;
  readonly until: number | null;
  readonly choose: (nodeId: string) => void;
}) {
  const loaded = useLoaded(`receipts ${path}`, (signal) => lastAttempts(path, signal), {
    touches: ({ entries, skipped }) => skipped > 0 || entries.some((entry) => entry.id.startsWith(id)),
  });
  const { value, error } = loaded.value;
  const attempts = value?.receipts ?? [];
  const isCut = value !== undefined && value.total > attempts.length;
  const box = useRef<HTMLDivElement>(null);
  const { indexes, above, below, measure } = useRows({
    box,
    count: attempts.length,
    heightPx: 54,
    keyOf: (index) => attempts[index]?.receipt ?? index,
  });
  const end = Math.max(from + 1, until ?? now.value);
  return (
    <Panel
      name="attempts"
      title="Attempts"
      about={
        (isCut ? `the last ${attempts.length} of ${value.total}, ` : '') +
        `oldest first, over ${duration(end - from)}`
      }
      error={error}
    >
      {value !== undefined && attempts.length === 0 && <p class="empty">No step has begun yet.</p>}
      <div class="attempts-box" ref={box} tabIndex={0} role="region" aria-label="Attempts, can be scrolled">
        <ol class="attempts" style={{ paddingTop: `${above}px`, paddingBottom: `${below}px` }}>
          {indexes.map((index) => {
            const attempt = attempts[index];
            return (
              attempt !== undefined && (
                <li key={attempt.receipt} ref={measure} data-index={index}>
                  <Row attempt={attempt} from={from} end={end} choose={choose} />
                </li>
              )
            );
          })}
        </ol>
      </div>
    </Panel>
  );
}

interface Attempts {
  readonly receipts: readonly Attempt[];
  readonly total: number;
}

/** Of a long run the last: there it is now. */
async function lastAttempts(path: string, signal: AbortSignal): Promise<Attempts> {
  const read = (after: number): Promise<Attempts> =>
    ask(`${path}/receipts?limit=${attemptsMax}&after=${after}`, { signal });
  const first = await read(0);
  return first.total <= attemptsMax ? first : read(first.total - attemptsMax);
}

const attemptsMax = 500;

function Row({
  attempt,
  from,
  end,
  choose,
}: {
  readonly attempt: Attempt;
  readonly from: number;
  readonly end: number;
  readonly choose: (nodeId: string) => void;
}) {
  const { nodeId, label, status, attempt: nth, round, detail, reason, sessionId, costUsd } = attempt;
  const begun = Date.parse(attempt.dispatchedAt ?? attempt.at ?? '') || from;
  const settled = attempt.settledAt === undefined ? undefined : Date.parse(attempt.settledAt);
  const over = settled ?? (status === 'running' || status === 'parked' ? end : begun);
  const part = (at: number): string => `${Math.min(99, Math.max(0, ((at - from) / (end - from)) * 100))}%`;
  const width = `${Math.max(1, Math.min(100, ((over - begun) / (end - from)) * 100))}%`;
  return (
    <>
      <p class="line">
        <button type="button" class="quiet" onClick={() => choose(nodeId)}>
          {label}
        </button>
        <b class={`state ${tone(status)}`}>{wordOfStep(status)}</b>
        {(nth > 1 || (round ?? 1) > 1) && (
          <span class="soft">
            attempt {nth}
            {(round ?? 1) > 1 && `, round ${round}`}
          </span>
        )}
        {typeof sessionId === 'string' && (
          <a href={linkTo({ view: 'actor', kind: 'session', id: sessionId })}>its session</a>
        )}
        {typeof costUsd === 'number' && costUsd > 0 && <span class="soft num">${costUsd.toFixed(2)}</span>}
        <span class="soft num end" title={withUtc(begun)}>
          {duration(over - begun)}
        </span>
      </p>
      <span class="bar" aria-hidden="true">
        <i class={tone(status)} style={{ marginLeft: part(begun), width }} />
      </span>
      {(detail ?? reason) !== undefined && status !== 'done' && (
        <small class={tone(status) === 'bad' ? 'bad' : 'soft'}>{detail ?? reason}</small>
      )}
    </>
  );
}
