import type { Answer } from '../../../client/index.js';
import { useSignal } from '@preact/signals';
import { nextAfter } from '../../../../machines/cron-time.js';
import { now, timeOfDay } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';

export type Job = Answer<'/api/cron', 'get'>[number];

export const runTone = (status: string): 'done' | 'busy' | 'wait' | 'bad' =>
  /succe|complete/.test(status)
    ? 'done'
    : status === 'started'
      ? 'busy'
      : status === 'missed'
        ? 'wait'
        : 'bad';

/**
 * A line for each job: what ran in the last 24 hours, with what was missed, and what is due in the next 24. The middle
 * is now.
 */
export function DayStrip({ jobs }: { readonly jobs: readonly Job[] }) {
  const isWhole = useSignal(false);
  const all = jobs.filter(({ enabled, lastRun }) => enabled || isOfToday(lastRun));
  const shown = [...all].sort(bySoonest).slice(0, isWhole.value ? lanesMax : lanesShort);
  const ran = shown.filter(({ lastRun }) => isOfToday(lastRun));
  const past = useLoaded(
    `cron-strip/${ran.map(({ id, lastRun }) => `${id} ${lastRun?.timestamp}`).join()}`, // read again after each run
    () => readPast(ran),
  );
  if (shown.length === 0) return null;
  const at = Math.floor(now.value / 60_000) * 60_000;
  return (
    <section class="panel strip" aria-labelledby="strip-title">
      <h2 id="strip-title">
        24 hours back and ahead
        <span class="soft small legend">
          <i class="lamp done" aria-hidden="true" /> done <i class="lamp bad" aria-hidden="true" /> failed{' '}
          <i class="lamp wait" aria-hidden="true" /> missed <i class="lamp" aria-hidden="true" /> due
        </span>
      </h2>
      <ul>
        {shown.map((job) => {
          const runs = past.value.value?.get(job.id) ?? [];
          const due = job.enabled ? dueAfter(job, at) : [];
          const missed = runs.filter(({ status }) => status === 'missed').length;
          return (
            <li key={job.id} data-strip={job.id}>
              <span class="clip">{job.name}</span>
              <svg
                viewBox="0 0 2880 24"
                preserveAspectRatio="none"
                role="img"
                aria-label={
                  `${job.name}: ${runs.length} runs in the last 24 hours, ${missed} of them missed, ` +
                  `${due.length}${due.length === marksMax ? ' or more' : ''} due in the next 24`
                }
              >
                <path class="line" d="M0 12H2880" />
                {runs.map(({ at: when, status }) => (
                  <rect
                    key={when}
                    class={runTone(status)}
                    data-run={status}
                    x={1_440 + (when - at) / 60_000 - 8}
                    y={4}
                    width={16}
                    height={16}
                  >
                    <title>{`${timeOfDay(when)} ${status}`}</title>
                  </rect>
                ))}
                {due.map((when) => (
                  <rect
                    key={when}
                    class="due"
                    x={1_440 + (when - at) / 60_000 - 5}
                    y={6}
                    width={10}
                    height={12}
                  >
                    <title>{timeOfDay(when)}</title>
                  </rect>
                ))}
                <path class="now" d="M1440 0V24" />
              </svg>
            </li>
          );
        })}
      </ul>
      {all.length > shown.length && !isWhole.value && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          {Math.min(all.length, lanesMax) - shown.length} more
        </button>
      )}
    </section>
  );
}

const lanesShort = 10;
const lanesMax = 60;
const bySoonest = (one: Job, other: Job): number =>
  (one.nextRunAt ?? '~').localeCompare(other.nextRunAt ?? '~');
const marksMax = 300;
const dayMs = 86_400_000;

const isOfToday = (lastRun: Job['lastRun']): boolean =>
  lastRun !== null && now.value - Date.parse(lastRun.timestamp) < dayMs;

/** The gateway's own next time corrects a zone that the job leaves to the gateway's machine. */
export function dueAfter(
  { schedule, timezone, nextRunAt }: Pick<Job, 'schedule' | 'timezone' | 'nextRunAt'>,
  at: number,
  max = marksMax,
): readonly number[] {
  const zone = timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const due: number[] = [];
  let shift: number | undefined;
  for (let when: number | null = at; due.length < max;) {
    when = nextAfter(schedule, zone, when);
    if (when === null) break;
    shift ??= nextRunAt === null ? 0 : Date.parse(nextRunAt) - when;
    const real: number = timezone === null ? when + shift : when;
    if (real > at + dayMs && max === marksMax) break;
    due.push(real);
  }
  return due;
}

type Past = ReadonlyMap<string, readonly { readonly at: number; readonly status: string }[]>;

async function readPast(jobs: readonly Job[]): Promise<Past> {
  const since = now.value - dayMs;
  const all = await Promise.all(
    jobs.map(async ({ id }) => {
      const answer = await must(
        client.get('/api/cron/{id}/runs', { params: { path: { id }, query: { limit: '100' } } }),
      );
      const runs = Array.isArray(answer) ? answer : answer.runs;
      return [
        id,
        runs
          .map(({ timestamp, status }) => ({ at: Date.parse(timestamp), status }))
          .filter(({ at }) => at >= since),
      ] as const;
    }),
  );
  return new Map(all);
}
