import { limits } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { App, GatewayActor } from '../app.js';

/** The run and those that it is a step of, nearest first. */
export async function runsAbove({ supervisor }: App, runId: string): Promise<readonly RunView[]> {
  const above: RunView[] = [];
  for (let id: string | undefined = runId; id !== undefined && above.length <= limits.depthMax;) {
    const run: GatewayActor<'workflow-run'> | undefined = await supervisor.get('workflow-run', id);
    if (run === undefined) break;
    above.push(run.view);
    id = run.view.parent?.runId;
  }
  return above;
}
