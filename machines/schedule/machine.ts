import { assertEvent, assign, cancel, emit, enqueueActions, setup } from 'xstate';
import { callerName, fromKernel, operator, isPerson, isTrusted, type Authority } from '../caller.js';
import { publish, effect, type Output } from '../outputs.js';
import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import {
  edited,
  limits,
  type FireInput,
  type LastRun,
  type ScheduleContext,
  type ScheduleEvent,
  type ScheduleInput,
} from './context.js';
import { scheduleFault } from '../cron-time.js';
import { ahead, fire, planDue, type Plan } from './plan.js';

/**
 * A cron job.
 *
 * **What lives.** What people wrote down, and one alarm: the next instant it is due. The alarm is a durable
 * timer, so a gateway that was down meets it at its next start.
 *
 * **What can happen.** The alarm rings: a fire is created in the same commit, as an actor of the name
 * `cron:<job>:<instant>`, and the next alarm is set. Instants missed while the gateway was down are
 * skipped, caught up once or all caught up, as the job says; each is on record. A person fires it manually,
 * at any time.
 *
 * **What can never happen.** One instant that fires twice, whatever clocks do. A job without an alarm while
 * it is enabled. An agent that changes a job; a person that changes one which follows a workflow.
 */
export const scheduleMachine = setup({
  types: {} as { context: ScheduleContext; events: ScheduleEvent; input: ScheduleInput; emitted: Output },
  actors: {
    /** Durable child: one run. */
    fire: effect<void, FireInput>(),
  },
  guards: {
    isDue: ({ context, event }) => context.nextAt !== null && event.at >= context.nextAt,
  },
  actions: {
    wake: enqueueActions(({ context, enqueue }) => {
      const next = ahead(context, context.createdAt);
      enqueue.assign(next);
      alarm(enqueue, next.nextAt, context.createdAt);
      enqueue.emit(publish('cron:reloaded', { id: context.id, action: 'created' }));
    }),
    ring: enqueueActions(({ context, event, enqueue }) => {
      const plan = planDue(context, event.at);
      start(enqueue, context, plan.fires, event.at);
      enqueue.assign({ ...plan.set, missedFires: context.missedFires + plan.missed });
      alarm(enqueue, plan.set.nextAt, event.at);
    }),
    /**
     * Rung before anything is due: the clock was set back. By more than since the last instant: then
     * time is lived again.
     */
    wait: enqueueActions(({ context, event, enqueue }) => {
      const set = event.at < context.doneUntil ? ahead(context, event.at - limits.graceMs) : context;
      enqueue.assign({ nextAt: set.nextAt, doneUntil: set.doneUntil, setBacks: set.setBacks ?? 0 });
      alarm(enqueue, set.nextAt, event.at);
    }),
    fireNow: enqueueActions(({ context, event, enqueue }) => {
      const at = freeInstant(context, event.at);
      start(enqueue, context, [fire(context, at, 'trigger', null)], event.at);
      enqueue.assign({ knownUntil: Math.max(context.knownUntil ?? context.doneUntil, at) });
    }),
    edit: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'job.edit');
      const job = edited(context, event);
      const next = ahead(job, event.at);
      enqueue.assign({
        ...event.patch,
        zone: job.zone,
        updatedAt: event.at,
        writtenBy: callerName(event.by),
        ...next,
      });
      alarm(enqueue, next.nextAt, event.at);
      enqueue.emit(publish('cron:reloaded', { id: context.id, action: 'updated' }));
    }),
    endFire: enqueueActions(({ context, event, enqueue }) => {
      // XState's types do not show the ends of spawned children
      const { actorId, output } = event as { readonly type: string } as {
        readonly type: string;
        readonly actorId: string;
        readonly output?: LastRun;
      };
      enqueue.stopChild(actorId); // XState would remember it for ever
      enqueue.assign({
        active: context.active.filter((id) => id !== actorId),
        ...(output === undefined ? {} : { lastRun: output }),
      });
    }),
    rewrite: assign(({ event }) => {
      assertEvent(event, 'job.revive');
      return {
        ...event.job,
        zone: event.zone,
        managedBy: event.managedBy,
        workflowId: event.workflowId,
        createdAt: event.at,
        updatedAt: event.at,
        writtenBy: callerName(event.by),
        lastRun: null,
      };
    }),
    publishDeleted: emit(({ context }) => publish('cron:reloaded', { id: context.id, action: 'deleted' })),
  },
}).createMachine({
  id: 'schedule',
  context: ({ input }) => firstContext(input),
  initial: 'scheduled',
  states: {
    scheduled: {
      entry: 'wake',
      on: {
        'job.due': [{ guard: 'isDue', actions: 'ring' }, { actions: 'wait' }],
        'job.edit': { actions: 'edit' },
        'job.trigger': { actions: 'fireNow' },
        'job.delete': 'deleted',
        'xstate.done.actor.*': { actions: 'endFire' },
        'xstate.error.actor.*': { actions: 'endFire' },
      },
    },
    /** Its name may be used again; instants that it fired stay fired. */
    deleted: {
      entry: ['publishDeleted', cancel('due')],
      on: {
        'job.revive': { target: 'scheduled', actions: 'rewrite' },
        'xstate.done.actor.*': { actions: 'endFire' },
        'xstate.error.actor.*': { actions: 'endFire' },
      },
    },
  },
});

export function schedulePolicy(
  context: ScheduleContext,
  event: ScheduleEvent,
  { by, onBehalfOf }: Authority,
): Refusal | undefined {
  switch (event.type) {
    case 'job.edit':
    case 'job.delete':
      if (!isTrusted(onBehalfOf))
        return refuse('FORBIDDEN', {}, 'Only people may change schedules; agents may read them.');
      if (context.managedBy !== null && isPerson(onBehalfOf))
        return refuse(
          'CONFLICT',
          { workflowId: context.workflowId },
          `This job follows the workflow "${context.workflowId}"; change that instead.`,
        );
      return event.type === 'job.edit' ? fitJob(edited(context, event)) : undefined;
    case 'job.revive':
      return isTrusted(onBehalfOf)
        ? fitJob({ ...event.job, zone: event.zone })
        : refuse('FORBIDDEN', {}, 'Only people may change schedules; agents may read them.');
    case 'job.trigger':
      if (!isTrusted(onBehalfOf)) return refuse('FORBIDDEN', {}, 'Only people may run a job manually.');
      return context.active.length < limits.activeMax
        ? undefined
        : refuse(
            'QUEUE_FULL',
            { activeMax: limits.activeMax },
            `${limits.activeMax} earlier runs of this job have not ended yet.`,
          );
    case 'job.due':
      return by.type === 'system'
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the job itself sends this.');
    default:
      return fromKernel(event)
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/** What is wrong with a job as people wrote it. */
export function fitJob(
  job: Pick<ScheduleInput, 'name' | 'prompt' | 'schedule' | 'zone'>,
): Refusal | undefined {
  if (typeof job.prompt !== 'string' || job.prompt.trim() === '')
    return refuse('BAD_REQUEST', { path: 'prompt' }, 'prompt is required');
  if (jsonBytes(job.prompt) > limits.promptBytesMax)
    return refuse('PAYLOAD_TOO_LARGE', { path: 'prompt', bytesMax: limits.promptBytesMax });
  if (typeof job.name !== 'string' || job.name.length > limits.nameCharsMax)
    return refuse('BAD_REQUEST', { path: 'name' }, `name has at most ${limits.nameCharsMax} characters`);
  const fault = scheduleFault(job.schedule, job.zone);
  return fault === undefined ? undefined : refuse('BAD_REQUEST', { path: fault.path }, fault.message);
}

function firstContext({
  id,
  at,
  by = operator,
  zone,
  managedBy,
  workflowId,
  name,
  enabled,
  schedule,
  timezone,
  engine,
  model,
  effortLevel,
  employee,
  prompt,
  delivery,
  missed,
}: ScheduleInput): ScheduleContext {
  return {
    id,
    name,
    enabled,
    schedule,
    timezone,
    engine,
    model,
    effortLevel,
    employee,
    prompt,
    delivery,
    missed,
    managedBy,
    workflowId,
    zone,
    createdAt: at,
    updatedAt: at,
    writtenBy: callerName(by),
    nextAt: null,
    doneUntil: at,
    ran: [],
    setBacks: 0,
    knownUntil: 0,
    fires: 0,
    missedFires: 0,
    active: [],
    lastRun: null,
  };
}

/** Two people may press the button in the same millisecond, and full minutes belong to the schedule. */
function freeInstant(context: ScheduleContext, at: number): number {
  return at % 60_000 === 0 || context.active.includes(fire(context, at, 'trigger', null).id)
    ? freeInstant(context, at + 1)
    : at;
}

/** The part of XState's `enqueue` that the helpers need. */
interface Enqueue {
  assign(set: Partial<ScheduleContext>): void;
  cancel(id: string): void;
  raise(event: ScheduleEvent, options: { readonly id: string; readonly delay: number }): void;
  spawnChild(
    src: 'fire',
    options: { readonly id: string; readonly systemId: string; readonly input: FireInput },
  ): void;
}

function alarm(enqueue: unknown, nextAt: number | null, at: number): void {
  const { cancel, raise } = enqueue as Enqueue; // XState's own type of it is tied to one machine
  if (nextAt === null) cancel('due');
  // The kernel stamps it when it fires
  else raise({ type: 'job.due' } as ScheduleEvent, { id: 'due', delay: Math.max(0, nextAt - at) });
}

function start(enqueue: unknown, context: ScheduleContext, fires: Plan['fires'], at: number): void {
  const { spawnChild, assign } = enqueue as Enqueue;
  for (const one of fires) spawnChild('fire', { id: one.id, systemId: one.id, input: { ...one, at } });
  const running = fires.filter(({ missed }) => missed === null).map(({ id }) => id);
  assign({ fires: context.fires + running.length, active: [...context.active, ...running] });
}
