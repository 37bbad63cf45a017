import type { App, GatewayActor } from './app.js';
import type { WorkItemView } from '../../machines/work-item/view.js';
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
  if (kind === 'session') {
    const session = await app.supervisor.get('session', id);
    return session && session.view.status !== 'deleted' ? relationToSession(agent, session) : 'absent';
  }
  if (kind === 'work-item') {
    const item = await app.supervisor.get('work-item', id);
    if (item === undefined) return 'absent';
    return reviewsItem(agent, item.view) ? 'self' : relationToItem(app, agent, item.view);
  }
  const target = await app.supervisor.get(kind, id);
  return target && target.value !== 'deleted' ? 'outsider' : 'absent';
}

/**
 * It reviews the item now: it reads it, and what else it may the item's own policy says. It cannot give away
 * what is not its own.
 */
export const reviewsItem = (agent: Agent, { review }: Pick<WorkItemView, 'review'>): boolean =>
  review?.sessionId === agent.id;

export function relationToSession(agent: Agent, target: GatewayActor<'session'>): Relation {
  if (target.id === agent.id) return 'self';
  if (ancestorsOf(target).includes(agent.id)) return 'above';
  return agent.ancestors.includes(target.id) ? 'below' : 'outsider';
}

/**
 * Its own: created, assigned, or attempted by it or by a session that it works for. Above: the manager of the
 * assignee.
 */
export function relationToItem(
  app: App,
  agent: Agent,
  { assignee, createdBy, attempts }: Pick<WorkItemView, 'assignee' | 'createdBy' | 'attempts'>,
): Relation {
  if (createdBy === `session:${agent.id}`) return 'self';
  if (attempts.some(({ sessionId }) => sessionId === agent.id || agent.ancestors.includes(sessionId)))
    return 'self';
  if (agent.employee === null || assignee === null) return 'outsider';
  if (assignee === agent.employee) return 'self';
  return manages(app, agent.employee, assignee) ? 'above' : 'outsider';
}

export const ancestorsOf = ({ view }: GatewayActor<'session'>): readonly string[] => view.ancestors;

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
