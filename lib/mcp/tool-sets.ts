import type { ToolChoice, ToolRole } from '../home/agent-settings.js';

/** A step of a workflow ends with this. */
export const stepTool = 'submit_workflow_step_output';

/**
 * What agents of a role are offered from the start, at most twelve with the two that find and call the others: all
 * tools together are 32 kB of every request to a model.
 */
export const toolSets: Readonly<Record<ToolRole, readonly string[]>> = {
  employee: [
    'who_am_i',
    'list_work_items',
    'get_work_item',
    'create_work_item',
    'update_work_item',
    'hand_over',
    'request_work_item_approval',
    'delegate_task',
    'search_knowledge',
  ],
  manager: [
    'who_am_i',
    'list_employees',
    'list_work_items',
    'get_work_item',
    'create_work_item',
    'assign_work_item',
    'update_work_item',
    'delegate_task',
    'decide_work_item_approval',
  ],
  clerk: [
    'who_am_i',
    'list_work_items',
    'search_work_items',
    'get_work_item',
    'create_work_item',
    'assign_work_item',
    'update_work_item',
    'comment_on_work_item',
    'label_work_item',
  ],
  reviewer: [
    'who_am_i',
    'get_work_item',
    'list_attempts',
    'list_work_item_comments',
    'comment_on_work_item',
    'read_session',
    'what_next',
    'update_work_item',
    'decide_work_item_approval',
  ],
};

/**
 * The names of a choice, of `false` none; `undefined` stands for all tools.
 * @example toolsOf(['read_skill']) // Set { 'read_skill' }
 */
export function toolsOf(choice: ToolChoice | false): ReadonlySet<string> | undefined {
  if (choice === 'all') return undefined;
  if (choice === false) return new Set();
  return new Set(typeof choice === 'string' ? toolSets[choice] : choice);
}
