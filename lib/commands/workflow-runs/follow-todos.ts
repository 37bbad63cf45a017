import { system } from '../../../machines/caller.js';
import type { Trigger } from '../../../machines/graph/definition.js';
import { recordOf, type Desk } from '../desk.js';
import { follower, type Follower } from '../follower.js';
import { ownRow } from '../own-row.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { LogEntry } from '../../supervisor/contract.js';
import { startRun } from './start-run.js';

/**
 * Definitions that wake when a work item changes its status. The log is read from where it was read last, and each change
 * starts a run under its own key: whatever a crash makes us read twice starts nothing twice. Nobody reads while no
 * definition waits for work items.
 */
export const followTodos = (desk: Desk, failed: (error: unknown) => void): Follower => follower(desk, { kind: 'workflow', index: wakes }, (signal) => read(desk, signal), failed);

const wakes = 'todo-status-change';
const cursorKey = 'workflow-todos/cursor';

async function read(desk: Desk, signal: AbortSignal): Promise<void> {
  const now = desk.supervisor.status.seq; // before anything is waited for: what changes from here on wakes
  const kept = await ownRow(desk.supervisor, cursorKey);
  const since = typeof kept === 'number' ? kept : now; // nobody has waited before: what is past wakes nobody
  let read = 0;
  await keep(desk, since);
  for await (const entry of desk.supervisor.watch({ since, kinds: ['work-item'], signal })) {
    const change = changeOf(entry);
    if (change !== undefined) await wake(desk, entry, change);
    read += 1;
    if (change !== undefined || read % 500 === 0) await keep(desk, entry.seq);
  }
}

const keep = ({ supervisor }: Desk, seq: number): Promise<unknown> =>
  supervisor.transact({ name: 'workflow-todos', actors: [], by: system('workflows'), decide: (turns) => { turns.put(cursorKey, seq); return null; } });

interface Change { readonly from: string | null; readonly to: string }

function changeOf({ from, to }: LogEntry): Change | undefined {
  const status = (value: unknown): string | null => (value as { readonly work?: string } | null)?.work ?? null;
  const [before, after] = [status(from), status(to)];
  return after === null || before === after ? undefined : { from: before, to: after };
}

async function wake(desk: Desk, { id, rev, by }: LogEntry, { from, to }: Change): Promise<void> {
  const { items } = await desk.supervisor.list('workflow', { index: wakes, limit: 1_000 });
  const meant = items.filter(({ row }) => fits(row as unknown as Waiting, from, to));
  if (meant.length === 0) return;
  const found = await desk.supervisor.get('work-item', id);
  if (found === undefined) return;
  const { title, source, department, assignee } = recordOf(found);
  const cause = /^workflow-run:(.+)$/.exec(by)?.[1];
  const causing = cause === undefined ? undefined : await desk.supervisor.get('workflow-run', cause);
  const own = causing && (recordOf(causing) as unknown as RunView).workflowId; // the view of its kind
  for (const { id: workflowId, row } of meant) {
    const { filter } = row as unknown as Waiting;
    if (workflowId === own) continue; // a step of a run does not wake its own workflow: that would never end
    if ((filter.source ?? source) !== source || (filter.department ?? department) !== department || (filter.assignee ?? assignee) !== assignee) continue;
    const fireRef = `todo:${id}:${rev}`;
    const payload = { workItemId: id, fromStatus: from, toStatus: to, title: title ?? null, source: source ?? null, department: department ?? null, assignee: assignee ?? null };
    const started = await startRun(desk, { workflowId, idempotencyKey: fireRef, workItemId: id, trigger: { source: wakes, event: `${from ?? 'new'}→${to}`, payload, fireRef } }, { by: system('workflows') });
    if (isRefusal(started) && started.status >= 500) throw new Error(started.message); // read again from the last place
  }
}

type Waiting = Extract<Trigger, { readonly kind: 'todo-status-change' }>;

const fits = ({ toStatus, fromStatus }: Waiting, from: string | null, to: string): boolean => toStatus === to && (fromStatus === null || fromStatus === from);
