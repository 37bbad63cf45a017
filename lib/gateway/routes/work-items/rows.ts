import { z } from 'zod';
import { refuse, type Refusal } from '../../../../machines/refusals.js';
import type { HttpRequest } from '../../route.js';
import { idOf, rowCursor } from '../../parse.js';
import type { App } from '../../../commands/app.js';
import type { Reply } from '../../../commands/request.js';
import { wholeNumber } from '../../schemas.js';

export const pageQuery = z.object({
  before: wholeNumber(1, 999_999_999).optional().describe('`n` of the oldest row received.'),
  cursor: rowCursor,
  limit: wholeNumber(1, 500).optional().describe('Default 100.'),
});

export async function rowsOf(
  request: HttpRequest<unknown, z.output<typeof pageQuery>>,
  collection: 'comments' | 'approvals' | 'attempts',
): Promise<Reply | Refusal> {
  const id = idOf(request);
  if (!(await request.app.supervisor.get('work-item', id)))
    return refuse('NOT_FOUND', { kind: 'work-item', id }, `Todo ${id} not found`);
  const { cursor, before = cursor, limit = 100 } = request.query;
  const rows = await request.app.supervisor.rows({ kind: 'work-item', id }, collection, {
    last: limit + 1,
    ...(before !== undefined && { before }),
  });
  const shown = rows.slice(-limit).map(({ n, row }) => ({ n, ...withPerson(request.app, row as object) }));
  const hasOlder = rows.length > limit;
  const next = hasOlder ? String(shown[0]?.n) : null;
  return { body: { [collection]: shown, hasOlder, nextCursor: next } };
}

/** The newest entries of an item's ledger. */
export async function eventsOf(app: App, id: string): Promise<readonly object[]> {
  const rows = await app.supervisor.rows({ kind: 'work-item', id }, 'events', { last: eventsMax });
  return rows.map(({ row }) => withPerson(app, row as object));
}

const eventsMax = 1000;

/** What a paired browser did, with the name of who uses it. */
function withPerson(app: App, row: object): object {
  const { actor, author, decidedBy } = row as Readonly<Record<string, unknown>>;
  const device = [actor, author, decidedBy].find(
    (name): name is string => typeof name === 'string' && name.startsWith('device:'),
  );
  const person = device && app.records?.devices.personOf(device.slice('device:'.length));
  return person === undefined ? row : { ...row, person };
}
