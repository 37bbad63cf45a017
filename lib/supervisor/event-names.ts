import { refuse, type Refusal } from '../../machines/refusals.js';
import { isPlain } from './codec.js';
import type { EventObject } from './contract.js';

/** Records are composed by hand around an id, and keys and addresses hold it. */
export function invalidId(id: string): Refusal | undefined {
  return /^[A-Za-z0-9._:-]{1,200}$/.test(id)
    ? undefined
    : refuse('BAD_REQUEST', { id }, `Invalid id "${id}": 1 to 200 of A–Z a–z 0–9 . _ : - are allowed.`);
}

/**
 * Names that only the kernel and XState may use: the end of an effect, a stop, a resumption are never
 * anybody's request.
 */
export function reserved(event: EventObject): Refusal | undefined {
  if (typeof event.type === 'string' && event.type !== '' && !/^(xstate|kernel)\.|^\*$/.test(event.type)) {
    return isPlain(event, true)
      ? undefined
      : refuse(
          'BAD_REQUEST',
          { event: event.type },
          'An event must be plain JSON: null, booleans, finite numbers, strings, arrays and objects.',
        );
  }
  return refuse(
    'BAD_REQUEST',
    { event: String(event.type) },
    'Invalid event type: it must not be empty or begin with "xstate." or "kernel.".',
  );
}
