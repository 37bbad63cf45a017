import { fireMachine, firePolicy, runLine } from '../../machines/cron-fire/machine.js';
import { isoTime } from '../../machines/iso-time.js';
import { checkShape } from '../../machines/shape.js';
import { sortable, sortableText } from '../../machines/sortable.js';
import type { KeyedHand, Kind } from '../contracts.js';

/** Runs of cron jobs as a kind: `cronFireKind({launch, record})`, both keyed by the run's name. */
export function cronFireKind(hands: { readonly launch: KeyedHand; readonly record: KeyedHand }): Kind<typeof fireMachine> {
  return {
    kind: 'cron-fire',
    version: 1,
    machine: fireMachine,
    hands: { launch: hands.launch, record: hands.record },
    policy: (_snapshot, event) => firePolicy(event),
    view: ({ context }) => ({ id: context.id, jobId: context.jobId, dueAt: isoTime(context.dueAt), ...runLine(context) }),
    index: ({ context }) => [{ index: 'job', key: `${sortableText(context.jobId)}/${sortable(context.startedAt, { descending: true })}` }],
    contents: ['prompt', 'text', 'resultPreview'],
    check: checkShape({ id: 'string', jobId: 'string', dueAt: 'number', job: 'object', status: 'string' }),
    supervision: { strategy: 'one_for_one', restart: 'transient' },
  };
}
