import { system } from '../../../machines/caller.js';
import { sortableText } from '../../../machines/sortable.js';
import { recordOf, type Desk } from '../desk.js';
import { inTurn } from '../in-turn.js';
import { queueMax, runsOf } from './start-run.js';

/** Runs that wait for room begin, oldest first, as many as there is room for. */
export function admitNext(desk: Desk, workflowId: string): Promise<void> {
  const { supervisor } = desk;
  return inTurn(supervisor, runsOf(workflowId), async () => {
    const prefix = `${sortableText(workflowId)}/`;
    const { items } = await supervisor.list('workflow-run', { index: 'queued', prefix, limit: queueMax });
    if (items.length === 0) return;
    const workflow = await supervisor.get('workflow', workflowId);
    const concurrency = Number(workflow === undefined ? 1 : recordOf(workflow)['concurrency']);
    const live = await supervisor.count('workflow-run', { index: 'live', prefix, limit: concurrency });
    for (const { id } of items.slice(0, Math.max(0, concurrency - live))) await supervisor.ask('workflow-run', id, { type: 'run.admit' }, { by: system('workflows') });
  });
}
