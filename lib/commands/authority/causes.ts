import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import type { Caller, Causes } from '../../../machines/caller.js';
import { ancestorsOf, type Agent } from '../relation.js';
import type { App, GatewayActor } from '../app.js';
import type { RequestedBy } from '../request.js';

/**
 * Work that one caller starts and another carries out is judged as the one who caused it: the run of a workflow, the
 * fire of a job, a review, a child. `caller` carries it out; `onBehalfOf` caused it, and is the caller itself
 * where no one else stands behind it. Several causes: each of them must be allowed what is done.
 */
export const causesOf = ({ caller, onBehalfOf }: Pick<RequestedBy, 'caller' | 'onBehalfOf'>): Causes =>
  onBehalfOf ?? [caller];

/** The first refusal of any of them: what one may not do, is not done. */
export async function judgeAll(
  causes: Causes,
  judge: (cause: Caller) => Promise<Refusal | undefined> | Refusal | undefined,
): Promise<Refusal | undefined> {
  for (const cause of causes) {
    const refusal = await judge(cause);
    if (isRefusal(refusal)) return refusal;
  }
  return undefined;
}

/** The agent of a session, with the rights that the session was opened with. */
export function agentOf(session: GatewayActor<'session'>): Agent {
  const { employee, actsAs } = session.view;
  const rights = actsAs === undefined ? employee : actsAs;
  return {
    type: 'session',
    id: session.id,
    employee: typeof rights === 'string' ? rights : null,
    ancestors: ancestorsOf(session),
  };
}

/**
 * The caller that a record names (`operator`, `device:<id>`, `session:<id>`); undefined where it names none, or a
 * session that is gone.
 */
export async function callerNamed({ supervisor }: App, name: string): Promise<Caller | undefined> {
  if (name === 'operator') return { type: 'operator' };
  const [, type, id = ''] = /^(device|session):(.+)$/.exec(name) ?? [];
  if (type === 'device') return { type: 'device', id };
  const session = type === 'session' ? await supervisor.get('session', id) : undefined;
  return session && agentOf(session);
}
