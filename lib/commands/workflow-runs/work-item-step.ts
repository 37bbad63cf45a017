import type { Deed } from '../../../actors/effects/workflow-ports.js';
import type { Json } from '../../../machines/ground.js';
import type { StepOutcome } from '../../../machines/workflow-run/context.js';
import { asked, askOne, expected, recordOf, type Desk } from '../desk.js';
import { frozenPrefix, mintWorkItem, workItemInput } from '../create-work-item.js';
import { askingOf } from './step-asking.js';

/** A step that is an operation on a work item. Each is done once under the attempt's key. */
export async function operateWorkItem(desk: Desk, { action, runId, workflowId, nodeId, key }: Deed<'work-item'>): Promise<StepOutcome> {
  const { operation, fields } = action;
  const asking = askingOf(runId, key);
  if (operation === 'create') {
    const prefix = await frozenPrefix(desk);
    const committed = expected(await desk.supervisor.transact<{ id: string }>({
      name: 'create-work-item', actors: [], ...asked(asking),
      decide: (turns) => ({ id: mintWorkItem(turns, prefix, workItemInput(wishOf(fields), asking.by, { source: 'workflow', sourceRef: `workflow:${workflowId}:${runId}:${nodeId}:${key.split(':').slice(-2).join(':')}` })).id }),
    }));
    prefix.frozen = true;
    return { summary: `created ${committed.result.id}`, fields: { workItemId: committed.result.id } };
  }
  const id = action.id ?? '';
  const done = expected(await askOne(desk, 'work-item', id, eventOf(desk, operation, fields), asking));
  return { summary: `${operation} ${id}`, fields: { workItemId: id, status: recordOf(done.value)['status'] ?? null } };
}

type Fields = Readonly<Record<string, Json>>;

function eventOf({ supervisor }: Desk, operation: 'status' | 'assign' | 'comment' | 'archive', fields: Fields): { type: string } & Record<string, unknown> {
  const note = fields['note'] === undefined ? {} : { note: text(fields['note']) };
  switch (operation) {
    case 'status': return { type: 'item.move', status: text(fields['status']), ...note };
    case 'assign': return { type: 'item.assign', assignee: text(fields['assignee']), department: null };
    case 'comment': return { type: 'item.comment', commentId: supervisor.world.id(), text: text(fields['text']) };
    case 'archive': return { type: 'item.archive', ...note };
  }
}

function wishOf(fields: Fields) {
  const maybe = (name: string): string | null => (fields[name] == null ? null : text(fields[name]));
  return { title: text(fields['title']).slice(0, 200), body: maybe('body'), acceptance: maybe('acceptance'), assignee: maybe('assignee'), department: maybe('department'), parentId: null };
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value));
