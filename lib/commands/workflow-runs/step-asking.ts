import { system } from '../../../machines/caller.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import type { Asking } from '../desk.js';

/** How a step asks: in the name of its run, and under the key of its attempt. */
export const askingOf = (runId: string, key: string): Asking => ({ by: system(`workflow-run:${runId}`), idempotency: { scope: 'workflow-step', key, hash: key } });

/** A refusal fails the attempt with its sentence. */
export function expected<Value>(answer: Value | Refusal): Value {
  if (isRefusal(answer)) throw Object.assign(new Error(answer.message), { code: answer.code });
  return answer;
}
