import { callerName, type Caller, type Causes } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { Audit } from '../../records/audit/audit.js';
import type { Supervisor } from '../../supervisor/contract.js';

/**
 * The supervisor as commands reach it, with a line in the audit log for all that one does on behalf of another: a
 * step of a run, a cron job, a binding, a review, a message that a connector brought. The router writes what
 * callers do themselves; of this it would not know, and the caller alone (`workflow-run:<id>`) does not say who caused
 * it. Rehearsals are not noted.
 * @example const app = { ...parts, supervisor: audited(supervisor, records.audit) }
 */
export function audited(supervisor: Supervisor, audit: Pick<Audit, 'decided'>): Supervisor {
  const before = wrapped.get(supervisor);
  if (before !== undefined) return before;
  const { ask, spawn, transact } = supervisor;

  /** `what`: the event, or the name of the transaction. */
  async function noted<Answer>(
    answer: Promise<Answer>,
    { by, onBehalfOf, dryRun }: Origin,
    what: string,
    target: string | undefined,
  ): Promise<Answer> {
    if (by === undefined || onBehalfOf === undefined || dryRun === true) return answer;
    const came = await answer;
    audit.decided({
      by: callerName(by),
      onBehalfOf: onBehalfOf.map(callerName),
      address: undefined,
      authority: what,
      method: 'WORK',
      target,
      ...(isRefusal(came)
        ? {
            verdict: came.status === 401 || came.status === 403 ? 'refused' : 'allowed',
            code: came.code,
          }
        : { verdict: 'allowed' }),
    });
    return came;
  }

  // one for each, since what takes turns does so by this object
  const one: Supervisor = Object.assign(Object.create(supervisor) as Supervisor, {
    ask: ((kind, id, event, options = {}) =>
      noted(ask(kind, id, event, options), options, event.type, id)) as Supervisor['ask'],
    spawn: ((kind, options) =>
      noted(spawn(kind, options), options, `${kind}.create`, options.id)) as Supervisor['spawn'],
    transact: ((plan) =>
      noted(transact(plan), plan, plan.name, plan.actors[0]?.id)) as Supervisor['transact'],
  });
  wrapped.set(supervisor, one);
  return one;
}

interface Origin {
  readonly by?: Caller;
  readonly onBehalfOf?: Causes;
  readonly dryRun?: boolean;
}

const wrapped = new WeakMap<Supervisor, Supervisor>();
