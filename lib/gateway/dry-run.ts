import { failureBody } from './failures.js';
import type { Reply } from './route.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * `?dryRun=true`: the same plan, not committed. A rehearsal answers 200 whether the deed would be allowed or not; only
 * what never reaches a plan (no credential, malformed input) is an error as always.
 */
export function wantsRehearsal(query: Readonly<Record<string, string>>, rehearsable: boolean): boolean | Refusal {
  // Unknown parameters are passed over; to do for good what was asked as a rehearsal is too much of that.
  const misspelt = Object.keys(query).find((name) => name !== 'dryRun' && /^dry[-_]?run$/i.test(name));
  if (misspelt !== undefined) return refuse('BAD_REQUEST', { path: misspelt }, `${misspelt} is written dryRun here; nothing was done.`);
  const { dryRun } = query;
  if (dryRun === undefined || dryRun === 'false') return false;
  if (dryRun !== 'true') return refuse('BAD_REQUEST', { path: 'dryRun' }, 'dryRun: must be true or false');
  return rehearsable ? true : refuse('DRY_RUN_UNSUPPORTED');
}

/** `{allowed, refusal?: {error, code, httpStatus, …}, steps: [{kind, id, from, to, effects[]}]}` */
export function rehearsed(outcome: Reply | Refusal): Reply {
  if (isRefusal(outcome)) return { status: 200, body: { allowed: false, refusal: { ...failureBody(outcome), httpStatus: outcome.status }, steps: [] } };
  return { status: 200, body: { allowed: true, steps: outcome.steps ?? [] } };
}
