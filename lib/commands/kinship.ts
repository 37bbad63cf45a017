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
  if (!target) return 'absent';
  if (kind === 'session') return sessionKinship(agent, target);
  if (kind !== 'work-item') return 'stranger';
  return itemKinship(desk, agent, recordOf(target), await attempted(desk, agent));
}

export function sessionKinship(agent: Agent, target: ActorView): Kinship {
  if (target.id === agent.id) return 'self';
  if (ancestorsOf(target).includes(agent.id)) return 'above';
  return agent.ancestors.includes(target.id) ? 'below' : 'stranger';
}

export function itemKinship(desk: Desk, agent: Agent, record: Readonly<Record<string, unknown>>, attemptedId: string | null): Kinship {
  if (record['id'] === attemptedId || madeBy(record['sourceRef'], agent.id)) return 'self';
  if (agent.employee === null) return 'stranger';
  const assignee = record['assignee'];
  if (assignee === agent.employee) return 'self';
  return typeof assignee === 'string' && manages(desk, agent.employee, assignee) ? 'above' : 'stranger';
}

/** The work item that the agent's own session is an attempt at. */
export async function attempted(desk: Desk, agent: Agent): Promise<string | null> {
  const session = await desk.supervisor.get('session', agent.id);
  const workItemId = session && recordOf(session)['workItemId'];
  return typeof workItemId === 'string' ? workItemId : null;
}

export const ancestorsOf = (session: ActorView): readonly string[] => {
  const ancestors = recordOf(session)['ancestors'];
  return Array.isArray(ancestors) ? (ancestors as readonly string[]) : [];
};

/** `sourceRef` of what an agent mints begins with how and by which session. */
const madeBy = (sourceRef: unknown, sessionId: string): boolean =>
  typeof sourceRef === 'string' && (sourceRef.startsWith(`session:${sessionId}:`) || sourceRef.startsWith(`delegate:${sessionId}:`));

/** True when `manager` stands somewhere above `employee` in the roster. Bounded: a roster may hold a circle. */
export function manages(desk: Desk, manager: string, employee: string): boolean {
  const people = desk.roster?.()?.employees ?? [];
  let above = people.find((person) => person.name === employee)?.parentName;
  for (let steps = 0; above && steps < 64; steps++) {
    if (above === manager) return true;
    const next: string = above;
    above = people.find((person) => person.name === next)?.parentName;
  }
  return false;
}
