import type { Database } from './database.js';
import type { Known } from './selection.js';
import { gathering, type SendOptions } from './send.js';
import { jsonOf, numberOf, rowsInOrder, textOf, timeOf, type KnownTables } from './tables.js';

/**
 * Todos as work items: what each was asked for, and whether it is closed. What was in between starts over; events,
 * attempts, approvals and the places that people gave by hand stay there.
 */
export async function importItems(
  database: Database,
  { items }: KnownTables,
  known: Known,
  options: SendOptions,
): Promise<void> {
  const { ledger } = options;
  if (items === undefined)
    return ledger.leave('work item', 'all', 'No table of the database has their columns.');
  const whole = gathering(options);
  for (const row of rowsInOrder(database, items, 'createdat')) {
    const id = textOf(row, 'id') ?? '';
    const title = textOf(row, 'title');
    if (!/^[A-Z][A-Z0-9]{0,15}-\d{1,12}$/.test(id) || title === undefined) {
      ledger.leave('work item', id || 'without id', 'It has no title, or an id that is none of a work item.');
      continue;
    }
    const assignee = textOf(row, 'assignee', 128);
    const assigneeIs = assignee === undefined ? undefined : known(assignee);
    if (assignee !== undefined && assigneeIs === undefined)
      ledger.change('work item', id, 'Its assignee is no employee here.');
    const status = textOf(row, 'status', 32);
    const isClosed = status === 'done' || status === 'cancelled';
    if (!isClosed && status !== 'backlog' && status !== 'assigned')
      ledger.change('work item', id, `It was ${status ?? 'in no status'}, and starts over.`);
    const said = {
      body: textOf(row, 'body', 65_000),
      acceptance: textOf(row, 'acceptance', 65_000),
      department: textOf(row, 'department', 128),
      assignee: assigneeIs === 'here' ? assignee : undefined,
    };
    const priority = numberOf(row, 'priority', 3);
    const dueAt = timeOf(row, 'dueat');
    const labels = jsonOf(row, 'labels');
    await whole.add({
      area: 'work item',
      name: `work item ${id}`,
      part: {
        items: [
          {
            id,
            createdAt: new Date(timeOf(row, 'createdat') ?? 0).toISOString(),
            title,
            ...(status !== undefined && { status }),
            ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
            ...(priority !== undefined && Number.isInteger(priority) && { priority }),
            ...(dueAt !== undefined && { dueAt: new Date(dueAt).toISOString() }),
            ...(Array.isArray(labels) && {
              labels: labels.slice(0, 32).map((label) => String(label).slice(0, 64)),
            }),
            ...(isClosed && { closed: status }),
          },
        ],
      },
    });
  }
  await whole.flush();
  ledger.leave(
    'other',
    'of all work items',
    'Events, comments, attempts, approvals, rounds and order by hand.',
  );
}
