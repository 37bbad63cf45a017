import type { NewDevice } from '../../machines/pairing-code/machine.js';
import type { KeyedHand } from '../contracts.js';

/** The hand that writes a paired browser down. `keep` must be idempotent in the device's id and resolve only when it is on disk. */
export function deviceHand({ keep }: { readonly keep: (device: NewDevice) => Promise<void> }): KeyedHand<NewDevice, null> {
  return {
    fence: false,
    async run(device) {
      await keep(device);
      return null;
    },
  };
}
