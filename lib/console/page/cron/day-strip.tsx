import type { Answer } from '../../../client/index.js';
import { useComputed, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
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

const legend = [
  ['done', 'done'],
  ['bad', 'failed'],
  ['wait', 'missed'],
  ['late', 'caught up late'],
  ['', 'due'],
] as const;

/**
 * A line for each job: what ran in the last 24 hours, with what was missed, and what is due in the next 24. The middle
 * is now.
 */
export function DayStrip({ jobs }: { readonly jobs: readonly Job[] }) {
  const isWhole = useSignal(false);
  // Once a minute: what is due takes long to find, and the clock of the page ticks each second
  const at = useComputed(() => Math.floor(now.value / minuteMs) * minuteMs).value;
  const all = jobs.filter(({ enabled, lastRun }) => enabled || isOfDay(lastRun, at));
  const shown = [...all].sort(bySoonest).slice(0, isWhole.value ? lanesMax : lanesShort);
  const ran = shown.filter(({ lastRun }) => isOfDay(lastRun, at));
  const past = useLoaded(
    `cron-strip/${ran.map(({ id, lastRun }) => `${id} ${lastRun?.timestamp}`).join()}`, // read again after each run
    () => readPast(ran),
  );
  const runs = past.value.value;
  const lanes = useMemo(
    () => shown.map((job) => <Lane key={job.id} job={job} at={at} runs={runs?.get(job.id) ?? []} />),
    [jobs, at, isWhole.value, runs],
  );
  if (shown.length === 0) return null;
  return (
    <section class="panel strip" aria-labelledby="strip-title">
      <h2 id="strip-title">
        24 hours back and ahead
        <span class="soft small legend">
          {legend.map(([tone, name]) => (
            <span key={name}>
              <i class={`lamp ${tone}`} aria-hidden="true" /> {name}{' '}
            </span>
          ))}
        </span>
      </h2>
      <ul>{lanes}</ul>
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

function Lane({ job, at, runs }: { readonly job: Job; readonly at: number; readonly runs: readonly Run[] }) {
  const due = job.enabled ? marksAfter(job, at) : [];
  const isDense = due.some((when, n) => when - (due[n - 1] ?? 0) <= markMs);
  const missed = runs.filter(({ status }) => status === 'missed').length;
  const late = runs.filter(({ dueAt }) => dueAt !== undefined).length;
  return (
    <li data-strip={job.id}>
      <span class="clip">{job.name}</span>
      <svg
        viewBox="0 0 2880 24"
        preserveAspectRatio="none"
        role="img"
        aria-label={
          `${job.name}: ${runs.length} runs in the last 24 hours, ${missed} of them missed, ` +
          `${late} caught up late, ${due.length}${isDense ? ' or more' : ''} due in the next 24`
        }
      >
        <path class="line" d="M0 12H2880" />
        {runs.map((run) => (
          <rect
            key={run.id}
            class={`${runTone(run.status)}${run.dueAt === undefined ? '' : ' late'}`}
            data-run={run.dueAt === undefined ? run.status : 'caught-up'}
            x={1_440 + (run.at - at) / minuteMs - 8}
            y={4}
            width={16}
            height={16}
          >
            <title>{wordsOf(run)}</title>
          </rect>
        ))}
        {due.map((when) => (
          <rect key={when} class="due" x={1_440 + (when - at) / minuteMs - 5} y={6} width={10} height={12}>
            <title>{timeOfDay(when)}</title>
          </rect>
        ))}
        <path class="now" d="M1440 0V24" />
      </svg>
    </li>
  );
}

const lanesShort = 10;
const lanesMax = 60;
const bySoonest = (one: Job, other: Job): number =>
  (one.nextRunAt ?? '~').localeCompare(other.nextRunAt ?? '~');
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** A mark of the strip is so wide: what is due within it needs no other. */
const markMs = 10 * minuteMs;

const isOfDay = (lastRun: Job['lastRun'], at: number): boolean =>
  lastRun !== null && at - Date.parse(lastRun.timestamp) < dayMs;

type Timed = Pick<Job, 'schedule' | 'timezone' | 'nextRunAt'>;

/** The next times, so many of them. */
export const dueAfter = (job: Timed, at: number, max: number): readonly number[] =>
  timesAfter(job, at, { max, apartMs: 0, untilMs: Infinity });

/** What is due within a day, to the end of it however often that is: a mark stands for what is due within its width. */
export const marksAfter = (job: Timed, at: number): readonly number[] =>
  timesAfter(job, at, { max: dayMs / markMs + 1, apartMs: markMs, untilMs: at + dayMs });

/** The gateway's own next time corrects a zone that the job leaves to the gateway's machine. */
function timesAfter(
  { schedule, timezone, nextRunAt }: Timed,
  at: number,
  { max, apartMs, untilMs }: { readonly max: number; readonly apartMs: number; readonly untilMs: number },
): readonly number[] {
  const zone = timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const due: number[] = [];
  let shift: number | undefined;
  for (let from = at; due.length < max;) {
    const when = nextAfter(schedule, zone, from);
    if (when === null) break;
    shift ??= nextRunAt === null ? 0 : Date.parse(nextRunAt) - when;
    const real = timezone === null ? when + shift : when;
    if (real > untilMs) break;
    due.push(real);
    from = when + Math.max(0, apartMs - 1); // the next is later than this
  }
  return due;
}

interface Run {
  readonly id: string;
  readonly at: number;
  readonly status: string;
  /** When it should have run, where it was caught up later. */
  readonly dueAt: number | undefined;
}
type Past = ReadonlyMap<string, readonly Run[]>;

const wordsOf = ({ at, status, dueAt }: Run): string =>
  dueAt === undefined
    ? `${timeOfDay(at)} ${status}`
    : `${timeOfDay(at)} ${status}: caught up, was due at ${timeOfDay(dueAt)}`;

async function readPast(jobs: readonly Job[]): Promise<Past> {
  const since = now.value - dayMs;
  const all = await Promise.all(
    jobs.map(async ({ id }) => {
      const answer = await must(
        client.get('/api/cron/{id}/runs', { params: { path: { id }, query: { limit: '100' } } }),
      );
      const runs = Array.isArray(answer) ? answer : answer.runs;
      return [id, runs.map(runOf).filter(({ at }) => at >= since)] as const;
    }),
  );
  return new Map(all);
}

/** A run is named for the instant at which it was due: `cron:tidy:2026-01-01T07:00:00.000Z`. */
function runOf(run: Readonly<Record<string, unknown>>): Run {
  const [id, status] = [String(run['sessionKey']), String(run['status'])];
  const due = Date.parse(/\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(id)?.[0] ?? '');
  const began = Date.parse(String(run['timestamp']));
  if (Number.isNaN(due)) return { id, status, at: began, dueAt: undefined };
  // What was missed is on record since the gateway was there again; it is shown where it was due
  return {
    id,
    status,
    at: status === 'missed' ? due : began,
    dueAt: run['why'] === 'caught-up' ? due : undefined,
  };
}
