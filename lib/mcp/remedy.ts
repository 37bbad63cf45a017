import type { Refusal, RefusalCode } from '../../machines/refusals.js';

/**
 * A refusal as an agent reads it: what was refused and why, and what to do instead. An agent that only hears
 * "403" tries the same again, or looks for a way round.
 * @example withRemedy(refuse('SELF_REVIEW')) // 'Refused (SELF_REVIEW): An attempt cannot … Instead: call
 * update_work_item with …'
 */
export function withRemedy({ code, message, details }: Refusal): string {
  const { issues: _issues, path: _path, ...facts } = details;
  const reported = Object.keys(facts).length === 0 ? '' : `\nDetails: ${JSON.stringify(facts)}`;
  const instead = code === 'NOT_FOUND' ? sought(details) : remedies[code as RefusalCode];
  return `Refused (${code}): ${message}${instead === undefined ? '' : `\nInstead: ${instead}`}${reported}`;
}

const ask = 'Say in your answer what you need and from whom; do not try to bypass it.';

const remedies: Partial<Record<RefusalCode, string>> = {
  BAD_REQUEST: 'Correct the argument and call again.',
  NOTE_REQUIRED: 'Call again with a note that says why.',
  ILLEGAL_TRANSITION: 'Call what_next with the id: it lists the moves that are possible now.',
  ASSIGNEE_REQUIRED: 'Call assign_work_item first; list_employees lists the employees.',
  UNKNOWN_EMPLOYEE: 'Call list_employees and use a name from there.',
  UNKNOWN_ENGINE: 'Leave engine out to use the default.',
  UNKNOWN_MODEL: "Leave model out to use the engine's default.",
  UNKNOWN_EFFORT: 'Leave effortLevel out to use the default.',
  UNKNOWN_ATTACHMENT: 'Publish the file first with publish_attachment and use the id that it returns.',
  SELF_MESSAGE: 'Say it in your answer: it reaches the session or person that started you.',
  FORBIDDEN: ask,
  PERSON_REQUIRED: 'Call request_work_item_approval and say what should change; a person decides.',
  SELF_REVIEW: 'Call update_work_item with status in_review; another reviewer completes it.',
  NOT_OWNER: 'Leave it to its assignee, or call create_work_item for work of your own that refers to it.',
  CANCEL_BY_ARCHIVE: 'Call archive_work_item.',
  NOT_DESCENDANT: 'Send it a message with send_to_session, or leave it to the session that spawned it.',
  OWN_APPROVAL: 'Wait for the decision; without one it escalates automatically.',
  NOT_ROUTED: 'Leave it to the approvalTarget of the work item.',
  CONFLICT: 'Read it again and decide again.',
  EXISTS: 'Use the existing one, or choose another id.',
  IDEMPOTENCY_CONFLICT: 'Use a new idempotencyKey for a new request.',
  NO_PENDING_APPROVAL: 'Read the work item: the approval was decided or never requested.',
  TERMINAL: 'Call create_work_item for the work that remains.',
  VERSION_CONFLICT: 'Read it again and repeat the change on the current version.',
  LIVE_ATTEMPT: 'Wait for the running session, or send it a message.',
  PAYLOAD_TOO_LARGE: 'Send less; put long texts into a file and attach it.',
  TOO_MANY: 'Go on with other work until resetAt (epoch milliseconds).',
  AGENT_QUOTA: 'Go on with what you have, or ask a person; begin nothing new before resetAt.',
  PENDING_APPROVAL: 'Ask a person to approve it.',
  QUEUE_FULL: 'Wait until some of your requests are done.',
  ENGINE_UNAVAILABLE:
    'The work item is kept. Delegate it to another engine or employee with its workItemId, or ' +
    'say that the engine is missing.',
  CONNECTOR_UNAVAILABLE: ask,
  ACTOR_HALTED: ask,
  STORE_UNAVAILABLE: 'Nothing was changed. Wait a moment, then call again.',
  OWNER_ELSEWHERE: 'Nothing was changed. Wait a moment, then call again.',
  OUTCOME_UNKNOWN: 'The outcome is unknown. Read the current state before you call again.',
  DISK_LOW: ask,
  DRAINING: 'Finish here; the gateway restarts and you are called again.',
  BUSY: 'Wait a moment, then call again.',
};

/** Where the thing that was not found could have been found. */
function sought({ kind, tool }: Refusal['details']): string {
  if (tool !== undefined) return 'Use a tool from your list, or find one with find_tools.';
  return `Check the name or id with ${lists.get(String(kind)) ?? 'list_work_items or list_sessions'}.`;
}

const lists: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'work-item': 'list_work_items',
    session: 'list_sessions',
    employee: 'list_employees',
    skill: 'list_skills',
    connector: 'list_connectors',
    'cron job': 'list_cron_jobs',
    workflow: 'list_workflows',
    'workflow-run': 'list_workflow_runs',
    'workflow trigger': 'list_triggers',
  }),
);
