import { tool, type Tool } from './tool.js';

/**
 * Everything that an agent can do here: one line per tool. A tool whose route this gateway does not serve is not
 * offered; neither is one whose route is closed to all agents, to an agent.
 */
export const tools: readonly Tool[] = [
  tool('who_am_i', 'GET /api/sessions/@self', 'messages=0.', 'Your own session: employee, work item, parent session, engine, spend.'),
  tool('list_employees', 'GET /api/org', '', 'Departments, employees and who stands above whom.'),
  tool('get_employee', 'GET /api/org/employees/:name', 'name!', 'One employee with persona, manager and reports.'),
  tool('find_employees', 'GET /api/org', 'department: rank: engine:', 'Employees of a department, a rank or an engine.', employeesLike),

  tool('spawn_session', 'POST /api/sessions', 'prompt! employee engine model effortLevel title cwd idempotencyKey', 'Start a session beneath yours. You are told once when it has finished. For work that should be tracked, use delegate_task.'),
  tool('send_to_session', 'POST /api/sessions/:id/message', 'sessionId:id! message! attachments', 'Send a message to another session. At most 10 in 10 minutes.'),
  tool('read_session', 'GET /api/sessions/:id', 'sessionId:id! last=20', 'A session with its last messages: your own or one beneath it.'),
  tool('list_sessions', 'GET /api/search/sessions', 'employee status limit', 'The sessions beneath yours and your own, last active first.'),
  tool('list_child_sessions', 'GET /api/sessions/:id/children', 'sessionId:id!', 'The sessions directly beneath one.'),
  tool('stop_session', 'POST /api/sessions/:id/stop', 'sessionId:id! reason descendants', 'Stop a session that you spawned, with descendants=true the tree beneath it.'),
  tool('search_messages', 'GET /api/search/messages', 'query! sessionId includeOwnSession employee engine role since until limit', 'Find messages of the sessions beneath yours by their words.'),
  tool('search_sessions', 'GET /api/search/sessions', 'text employee engine status source parentSessionId activeSince activeBefore needsAttention limit', 'Find sessions by words, people, engine, status or time.'),
  tool('get_message_context', 'GET /api/sessions/:id/context', 'sessionId:id! messageId! radius', 'The messages around one message.'),
  tool('cost_report', 'GET /api/cost/report', 'groupBy since until employee limit', 'What the sessions in your sight have cost.'),

  tool('delegate_task', 'POST /api/delegations', 'task! employee engine model effortLevel title workItemId attachments idempotencyKey', 'Give a task to an employee or engine: a tracked work item and a session that attempts it. Repeat with the same idempotencyKey when unsure whether it arrived.'),
  tool('list_work_items', 'GET /api/work-items', 'status source assignee department needsAttentionFor limit offset', 'Work items: yours, those you created, attempt or manage. needsAttentionFor=me: what waits for you.'),
  tool('get_work_item', 'GET /api/work-items/:id', 'id!', 'A work item with its whole ledger and what it has cost.'),
  tool('what_next', 'GET /api/work-items/:id/next', 'id!', 'Where you may move a work item now, what else may be done with it, and what stands in the way of the rest.'),
  tool('search_work_items', 'GET /api/search/work-items', 'text! status source assignee department limit', 'Find work items by their words.'),
  tool('create_work_item', 'POST /api/work-items', 'title! body acceptance assignee department verifyPolicy parentId labels dueAt idempotencyKey', 'Record work to be done. Starts nothing.'),
  tool('update_work_item', 'POST /api/work-items/:id/status', 'id! status! note', 'Move a work item to another status. blocked and escalated need a note that says why.'),
  tool('assign_work_item', 'POST /api/work-items/:id/assign', 'id! assignee!', 'Give a work item to an employee.'),
  tool('archive_work_item', 'POST /api/work-items/:id/archive', 'id! note', 'Cancel a work item and keep the evidence.'),
  tool('list_work_item_sessions', 'GET /api/work-items/:id/sessions', 'id!', 'The sessions that attempted a work item.'),
  tool('comment_on_work_item', 'POST /api/work-items/:id/comments', 'id! text! idempotencyKey', 'Say something about a work item, for people and later attempts.'),
  tool('list_work_item_comments', 'GET /api/work-items/:id/comments', 'id! limit', 'What was said about a work item.'),
  tool('label_work_item', 'POST /api/work-items/:id/labels', 'id! add remove', 'Add and remove labels of a work item.'),
  tool('link_work_items', 'POST /api/work-items/:id/links', 'id! relation! workItemId!', 'Say that a work item blocks, relates to or duplicates another.'),
  tool('list_sub_tasks', 'GET /api/work-items/:id/children', 'id!', 'The sub-tasks of a work item.'),
  tool('list_attempts', 'GET /api/work-items/:id/attempts', 'id! limit', 'Who tried a work item before, how that ended, what they left and what it cost.'),
  tool('hand_over', 'POST /api/work-items/:id/handoff', 'id! summary changedFiles verification retryNotes', 'Leave what your attempt did: summary, changed files, how you verified it, what the next should know.'),
  tool('list_work_item_approvals', 'GET /api/work-items/:id/approvals', 'id! limit', 'Every request for approval of a work item and what became of it.'),
  tool('request_work_item_approval', 'POST /api/work-items/:id/approval/request', 'id! request! target', 'Ask for an approval; default: of the owner\'s manager.'),
  tool('decide_work_item_approval', 'POST /api/work-items/:id/approval', 'id! decision! note', 'Approve or reject what was routed to you. Never your own.'),
  tool('escalate_work_item_approval', 'POST /api/work-items/:id/approval/escalate', 'id! reason', 'Open a pending approval to the operator and the executives.'),

  tool('search_knowledge', 'GET /api/knowledge/search', 'query:q!', 'Find passages of the company\'s documents by their words.'),
  tool('read_knowledge', 'GET /api/knowledge/read', 'path!', 'A document, by the path that search_knowledge gave.'),
  tool('list_skills', 'GET /api/skills', '', 'The skills of the company.'),
  tool('read_skill', 'GET /api/skills/:name', 'name!', 'A skill, whole.'),
  tool('publish_attachment', 'POST /api/sessions/@self/attachments', 'path content filename caption:text', 'Attach a file to your own session, so that people see it.'),
  tool('list_files', 'GET /api/files', 'limit', 'Managed files.'),
  tool('read_file', 'GET /api/files/read', 'path!', 'A managed text file.'),
  tool('list_connectors', 'GET /api/connectors', '', 'The channels to the outside and whether they work.'),
  tool('send_connector_message', 'POST /api/connectors/:name/send', 'connector:name! channel! text! thread idempotencyKey', 'Send a message to the outside, through a connector that your employee may use.'),
  tool('list_cron_jobs', 'GET /api/cron', '', 'Scheduled prompts.'),
  tool('get_cron_run_history', 'GET /api/cron/:id/runs', 'id! limit', 'When a scheduled prompt ran, and how that ended.'),

  tool('list_workflows', 'GET /api/workflow-definitions', '', 'The workflows.'),
  tool('get_workflow', 'GET /api/workflow-definitions/:id', 'workflowId:id!', 'A workflow\'s definition.'),
  tool('list_workflow_runs', 'GET /api/workflow-definitions/:id/runs', 'workflowId:id! limit', 'The runs of a workflow.'),
  tool('get_workflow_run', 'GET /api/workflow-definitions/:id/runs/:runId', 'workflowId:id! runId!', 'A run with its receipts.'),
  tool('plan_workflow', 'POST /api/workflow-definitions/plan', 'definition sop workflowId patch', 'Try a definition: what is wrong with it, and how it would run. Saves nothing.'),
  tool('validate_workflow', 'POST /api/workflow-definitions/plan', 'definition sop', 'What is wrong with a definition, all of it at once; an empty list is good.', validationOf),
  tool('create_workflow', 'POST /api/workflow-definitions/mutate', 'operation=create. definition sop', 'Save a new workflow, written as a definition or as a procedure.'),
  tool('update_workflow', 'POST /api/workflow-definitions/mutate', 'operation=update. workflowId! patch! expectedVersion', 'Change a workflow, against the version that you have read.'),
  tool('retire_workflow', 'POST /api/workflow-definitions/:id/retire', 'workflowId:id!', 'Retire a workflow: it runs no more.'),
  tool('start_workflow_run', 'POST /api/workflow-definitions/:id/run', 'workflowId:id! input stepOverrides idempotencyKey reportMode', 'Start a run. You are told when it parks and ends, unless reportMode is silent.'),
  tool('run_workflow_by_name', 'POST /api/workflow-runs/by-name', 'name! input stepOverrides idempotencyKey reportMode', 'Start a run of the workflow of that name.'),
  tool('cancel_workflow_run', 'POST /api/workflow-definitions/:id/runs/:runId/cancel', 'workflowId:id! runId! reason', 'Cancel a run.'),
  tool('edit_workflow_run_step_prompt', 'PATCH /api/workflow-definitions/:id/runs/:runId/pending-steps/:nodeId', 'workflowId:id! runId! nodeId! prompt!', 'Change the prompt of a step that has not begun.'),
  tool('resolve_workflow_gate', 'POST /api/workflow-definitions/:id/runs/:runId/resolve-gate', 'workflowId:id! runId! decision! note', 'Approve or reject a parked run, where that is routed to you.'),
  tool('escalate_workflow_gate', 'POST /api/workflow-definitions/:id/runs/:runId/gate-approval/escalate', 'workflowId:id! runId! reason', 'Open a parked gate to the operator and the executives.'),
  tool('rerun_workflow_from_step', 'POST /api/workflow-definitions/:id/runs/:runId/rerun', 'workflowId:id! runId! nodeId! input idempotencyKey', 'Do a run again from one step on.'),
  tool('submit_workflow_step_output', 'POST /api/workflow-definitions/:id/runs/:runId/steps/:nodeId/output', 'workflowId:id! runId! nodeId! fields summary notes artifacts', 'Hand in the output of the workflow step that your session does; that ends the step.'),
  tool('list_triggers', 'GET /api/workflow-triggers', '', 'What starts workflows from the outside.'),
  tool('create_trigger', 'POST /api/workflow-triggers', 'kind=webhook name! event! targetWorkflowId! filter signature command intervalSeconds timeoutMs stdoutMaxBytes stderrMaxBytes idempotencyKey', 'Bind an event from outside to a workflow. The secret of a webhook is in the answer, once. Polls are for people.'),
  tool('decide_poll_activation', 'POST /api/workflow-triggers/:name/activation-approval', 'name! decision! note', 'Approve or reject the program of a poll.'),
  tool('escalate_poll_activation', 'POST /api/workflow-triggers/:name/activation-approval/escalate', 'name! reason', 'Mark the waiting approval of a poll as urgent.'),
  tool('delete_trigger', 'DELETE /api/workflow-triggers/:name', 'name!', 'Take a binding away.'),
];

/** The faults alone. */
function validationOf(body: unknown): unknown {
  const { validation, liveness, warnings } = body as Record<string, unknown>;
  return { validation, liveness, warnings };
}

/** Those that fit; every argument that is given narrows. */
function employeesLike(body: unknown, args: Readonly<Record<string, unknown>>): unknown {
  const { employees = [] } = body as { employees?: readonly Record<string, unknown>[] };
  return employees.filter((employee) => ['department', 'rank', 'engine'].every((member) => args[member] === undefined || employee[member] === args[member]));
}
