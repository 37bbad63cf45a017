import type { ActionCall } from '../../../actors/workflow-run/ports.js';
import { isPerson, type Causes } from '../../../machines/caller.js';
import type { GatewayEvent } from '../../../actors/gateway-kinds.js';
import type { Json } from '../../../machines/outputs.js';
import type { StepOutcome } from '../../../machines/workflow-run/context.js';
import type { WorkItemView } from '../../../machines/work-item/view.js';
import type { App } from '../app.js';
import { optionsOf, askActor, expected } from '../request.js';
import { frozenPrefix, mintWorkItem, workItemInput } from '../work-items/create-work-item.js';
import { spend } from '../authority/quotas.js';
import { stepRequest } from '../authority/workflow-authority.js';

/** A step that is an operation on a work item. Each is done once under the attempt's key. */
export async function operateWorkItem(
  app: App,
  { action, runId, workflowId, nodeId, key }: ActionCall<'work-item'>,
): Promise<StepOutcome> {
  const { operation, fields } = action;
  const request = await stepRequest(app, { runId, key });
  if (operation === 'create') {
    expected(await spend(request, 'items'));
    const prefix = await frozenPrefix(app);
    const committed = expected(
      await app.supervisor.transact<{ id: string }>({
        name: 'create-work-item',
        actors: [],
        ...optionsOf(request),
        run: (turns) => ({
          id: mintWorkItem(
            turns,
            prefix,
            workItemInput(inputOf(fields, request.onBehalfOf), request.caller, {
              source: 'workflow',
              sourceRef: `workflow:${workflowId}:${runId}:${nodeId}:${key.split(':').slice(-2).join(':')}`,
            }),
          ).id,
        }),
      }),
    );
    prefix.frozen = true;
    return { summary: `created ${committed.result.id}`, fields: { workItemId: committed.result.id } };
  }
  const id = action.id ?? '';
  const done = expected(await askActor(request, 'work-item', id, eventOf(app, operation, fields)));
  return {
    summary: `${operation} ${id}`,
    fields: { workItemId: id, status: done.body.view.status },
  };
}

type Fields = Readonly<Record<string, Json>>;

function eventOf(
  { supervisor }: App,
  operation: 'status' | 'assign' | 'comment' | 'archive',
  fields: Fields,
): GatewayEvent<'work-item'> {
  const note = fields['note'] === undefined ? {} : { note: text(fields['note']) };
  switch (operation) {
    case 'status':
      return { type: 'item.move', status: text(fields['status']) as WorkItemView['status'], ...note };
    case 'assign':
      return { type: 'item.assign', assignee: text(fields['assignee']), department: null };
    case 'comment':
      return {
        type: 'item.comment',
        commentId: supervisor.environment.ids.next(),
        text: text(fields['text']),
      };
    case 'archive':
      return { type: 'item.archive', ...note };
  }
}

/** What a workflow makes is trusted by its source, which no agent may choose for its own work. */
function inputOf(fields: Fields, causes: Causes) {
  const maybe = (name: string): string | null => (fields[name] == null ? null : text(fields[name]));
  return {
    title: text(fields['title']).slice(0, 200),
    body: maybe('body'),
    acceptance: maybe('acceptance'),
    assignee: maybe('assignee'),
    department: maybe('department'),
    ...(!causes.every(isPerson) && { verifyPolicy: { mode: 'verify' } }),
    parentId: null,
  };
}

const text = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
