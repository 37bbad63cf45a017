import {
  admitWorker,
  workerMachine,
  workerNotInState,
  workerPolicy,
  workerWaiting,
  type WorkerStatus,
} from '../../machines/worker/machine.js';
import { isoTime, isoTimeOrNull } from '../../machines/sortable.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';

/** Workers on other machines as a kind; the id is the worker's name. */
export function workerKind() {
  return defineKind({
    kind: 'worker',
    version: 1,
    machine: workerMachine,
    policy: ({ context }, event, authority) => workerPolicy(context, event, authority),
    notInState: workerNotInState,
    validateInput: (input) => admitWorker(input),
    view: ({ value, context: { id, invitedAt, tokenHash, epoch, connectedAt, offer, missed } }) => ({
      id,
      status: value as WorkerStatus,
      invitedAt: isoTime(invitedAt),
      tokenHash,
      epoch,
      connectedAt: isoTimeOrNull(connectedAt),
      offer,
      missed: missed && { since: isoTime(missed.since), why: missed.why },
    }),
    waitingFor: ({ context }) => workerWaiting(context),
    index: ({ value, context }) => [
      { index: 'all', key: context.id },
      ...(value === 'removed' ? [] : [{ index: 'known', key: context.id }]),
    ],
    operatorEvents: { 'worker.drain': {}, 'worker.resume': {}, 'worker.remove': {} },
    keptInBundles: ['id', 'machine', 'labels', 'engines'],
    validateContext: checkShape({
      id: 'string',
      invitedAt: 'number',
      codeHash: 'string?',
      tokenHash: 'string?',
      epoch: 'number',
      connectedAt: 'number?',
      offer: 'object?',
      missed: 'object?',
    }),
  });
}
