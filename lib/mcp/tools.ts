import { tool, type Tool } from './tool.js';
import { workflowTools } from './workflow-tools.js';

/**
 * Everything that an agent can do here: one line per tool. A tool whose route this gateway does not serve is
 * not offered; neither is one whose route is closed to all agents, to an agent.
 */
export const tools: readonly Tool[] = [
  tool(
    'who_am_i',
    'GET /api/sessions/@self',
    'messages=0.',
    'Your own session: employee, work item, parent session, engine, spend.',
  ),
  tool('list_employees', 'GET /api/org', '', 'Departments, employees and reporting lines.'),
  tool(
    'get_employee',
    'GET /api/org/employees/:name',
    'name!',
    'One employee with persona, manager and reports.',
  ),
  tool(
    'find_employees',
    'GET /api/org',
    'department: rank: engine:',
    'Employees of a department, a rank or an engine.',
    employeesLike,
  ),

  tool(
    'spawn_session',
    'POST /api/sessions',
    'prompt! employee engine model effortLevel title cwd idempotencyKey',
    'Start a child session of yours. You are notified once when it has finished. For work that ' +
      'should be tracked, use delegate_task.',
  ),
  tool(
    'send_to_session',
    'POST /api/sessions/:id/message',
    'sessionId:id! message! attachments',
    'Send a message to another session. At most 10 in 10 minutes.',
  ),
  tool(
    'read_session',
    'GET /api/sessions/:id',
    'sessionId:id! last=20',
    'A session with its last messages: your own or a descendant.',
  ),
  tool(
    'list_sessions',
    'GET /api/search/sessions',
    'employee status limit',
    'Your own session and its descendants, last active first.',
  ),
  tool(
    'list_child_sessions',
    'GET /api/sessions/:id/children',
    'sessionId:id!',
    'The direct children of a session.',
  ),
  tool(
    'stop_session',
    'POST /api/sessions/:id/stop',
    'sessionId:id! reason descendants',
    'Stop a session that you spawned; with descendants=true its descendants too.',
  ),
  tool(
    'search_messages',
    'GET /api/search/messages',
    'query! sessionId includeOwnSession employee engine role since until limit',
    'Search the messages of your descendant sessions.',
  ),
  tool(
    'search_sessions',
    'GET /api/search/sessions',
    'text employee engine status source parentSessionId activeSince activeBefore needsAttention limit',
    'Search sessions by words, people, engine, status or time.',
  ),
  tool(
    'get_message_context',
    'GET /api/sessions/:id/context',
    'sessionId:id! messageId! radius',
    'The messages before and after a message.',
  ),
  tool(
    'cost_report',
    'GET /api/cost/report',
    'groupBy since until employee limit',
    'The cost of the sessions that you can see.',
  ),

  tool(
    'delegate_task',
    'POST /api/delegations',
    'task! employee engine model effortLevel title workItemId attachments idempotencyKey',
    'Delegate a task to an employee or engine: creates a tracked work item and a session that ' +
      'attempts it. Repeat with the same idempotencyKey when unsure whether it arrived.',
  ),
  tool(
    'list_work_items',
    'GET /api/work-items',
    'status source assignee department needsAttentionFor limit offset',
    'Work items: yours, those you created, attempt or manage. needsAttentionFor=me: items that need your attention.',
  ),
  tool('get_work_item', 'GET /api/work-items/:id', 'id!', 'A work item with its whole ledger and its cost.'),
  tool(
    'what_next',
    'GET /api/work-items/:id/next',
    'id!',
    'The transitions and operations open to you for a work item now, and why the others are not.',
  ),
  tool(
    'search_work_items',
    'GET /api/search/work-items',
    'text! status source assignee department limit',
    'Search work items by words.',
  ),
  tool(
    'create_work_item',
    'POST /api/work-items',
    'title! body acceptance assignee department verifyPolicy parentId labels dueAt idempotencyKey',
    'Create a work item; does not start work.',
  ),
  tool(
    'update_work_item',
    'POST /api/work-items/:id/status',
    'id! status! note',
    'Change the status of a work item. blocked and escalated need a note that says why.',
  ),
  tool(
    'assign_work_item',
    'POST /api/work-items/:id/assign',
    'id! assignee!',
    'Assign a work item to an employee.',
  ),
  tool(
    'archive_work_item',
    'POST /api/work-items/:id/archive',
    'id! note',
    'Cancel a work item and keep the evidence.',
  ),
  tool(
    'list_work_item_sessions',
    'GET /api/work-items/:id/sessions',
    'id!',
    'The sessions that attempted a work item.',
  ),
  tool(
    'comment_on_work_item',
    'POST /api/work-items/:id/comments',
    'id! text! idempotencyKey',
    'Comment on a work item, for people and later attempts.',
  ),
  tool(
    'list_work_item_comments',
    'GET /api/work-items/:id/comments',
    'id! limit',
    'The comments on a work item.',
  ),
  tool(
    'label_work_item',
    'POST /api/work-items/:id/labels',
    'id! add remove',
    'Add and remove labels of a work item.',
  ),
  tool(
    'link_work_items',
    'POST /api/work-items/:id/links',
    'id! relation! workItemId!',
    'Link two work items: one blocks, relates to or duplicates the other.',
  ),
  tool('list_sub_tasks', 'GET /api/work-items/:id/children', 'id!', 'The sub-tasks of a work item.'),
  tool(
    'list_attempts',
    'GET /api/work-items/:id/attempts',
    'id! limit',
    'Earlier attempts at a work item, with outcome, results and cost.',
  ),
  tool(
    'hand_over',
    'POST /api/work-items/:id/handoff',
    'id! summary changedFiles verification retryNotes',
    'Submit the results of your attempt: summary, changed files, verification, notes for the next attempt.',
  ),
  tool(
    'list_work_item_approvals',
    'GET /api/work-items/:id/approvals',
    'id! limit',
    'All approval requests of a work item and their outcome.',
  ),
  tool(
    'request_work_item_approval',
    'POST /api/work-items/:id/approval/request',
    'id! request! target',
    "Ask for an approval; default: of the owner's manager.",
  ),
  tool(
    'decide_work_item_approval',
    'POST /api/work-items/:id/approval',
    'id! decision! note',
    'Approve or reject an approval routed to you. Never your own.',
  ),
  tool(
    'escalate_work_item_approval',
    'POST /api/work-items/:id/approval/escalate',
    'id! reason',
    'Open a pending approval to the operator and the executives.',
  ),

  tool('search_knowledge', 'GET /api/knowledge/search', 'query:q!', "Search the company's documents."),
  tool(
    'read_knowledge',
    'GET /api/knowledge/read',
    'path!',
    'A document, by its path from search_knowledge.',
  ),
  tool('list_skills', 'GET /api/skills', '', 'The skills of the company.'),
  tool('read_skill', 'GET /api/skills/:name', 'name!', 'The full text of a skill.'),
  tool(
    'publish_attachment',
    'POST /api/sessions/@self/attachments',
    'path content filename caption:text',
    'Attach a file to your own session, where people see it.',
  ),
  tool('list_files', 'GET /api/files', 'limit', 'Managed files.'),
  tool('read_file', 'GET /api/files/read', 'path!', 'A managed text file.'),
  tool('list_connectors', 'GET /api/connectors', '', 'The connectors and their health.'),
  tool(
    'send_connector_message',
    'POST /api/connectors/:name/send',
    'connector:name! channel! text! thread idempotencyKey',
    'Send a message through a connector that your employee may use.',
  ),
  tool('list_cron_jobs', 'GET /api/cron', '', 'Scheduled prompts.'),
  tool(
    'get_cron_run_history',
    'GET /api/cron/:id/runs',
    'id! limit',
    'The runs of a scheduled prompt and their outcome.',
  ),

  ...workflowTools,
];

/** Those that fit; every argument that is given narrows. */
function employeesLike(body: unknown, args: Readonly<Record<string, unknown>>): unknown {
  const { employees = [] } = body as { employees?: readonly Record<string, unknown>[] };
  return employees.filter((employee) =>
    ['department', 'rank', 'engine'].every(
      (member) => args[member] === undefined || employee[member] === args[member],
    ),
  );
}
