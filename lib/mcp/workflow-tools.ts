import { tool, type Tool } from './tool.js';

/** Tools for workflows, their runs and what starts them: one line per tool. */
export const workflowTools: readonly Tool[] = [
  tool('list_workflows', 'GET /api/workflow-definitions', '', 'The workflows.'),
  tool('get_workflow', 'GET /api/workflow-definitions/:id', 'workflowId:id!', "A workflow's definition."),
  tool(
    'list_workflow_runs',
    'GET /api/workflow-definitions/:id/runs',
    'workflowId:id! limit',
    'The runs of a workflow.',
  ),
  tool(
    'get_workflow_run',
    'GET /api/workflow-definitions/:id/runs/:runId',
    'workflowId:id! runId!',
    'A run with its receipts.',
  ),
  tool(
    'plan_workflow',
    'POST /api/workflow-definitions/plan',
    'definition sop workflowId patch',
    'Validate a definition and show how it would run. Saves nothing.',
  ),
  tool(
    'validate_workflow',
    'POST /api/workflow-definitions/plan',
    'definition sop',
    'All errors of a definition; an empty list means that it is valid.',
    validationOf,
  ),
  tool(
    'create_workflow',
    'POST /api/workflow-definitions/mutate',
    'operation=create. definition sop',
    'Save a new workflow, written as a definition or as a procedure.',
  ),
  tool(
    'update_workflow',
    'POST /api/workflow-definitions/mutate',
    'operation=update. workflowId! patch! expectedVersion',
    'Update a workflow; needs the version that you have read.',
  ),
  tool(
    'retire_workflow',
    'POST /api/workflow-definitions/:id/retire',
    'workflowId:id!',
    'Retire a workflow: it can no longer be started.',
  ),
  tool(
    'start_workflow_run',
    'POST /api/workflow-definitions/:id/run',
    'workflowId:id! input stepOverrides idempotencyKey reportMode',
    'Start a run. You are notified when it parks and ends, unless reportMode is silent.',
  ),
  tool(
    'run_workflow_by_name',
    'POST /api/workflow-runs/by-name',
    'name! input stepOverrides idempotencyKey reportMode',
    'Start a run of the workflow with that name.',
  ),
  tool(
    'cancel_workflow_run',
    'POST /api/workflow-definitions/:id/runs/:runId/cancel',
    'workflowId:id! runId! reason',
    'Cancel a run.',
  ),
  tool(
    'edit_workflow_run_step_prompt',
    'PATCH /api/workflow-definitions/:id/runs/:runId/pending-steps/:nodeId',
    'workflowId:id! runId! nodeId! prompt!',
    'Change the prompt of a step that has not begun.',
  ),
  tool(
    'resolve_workflow_gate',
    'POST /api/workflow-definitions/:id/runs/:runId/resolve-gate',
    'workflowId:id! runId! decision! note',
    'Approve or reject a parked run, if it is routed to you.',
  ),
  tool(
    'escalate_workflow_gate',
    'POST /api/workflow-definitions/:id/runs/:runId/gate-approval/escalate',
    'workflowId:id! runId! reason',
    'Open a parked gate to the operator and the executives.',
  ),
  tool(
    'rerun_workflow_from_step',
    'POST /api/workflow-definitions/:id/runs/:runId/rerun',
    'workflowId:id! runId! nodeId! input idempotencyKey',
    'Rerun from a step on.',
  ),
  tool(
    'submit_workflow_step_output',
    'POST /api/workflow-definitions/:id/runs/:runId/steps/:nodeId/output',
    'workflowId:id! runId! nodeId! fields summary notes artifacts',
    'Submit the output of the workflow step that your session runs; this ends the step.',
  ),
  tool('list_triggers', 'GET /api/workflow-triggers', '', 'The bindings of external events to workflows.'),
  tool(
    'create_trigger',
    'POST /api/workflow-triggers',
    'kind=webhook name! event! targetWorkflowId! filter signature command intervalSeconds ' +
      'timeoutMs stdoutMaxBytes stderrMaxBytes idempotencyKey',
    'Bind an external event to a workflow. The secret of a webhook is only in this answer. Only ' +
      'people may create polls.',
  ),
  tool(
    'decide_poll_activation',
    'POST /api/workflow-triggers/:name/activation-approval',
    'name! decision! note',
    'Approve or reject the program of a poll.',
  ),
  tool(
    'escalate_poll_activation',
    'POST /api/workflow-triggers/:name/activation-approval/escalate',
    'name! reason',
    'Mark the waiting approval of a poll as urgent.',
  ),
  tool('delete_trigger', 'DELETE /api/workflow-triggers/:name', 'name!', 'Delete a binding.'),
];

/** The faults alone. */
function validationOf(body: unknown): unknown {
  const { validation, liveness, warnings } = body as Record<string, unknown>;
  return { validation, liveness, warnings };
}
