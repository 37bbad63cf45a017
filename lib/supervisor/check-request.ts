import type { Json } from '../../machines/outputs.js';
import type { AskOptions, Transaction } from './contract.js';

/**
 * What a compiler would refuse in a request, for hosts without one. A caller that is a name passed for no one whom a
 * policy knows, and a key that is a text made all requests one: what is wrong throws before anything is decided.
 *
 * @throws TypeError that names the member and says what it takes
 */
export function checkOptions({ by, idempotency, until }: AskOptions): void {
  if (by !== undefined && !isTyped(by))
    throw new TypeError("by must be a caller like { type: 'operator' }, not a name");
  if (idempotency !== undefined && !isIdempotency(idempotency))
    throw new TypeError('idempotency must be { key, scope, hash }, each a text');
  if (until !== undefined && typeof until !== 'function')
    throw new TypeError('until must be a function of the view that answers true or false');
}

/** The same of a transaction. @throws TypeError that names the member and says what it takes */
export function checkTransaction(plan: Omit<Transaction<Json>, 'run'> & { readonly run: unknown }): void {
  if (typeof plan.name !== 'string') throw new TypeError('name must say what the transaction does');
  if (!Array.isArray(plan.actors)) throw new TypeError('actors must be a list of { kind, id }');
  if (typeof plan.run !== 'function') throw new TypeError('run must be a function of the transaction');
  checkOptions({
    ...(plan.by === undefined ? {} : { by: plan.by }),
    ...(plan.idempotency === undefined ? {} : { idempotency: plan.idempotency }),
  });
}

const isTyped = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

function isIdempotency(value: unknown): boolean {
  const { key, scope, hash } = Object(value) as Record<string, unknown>;
  return [key, scope, hash].every((part) => typeof part === 'string');
}
