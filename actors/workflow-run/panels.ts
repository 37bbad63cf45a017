import { runView, type RunSnapshot } from '../../machines/workflow-run/view.js';
import type { Panel } from '../panel.js';

/** The steps of a run and who works on them, for its page in the inspector. */
export function runPanels(run: RunSnapshot): readonly Panel[] {
  const { order, steps, workItemId, workflowId } = runView(run, 0);
  const workers = order.flatMap((id) => steps[id]?.worker ?? []);
  return [
    {
      type: 'table',
      title: 'Steps',
      columns: ['step', 'status', 'attempt', 'dollars'],
      rows: order.map((id) => {
        const { status = 'pending', attempt = null, costUsd = null } = steps[id] ?? {};
        return [id, status, attempt, costUsd];
      }),
    },
    {
      type: 'links',
      title: 'Belongs together',
      links: [
        { label: `workflow ${workflowId}`, to: { kind: 'workflow', id: workflowId } },
        ...(workItemId === null
          ? []
          : [{ label: `work item ${workItemId}`, to: { kind: 'work-item', id: workItemId } }]),
        ...workers.map(({ kind, id }) => ({ label: `${kind} ${id}`, to: { kind, id } })),
      ],
    },
  ];
}
