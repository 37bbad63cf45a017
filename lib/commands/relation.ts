import { recordOf, type App } from './app.js';
import type { ActorView } from '../supervisor/contract.js';
import type { Caller } from '../../machines/caller.js';

/**
 * What an agent is to a thing: the question behind every authority decision about agents.
 * `self`: the session itself, or a work item that it created, is assigned or attempts. `above`: a session
 * above it in the tree, or the manager of the item's assignee. `below`: a session beneath the target.
 * `outsider`: anything else.
 */
export type Relation = 'self' | 'above' | 'below' | 'outsider';

export type Agent = Extract<Caller, { type: 'session' }>;

/** The relation of an agent to an actor, or `absent`. One read. */
export async function relationTo(
  app: App,
  agent: Agent,
  kind: string,
  id: string,
): Promise<Relation | 'absent'> {
  const target = await app.supervisor.get(kind, id);
  if (!target || recordOf(target)['status'] === 'deleted') return 'absent';
  if (kind === 'session') return relationToSession(agent, target);
  if (kind !== 'work-item') return 'outsider';
  return reviewsItem(agent, recordOf(target)) ? 'self' : relationToItem(app, agent, recordOf(target));
}

/**
 * It reviews the item now: it reads it, and what else it may the item's own policy says. It cannot give away
 * what is not its own.
 */
export const reviewsItem = (agent: Agent, { review }: Readonly<Record<string, unknown>>): boolean =>
  (review as { readonly sessionId: string | null } | null)?.sessionId === agent.id;

export function relationToSession(agent: Agent, target: ActorView): Relation {
  if (target.id === agent.id) return 'self';
  if (ancestorsOf(target).includes(agent.id)) return 'above';
  return agent.ancestors.includes(target.id) ? 'below' : 'outsider';
}

/**
 * Its own: created, assigned, or attempted by it or by a session that it works for. Above: the manager of the
 * assignee.
 */
export function relationToItem(app: App, agent: Agent, item: Readonly<Record<string, unknown>>): Relation {
  const { assignee, createdBy } = item;
  if (createdBy === `session:${agent.id}`) return 'self';
  const attempts = (item['attempts'] ?? []) as readonly { readonly sessionId: string }[];
  if (attempts.some(({ sessionId }) => sessionId === agent.id || agent.ancestors.includes(sessionId)))
    return 'self';
  if (agent.employee === null || typeof assignee !== 'string') return 'outsider';
  if (assignee === agent.employee) return 'self';
  return manages(app, agent.employee, assignee) ? 'above' : 'outsider';
}

export const ancestorsOf = (session: ActorView): readonly string[] => {
  const ancestors = recordOf(session)['ancestors'];
  return Array.isArray(ancestors) ? (ancestors as readonly string[]) : [];
};

/**
 * True when `manager` stands somewhere above `employee` in the roster. Bounded: a roster may hold a circle.
 */
export function manages(app: App, manager: string, employee: string): boolean {
  const people = new Map((app.roster?.()?.employees ?? []).map((person) => [person.name, person]));
  let above = people.get(employee)?.reportsTo;
  for (let steps = 0; above && steps < 64; steps++) {
    if (above === manager) return true;
    above = people.get(above)?.reportsTo;
  }
  return false;
}
