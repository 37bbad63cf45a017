import { system } from '../../../machines/caller.js';
import type { Trigger } from '../../../machines/graph/definition.js';
import type { App, Follower } from '../app.js';
import { createFollower } from '../follower.js';
import { ownRow } from '../iterate.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { LogEntry } from '../../supervisor/contract.js';
import { causeOfVersion } from '../authority/workflow-authority.js';
import { definitionAt } from './definitions.js';
import { startRun } from './start-run.js';

/**
 * Definitions that wake when a work item changes its status. The log is read from where it was read last, and
 * each change starts a run under its own key: whatever a crash makes us read twice starts nothing twice.
 * No one reads while no definition waits for work items.
 */
export const followTodos = (failed: (error: unknown) => void): Follower =>
  createFollower({ kind: 'workflow', index: wakes }, read, failed);

const wakes = 'todo-status-change';
const cursorKey = 'workflow-todos/cursor';

async function read(app: App, signal: AbortSignal): Promise<void> {
  const now = app.supervisor.status.position; // before anything is waited for: what changes from here on wakes
  const kept = await ownRow(app.supervisor, cursorKey);
  const since = typeof kept === 'number' ? kept : now; // no one has waited before: what is past wakes no one
  let read = 0;
  await keep(app, since);
  for await (const entry of app.supervisor.watch({ since, kinds: ['work-item'], signal })) {
    const change = changeOf(entry);
    if (change !== undefined) await wake(app, entry, change);
    read += 1;
    if (change !== undefined || read % 500 === 0) await keep(app, entry.position);
  }
}

const keep = ({ supervisor }: App, seq: number): Promise<unknown> =>
  supervisor.transact({
    name: 'workflow-todos',
    actors: [],
    by: system('workflows'),
    run: (turns) => {
      turns.put(cursorKey, seq);
      return null;
    },
  });

interface Change {
  readonly from: string | null;
  readonly to: string;
}

function changeOf({ from, to }: LogEntry): Change | undefined {
  const status = (value: unknown): string | null =>
    (value as { readonly work?: string } | null)?.work ?? null;
  const [before, after] = [status(from), status(to)];
  return after === null || before === after ? undefined : { from: before, to: after };
}

async function wake(app: App, { id, revision: rev, by }: LogEntry, { from, to }: Change): Promise<void> {
  const { items } = await app.supervisor.list('workflow', { index: wakes, limit: 1_000 });
  const meant = items.filter(({ row }) => fits(row as Waiting, from, to));
  if (meant.length === 0) return;
  const found = await app.supervisor.get('work-item', id);
  if (found === undefined) return;
  const { title, source, department, assignee } = found.view;
  const cause = /^workflow-run:(.+)$/.exec(by)?.[1];
  const causing = cause === undefined ? undefined : await app.supervisor.get('workflow-run', cause);
  const own = causing && causing.view.workflowId;
  for (const { id: workflowId, row } of meant) {
    const { filter } = row as Waiting;
    if (workflowId === own) continue; // a step of a run does not wake its own workflow: that would never end
    if (
      (filter.source ?? source) !== source ||
      (filter.department ?? department) !== department ||
      (filter.assignee ?? assignee) !== assignee
    )
      continue;
    const fireRef = `todo:${id}:${rev}`;
    const payload = {
      workItemId: id,
      fromStatus: from,
      toStatus: to,
      title: title ?? null,
      source: source ?? null,
      department: department ?? null,
      assignee: assignee ?? null,
    };
    const definition = await definitionAt(app, workflowId);
    const cause = definition && (await causeOfVersion(app, definition));
    if (cause === undefined) continue; // no one stands behind it any more: a person must approve it
    const started = await startRun(
      { app, caller: system('workflows'), onBehalfOf: [cause] },
      {
        workflowId,
        idempotencyKey: fireRef,
        workItemId: id,
        trigger: { source: wakes, event: `${from ?? 'new'}→${to}`, payload, fireRef },
      },
    );
    // Read again from the last place
    if (isRefusal(started) && started.status >= 500) throw new Error(started.message);
  }
}

type Waiting = Extract<Trigger, { readonly kind: 'todo-status-change' }>;

const fits = ({ toStatus, fromStatus }: Waiting, from: string | null, to: string): boolean =>
  toStatus === to && (fromStatus === null || fromStatus === from);
