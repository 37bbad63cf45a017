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
          {legend.map(([tone, name]) => (
            <span key={name}>
              <i class={`lamp ${tone}`} aria-hidden="true" /> {name}{' '}
            </span>
          ))}
        </span>
      </h2>
      <ul>
        {shown.map((job) => {
          const runs = past.value.value?.get(job.id) ?? [];
          const due = job.enabled ? dueAfter(job, at) : [];
          const missed = runs.filter(({ status }) => status === 'missed').length;
          const late = runs.filter(({ dueAt }) => dueAt !== undefined).length;
          return (
            <li key={job.id} data-strip={job.id}>
              <span class="clip">{job.name}</span>
              <svg
                viewBox="0 0 2880 24"
                preserveAspectRatio="none"
                role="img"
                aria-label={
                  `${job.name}: ${runs.length} runs in the last 24 hours, ${missed} of them missed, ` +
                  `${late} caught up late, ${due.length}${due.length === marksMax ? ' or more' : ''} due in the next 24`
                }
              >
                <path class="line" d="M0 12H2880" />
                {runs.map((run) => (
                  <rect
                    key={run.id}
                    class={`${runTone(run.status)}${run.dueAt === undefined ? '' : ' late'}`}
                    data-run={run.dueAt === undefined ? run.status : 'caught-up'}
                    x={1_440 + (run.at - at) / 60_000 - 8}
                    y={4}
                    width={16}
                    height={16}
                  >
                    <title>{wordsOf(run)}</title>
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
