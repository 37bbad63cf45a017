import { isSessionActor, type WorkflowDefinition } from '../../../machines/graph/definition.js';
import { noSteps } from '../../../machines/graph/liveness.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { RunError } from '../../../machines/workflow-run/context.js';
import { employeeNamed, type App } from '../app.js';
import { selectFor } from '../sessions/open-session.js';

/**
 * Why a run of this definition could not be carried out today, all reasons at once: people and engines come
 * and go after a definition was written.
 */
export async function preflight(app: App, definition: WorkflowDefinition): Promise<readonly RunError[]> {
  const errors: RunError[] = [];
  if (!definition.nodes.some(({ type }) => type === 'step')) errors.push({ ...noSteps });
  for (const node of definition.nodes) {
    if (node.type !== 'step' || !isSessionActor(node.actor)) continue;
    const { kind, ref } = node.actor;
    const employee = employeeNamed(app, kind === 'employee' ? ref : null);
    const found = isRefusal(employee)
      ? employee
      : await selectFor(
          app,
          {
            prompt: '',
            engine: kind === 'engine' ? ref : null,
            model: node.options.model,
            effort: node.options.effort,
          },
          employee,
        );
    if (isRefusal(found)) errors.push({ code: found.code, message: found.message, ref: node.id });
  }
  return errors;
}
