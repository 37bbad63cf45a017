import type { NewDevice } from '../../machines/pairing-code/machine.js';
import type { AtLeastOnceEffect } from '../contracts.js';

/**
 * The hand that writes a paired browser down. `keep` must be idempotent in the device's id and resolve only
 * when it is on disk.
 */
export function deviceEffect({
  keep,
}: {
  readonly keep: (device: NewDevice) => Promise<void>;
}): AtLeastOnceEffect<NewDevice, null> {
  return {
    guarantee: 'at-least-once',
    async run(device) {
      await keep(device);
      return null;
    },
  };
}
