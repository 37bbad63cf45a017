import { refuse, type Refusal } from '../../machines/refusals.js';
import { isPlain } from './codec.js';
import type { EventObject } from './contract.js';

/** Names that only the kernel and XState may use: the end of an effect, a stop, a resumption are never anybody's request. */
export function reserved(event: EventObject): Refusal | undefined {
  if (typeof event.type === 'string' && event.type !== '' && !/^(xstate|kernel)\.|^\*$/.test(event.type)) {
    return isPlain(event, true) ? undefined : refuse('BAD_REQUEST', { event: event.type }, 'An event must be plain JSON: null, booleans, finite numbers, strings, arrays and objects.');
  }
  return refuse('BAD_REQUEST', { event: String(event.type) }, 'An event needs a type that does not begin with "xstate." or "kernel.".');
}
