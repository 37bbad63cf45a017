import { rootMachine } from '../../../machines/root/machine.js';
import { Life } from '../step.js';

/** Root systems for specs. */
export const fresh = () => new Life(rootMachine, {});
