import { fireMachine, firePolicy, runLine } from '../../machines/cron-fire/machine.js';
import { isoTime, sortable, sortableText } from '../../machines/sortable.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';
import type { EffectsOf } from '../inference.js';

/** Runs of cron jobs as a kind: `cronFireKind({launch, record})`, both keyed by the run's name. */
export function cronFireKind(effects: EffectsOf<typeof fireMachine>) {
  return defineKind({
    kind: 'cron-fire',
    version: 2,
    /** Its chart says when, and no longer who; states and context are the same. */
    migrate: { 1: (old) => old },
    machine: fireMachine,
    effects: { launch: effects.launch, record: effects.record },
    policy: (_snapshot, event, authority) => firePolicy(event, authority),
    view: ({ context }) => ({
      id: context.id,
      jobId: context.jobId,
      dueAt: isoTime(context.dueAt),
      ...runLine(context),
    }),
    index: ({ context }) => [
      {
        index: 'job',
        key: `${sortableText(context.jobId)}/${sortable(context.startedAt, { descending: true })}`,
      },
    ],
    redacted: ['prompt', 'text', 'resultPreview'],
    keptInBundles: (
      'id jobId name engine model effortLevel employee missed workflowId workflowRunId ' +
      'writtenBy connector channel why status outcome sessionId workItemId fireId'
    ).split(' '),
    // The file of the job's runs tells of them for longer
    forgetAfterMs: 90 * 24 * 3_600_000,
    validateContext: checkShape({
      id: 'string',
      jobId: 'string',
      dueAt: 'number',
      job: 'object',
      status: 'string',
    }),
    supervision: { strategy: 'one_for_one', restart: 'transient' },
  });
}
