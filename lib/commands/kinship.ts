import { recordOf, type Desk } from './desk.js';
import type { ActorView } from '../supervisor/contract.js';
import type { Caller } from '../../machines/caller.js';

/**
 * What an agent is to a thing: the question behind every authority decision about agents.
 * `self`: the session itself, or a work item that it created, is assigned or attempts. `above`: a session above it in
 * the tree, or the manager of the item's assignee. `below`: a session beneath the target. `stranger`: anything else.
 */
export type Kinship = 'self' | 'above' | 'below' | 'stranger';

export type Agent = Extract<Caller, { type: 'session' }>;

/** The kinship of an agent to an actor, or `absent`. One read. */
export async function kinship(desk: Desk, agent: Agent, kind: string, id: string): Promise<Kinship | 'absent'> {
  const target = await desk.supervisor.get(kind, id);
  if (!target || recordOf(target)['status'] === 'deleted') return 'absent';
  if (kind === 'session') return sessionKinship(agent, target);
  if (kind !== 'work-item') return 'stranger';
  return reviewsItem(agent, recordOf(target)) ? 'self' : itemKinship(desk, agent, recordOf(target));
}

/** It reviews the item now: it reads it, and what else it may the item's own policy says. It cannot give away what is not its own. */
export const reviewsItem = (agent: Agent, { review }: Readonly<Record<string, unknown>>): boolean => (review as { readonly sessionId: string | null } | null)?.sessionId === agent.id;

export function sessionKinship(agent: Agent, target: ActorView): Kinship {
  if (target.id === agent.id) return 'self';
  if (ancestorsOf(target).includes(agent.id)) return 'above';
  return agent.ancestors.includes(target.id) ? 'below' : 'stranger';
}

/** Its own: created, assigned, or attempted by it or by a session that it works for. Above: the manager of the assignee. */
export function itemKinship(desk: Desk, agent: Agent, item: Readonly<Record<string, unknown>>): Kinship {
  const { assignee, createdBy } = item;
  if (createdBy === `session:${agent.id}`) return 'self';
  const attempts = (item['attempts'] ?? []) as readonly { readonly sessionId: string }[];
  if (attempts.some(({ sessionId }) => sessionId === agent.id || agent.ancestors.includes(sessionId))) return 'self';
  if (agent.employee === null || typeof assignee !== 'string') return 'stranger';
  if (assignee === agent.employee) return 'self';
  return manages(desk, agent.employee, assignee) ? 'above' : 'stranger';
}

export const ancestorsOf = (session: ActorView): readonly string[] => {
  const ancestors = recordOf(session)['ancestors'];
  return Array.isArray(ancestors) ? (ancestors as readonly string[]) : [];
};

/** True when `manager` stands somewhere above `employee` in the roster. Bounded: a roster may hold a circle. */
export function manages(desk: Desk, manager: string, employee: string): boolean {
  const people = new Map((desk.roster?.()?.employees ?? []).map((person) => [person.name, person]));
  let above = people.get(employee)?.reportsTo;
  for (let steps = 0; above && steps < 64; steps++) {
    if (above === manager) return true;
    above = people.get(above)?.reportsTo;
  }
  return false;
}
