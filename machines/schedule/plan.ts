import { isoTime } from '../sortable.js';
import { limits, type FireInput, type ScheduleContext } from './context.js';
import { countNotRun, newestNotRun, nextNotRun, withRun } from './ran.js';

/** What an alarm means: which fires run, how many were missed, and what the job knows afterwards. */
export interface Plan {
  readonly fires: readonly Pick<FireInput, 'id' | 'jobId' | 'dueAt' | 'why' | 'missed' | 'job'>[];
  readonly missed: number;
  readonly set: Required<Pick<ScheduleContext, 'nextAt' | 'doneUntil' | 'setBacks' | 'knownUntil' | 'ran'>>;
}

/** At `at` (wall time) an alarm rang and something is due, perhaps for long. */
export function planDue(context: ScheduleContext, at: number): Plan {
  const { schedule, zone, doneUntil, active, ran: before = [], knownUntil = doneUntil } = context;
  const due = newestNotRun(schedule, zone, doneUntil, at, before, limits.missedMax * 2 + 1);
  const last = due.at(-1);
  const onTime = last !== undefined && at - last <= limits.graceMs ? [last] : [];
  const late = onTime.length > 0 ? due.slice(0, -1) : due;
  const caught =
    context.missed === 'all'
      ? late.slice(-limits.missedMax)
      : context.missed === 'once' && onTime.length === 0
        ? late.slice(-1)
        : [];
  const room = Math.max(0, limits.activeMax - active.length);
  const runs = [...caught, ...onTime];
  const begun = runs.slice(0, room);
  const lost = late.slice(0, late.length - caught.length).slice(-limits.missedMax);
  const missed = countNotRun(schedule, zone, doneUntil, at, before) - begun.length;
  const [first, final] = [begun[0], begun.at(-1)];
  const ran =
    first === undefined || final === undefined
      ? before
      : withRun(before, first, begun.length < runs.length ? final : at, missed === 0 ? doneUntil : NaN);
  return {
    fires: [
      ...lost.map((dueAt) => fire(context, dueAt, 'schedule', 'The gateway was down when it was due.')),
      ...runs.map((dueAt, place) =>
        fire(
          context,
          dueAt,
          onTime.includes(dueAt) ? 'schedule' : 'caught-up',
          place < room ? null : `${limits.activeMax} earlier runs of this job have not ended yet.`,
        ),
      ),
    ],
    missed,
    set: { ...ahead({ ...context, ran }, at), ran, knownUntil: Math.max(knownUntil, last ?? 0) },
  };
}

/**
 * From now on: everything up to `at` is dealt with. Where the clock was set back, time is lived again:
 * instants that ran do not run again, and the others, which are still to come, do.
 */
export function ahead(
  context: ScheduleContext,
  at: number,
): Pick<Plan['set'], 'nextAt' | 'doneUntil' | 'setBacks'> {
  return {
    doneUntil: at,
    setBacks: (context.setBacks ?? 0) + (at < context.doneUntil ? 1 : 0),
    nextAt: context.enabled ? nextNotRun(context.schedule, context.zone, at, context.ran ?? []) : null,
  };
}

/**
 * An instant that comes again after the clock was set back, and is on record as missed or as begun by hand,
 * needs a second name.
 */
export function fire(
  context: ScheduleContext,
  dueAt: number,
  why: FireInput['why'],
  missed: string | null,
): Plan['fires'][number] {
  const {
    id,
    name,
    engine,
    model,
    effortLevel,
    employee,
    prompt,
    delivery,
    workflowId,
    writtenBy,
    setBacks = 0,
    knownUntil = context.doneUntil,
  } = context;
  const again = setBacks > 0 && dueAt <= knownUntil ? `~${setBacks}` : '';
  return {
    id: `cron:${id}:${isoTime(dueAt)}${again}`,
    jobId: id,
    dueAt,
    why,
    missed,
    job: {
      name,
      engine,
      model,
      effortLevel,
      employee,
      prompt,
      delivery,
      workflowId,
      ...(writtenBy !== undefined && { writtenBy }),
    },
  };
}
