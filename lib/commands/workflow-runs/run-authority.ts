import type { Caller } from '../../../machines/caller.js';
import { isSessionActor, type WorkflowDefinition } from '../../../machines/graph/definition.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { departmentManagers } from '../../../actors/workflow/kind.js';
import { rootOf, rosterOf } from '../../../actors/work-item/facts.js';
import type { App } from '../app.js';

/**
 * Who may run a definition: people; of agents its owner, managers of its department, the root, and the
 * employees that it lists.
 */
export function mayRun(app: App, definition: WorkflowDefinition, by: Caller): Refusal | undefined {
  if (by.type !== 'session') return undefined;
  const { employee } = by;
  const { id, owner, department } = definition;
  const listed = employee !== null && stewardsOf(definition).includes(employee);
  if (listed || standsAbove(app, definition, employee)) return undefined;
  return refuse(
    'FORBIDDEN',
    { workflowId: id, owner, department },
    `${employee === null ? 'A session without an employee' : `employee "${employee}"`} ` +
      `cannot run workflow "${id}": its owner, its department's managers, the root and the ` +
      'employees that it lists may.',
  );
}

/** The root, and who manages the department that a definition belongs to. */
export function standsAbove(
  app: App,
  { department }: Pick<WorkflowDefinition, 'department'>,
  employee: string | null,
): boolean {
  const roster = rosterOf(app.roster?.());
  if (roster === undefined || employee === null) return false;
  return (
    rootOf(roster) === employee ||
    (department !== null && departmentManagers(roster, department).includes(employee))
  );
}

/** Its owner, and the employees that it lists: as runners, or for its steps. */
export function stewardsOf({ owner, runners, nodes }: WorkflowDefinition): readonly string[] {
  const actors = nodes.flatMap((node) =>
    node.type === 'step' && isSessionActor(node.actor) && node.actor.kind === 'employee'
      ? [node.actor.ref]
      : [],
  );
  return [...new Set([...(owner === null ? [] : [owner]), ...runners, ...actors])];
}

/** Who may write other words into a run that it starts: people, the definition's owner, who stands above it. */
export function mayRewrite(app: App, definition: WorkflowDefinition, by: Caller): Refusal | undefined {
  if (by.type !== 'session') return undefined;
  const { id, owner } = definition;
  if ((owner !== null && owner === by.employee) || standsAbove(app, definition, by.employee))
    return undefined;
  return refuse(
    'FORBIDDEN',
    { workflowId: id, owner },
    `Only a person, the owner of workflow "${id}" or a manager above may change its prompts, or rerun it ` +
      'with another input.',
  );
}
