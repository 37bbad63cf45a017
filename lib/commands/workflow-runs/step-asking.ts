import { system } from '../../../machines/caller.js';
import type { Asking } from '../desk.js';

/** How a step asks: in the name of its run, and under the key of its attempt. */
export const askingOf = (runId: string, key: string): Asking => ({ by: system(`workflow-run:${runId}`), idempotency: { scope: 'workflow-step', key, hash: key } });
