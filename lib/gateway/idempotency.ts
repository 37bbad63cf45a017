import { createHash } from 'node:crypto';
import type { Idempotency } from '../supervisor/contract.js';
import { callerName, type Caller } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/**
 * The idempotency key of a request: header `Idempotency-Key` and body member `idempotencyKey` are one namespace per
 * caller. The kernel stores key and hash in the deed's own commit; here only the hash of route and body is made.
 */
export function idempotencyOf(options: { header: string | undefined; body: unknown; by: Caller; route: string }): Idempotency | Refusal | undefined {
  const { header } = options;
  const member = (options.body as { idempotencyKey?: unknown } | null)?.idempotencyKey;
  if (header === undefined && member === undefined) return undefined;
  if (member !== undefined && typeof member !== 'string') return refuse('BAD_REQUEST', { path: 'idempotencyKey' }, 'idempotencyKey: must be a string');
  if (header !== undefined && member !== undefined && header !== member) return refuse('IDEMPOTENCY_KEYS_DIFFER');
  const key = header ?? member ?? '';
  if (key.trim() === '' || key.length > keyCharsMax) {
    return refuse('BAD_REQUEST', { path: 'idempotencyKey' }, `idempotencyKey: must have 1 to ${keyCharsMax} characters and not be blank`);
  }
  const hash = createHash('sha256').update(options.route).update('\n').update(canonical(options.body)).digest('hex');
  return { key, scope: callerName(options.by), hash };
}

const keyCharsMax = 256;

/** Members in order of their names, without the key itself: the same wish is the same text however it was written. */
function canonical(value: unknown, top = true): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, false)).join(',')}]`;
  const members = Object.entries(value).filter(([name]) => !(top && name === 'idempotencyKey')).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inside]) => `${JSON.stringify(name)}:${canonical(inside, false)}`).join(',')}}`;
}
