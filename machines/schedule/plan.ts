import { isoTime } from '../iso-time.js';
import { limits, type FireInput, type ScheduleContext } from './context.js';
import { nextAfter } from '../cron-time.js';

/** What an alarm means: which fires run, which were missed, and when it is due next. */
export interface Plan {
  readonly fires: readonly Pick<FireInput, 'id' | 'jobId' | 'dueAt' | 'why' | 'missed' | 'job'>[];
  readonly missed: number;
  readonly nextAt: number | null;
  readonly doneUntil: number;
}

/** At `at` (wall time) an alarm rang, perhaps long after it was due, perhaps too early because somebody set the clock. */
export function planDue(context: ScheduleContext, at: number): Plan {
  const due = dueBy(context, at);
  const last = due.at(-1);
  const onTime = last !== undefined && at - last <= limits.graceMs ? [last] : [];
  const late = onTime.length > 0 ? due.slice(0, -1) : due;
  const caught = context.missed === 'all' ? late.slice(-limits.missedMax) : context.missed === 'once' && onTime.length === 0 ? late.slice(-1) : [];
  const room = Math.max(0, limits.activeMax - context.active.length);
  const runs = [...caught, ...onTime];
  const lost = late.filter((one) => !caught.includes(one)).slice(-limits.missedMax);
  return {
    fires: [
      ...lost.map((dueAt) => fire(context, dueAt, 'schedule', 'Its time went by while nobody was there to run it.')),
      ...runs.map((dueAt, place) => fire(context, dueAt, onTime.includes(dueAt) ? 'schedule' : 'caught-up', place < room ? null : `${limits.activeMax} earlier runs of this job have not ended yet.`)),
    ],
    missed: late.length - caught.length + Math.max(0, runs.length - room),
    ...ahead(context, Math.max(at, last ?? context.doneUntil)),
  };
}

/** From now on: everything up to `at` is dealt with. */
export function ahead(context: ScheduleContext, at: number): Pick<Plan, 'nextAt' | 'doneUntil'> {
  const doneUntil = Math.max(at, context.doneUntil); // a clock that is set back lets nothing run again
  return { doneUntil, nextAt: context.enabled ? nextAfter(context.schedule, context.zone, doneUntil) : null };
}

export function fire(context: ScheduleContext, dueAt: number, why: FireInput['why'], missed: string | null): Plan['fires'][number] {
  const { id, name, engine, model, effortLevel, employee, prompt, delivery, workflowId } = context;
  return { id: `cron:${id}:${isoTime(dueAt)}`, jobId: id, dueAt, why, missed, job: { name, engine, model, effortLevel, employee, prompt, delivery, workflowId } };
}

/** The instants that are due by `at`: all of them, or of very many the newest. */
function dueBy(context: ScheduleContext, at: number): readonly number[] {
  const due: number[] = [];
  for (let next = context.nextAt, steps = 0; next !== null && next <= at && steps < stepsMax; steps += 1) {
    due.push(next);
    if (due.length > limits.missedMax * 2) due.splice(0, limits.missedMax - 1); // keep the newest; how many there were before is not told
    next = nextAfter(context.schedule, context.zone, next);
    if (steps === farBack && next !== null && next < at - recentMs) next = nextAfter(context.schedule, context.zone, at - recentMs);
  }
  return due;
}

// A minutely job that slept for years must not count every minute of them.
const farBack = 500;
const recentMs = 12 * 3_600_000;
const stepsMax = 2_000;
