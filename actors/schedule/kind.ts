import { isoTime, isoTimeOrNull } from '../../machines/sortable.js';
import { jobPlace } from '../../machines/schedule/context.js';
import { fitJob, scheduleMachine, schedulePolicy } from '../../machines/schedule/machine.js';
import { refuse } from '../../machines/refusals.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';

/** Cron jobs as a kind. Each fire is a durable child of the kind `cron-fire`. */
export function scheduleKind() {
  return defineKind({
    kind: 'schedule',
    version: 2,
    /** Its chart says when, and no longer who; states and context are the same. */
    migrate: { 1: (old) => old },
    machine: scheduleMachine,
    childKinds: { fire: 'cron-fire' },
    policy: (snapshot, event, authority) => schedulePolicy(snapshot.context, event, authority),
    notInState: ({ value, context: { id } }) =>
      value === 'deleted' ? refuse('NOT_FOUND', { kind: 'cron job', id }, 'Not found') : undefined,
    validateInput: (input) => fitJob(input),
    view: ({ context }) => {
      const {
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
        nextAt,
        fires,
        missedFires,
        active,
        lastRun,
      } = context;
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
        nextRunAt: isoTimeOrNull(nextAt),
        fires,
        missedFires,
        running: active.length,
        lastRun,
        createdAt: isoTime(context.createdAt),
        updatedAt: isoTime(context.updatedAt),
      };
    },
    index: (snapshot) =>
      snapshot.value === 'scheduled' ? [{ index: 'all', key: jobPlace(snapshot.context.id) }] : [],
    redacted: ['prompt'],
    keptInBundles: (
      'id name schedule timezone zone engine model effortLevel employee missed managedBy ' +
      'workflowId writtenBy active sessionKey status connector channel'
    ).split(' '),
    startsWork: ['job.trigger'],
    validateContext: checkShape({
      id: 'string',
      name: 'string',
      enabled: 'boolean',
      schedule: 'string',
      zone: 'string',
      doneUntil: 'number',
      active: 'array',
    }),
  });
}
