import { isoTime, isoTimeOrNull } from '../../machines/iso-time.js';
import { jobPlace, type ScheduleInput } from '../../machines/schedule/context.js';
import { fitJob, scheduleMachine, schedulePolicy } from '../../machines/schedule/machine.js';
import { checkShape } from '../../machines/shape.js';
import type { Kind } from '../contracts.js';

/** Cron jobs as a kind. Each fire is a durable child of the kind `cron-fire`. */
export function scheduleKind(): Kind<typeof scheduleMachine> {
  return {
    kind: 'schedule',
    version: 1,
    machine: scheduleMachine,
    childKinds: { fire: 'cron-fire' },
    policy: (snapshot, event) => schedulePolicy(snapshot.context, event),
    admit: (input) => fitJob(input as unknown as ScheduleInput), // the door has parsed it
    view: ({ context }) => {
      const { id, name, enabled, schedule, timezone, engine, model, effortLevel, employee, prompt, delivery, missed, managedBy, workflowId, nextAt, fires, missedFires, active, lastRun } = context;
      return {
        id, name, enabled, schedule, timezone, engine, model, effortLevel, employee, prompt, delivery, missed, managedBy, workflowId,
        nextRunAt: isoTimeOrNull(nextAt), fires, missedFires, running: active.length, lastRun, createdAt: isoTime(context.createdAt), updatedAt: isoTime(context.updatedAt),
      };
    },
    index: (snapshot) => (snapshot.value === 'scheduled' ? [{ index: 'all', key: jobPlace(snapshot.context.id) }] : []),
    contents: ['prompt'],
    newWork: ['job.trigger'],
    check: checkShape({ id: 'string', name: 'string', enabled: 'boolean', schedule: 'string', zone: 'string', doneUntil: 'number', active: 'array' }),
  };
}
