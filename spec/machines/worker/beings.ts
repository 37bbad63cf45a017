import type { SnapshotFrom } from 'xstate';
import { authorityOf } from '../../../machines/caller.js';
import {
  workerMachine,
  workerNotInState,
  workerPolicy,
  type WorkerEvent,
} from '../../../machines/worker/machine.js';
import { Life } from '../step.js';

/** Workers of other machines for specs. */
export const codeHash = 'c'.repeat(43);
export const tokenHash = 'a'.repeat(64);
export const made = { id: 'gpu1', codeHash } as const;
export const offer = {
  machine: 'm1',
  slots: 4,
  labels: ['gpu'],
  engines: ['claude'],
  roots: ['/srv'],
  work: '/var/worker/work',
};

export const fresh = () =>
  new Life(
    workerMachine,
    { ...made },
    ({ context }: SnapshotFrom<typeof workerMachine>, event: WorkerEvent) =>
      workerPolicy(context, event, authorityOf(event)),
    undefined,
    workerNotInState,
  );

export const pairing = { type: 'system', part: 'pairing' } as const;
export const join = { type: 'worker.join', codeHash, tokenHash, by: pairing } as const;
export const connect = { type: 'worker.connect', tokenHash, offer, by: pairing } as const;

export function joined() {
  const worker = fresh();
  worker.send(join);
  return worker;
}
