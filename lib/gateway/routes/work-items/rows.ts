import { z } from 'zod';
import { refuse, type Refusal } from '../../../../machines/refusals.js';
import { idOf, type HttpRequest } from '../../route.js';
import type { Reply } from '../../../commands/app.js';
import { wholeNumber } from '../../schemas.js';

export const pageQuery = z.object({
  before: wholeNumber(1, 999_999_999).optional().describe('`n` of the oldest row received.'),
  limit: wholeNumber(1, 500).optional().describe('Default 100.'),
});

export async function rowsOf(
  request: HttpRequest<unknown, z.output<typeof pageQuery>>,
  collection: 'comments' | 'approvals' | 'attempts',
): Promise<Reply | Refusal> {
  const id = idOf(request);
  if (!(await request.app.supervisor.get('work-item', id)))
    return refuse('NOT_FOUND', { kind: 'work-item', id }, `Todo ${id} not found`);
  const { before, limit = 100 } = request.query;
  const rows = await request.app.supervisor.rows({ kind: 'work-item', id }, collection, {
    last: limit + 1,
    ...(before !== undefined && { before }),
  });
  const shown = rows.slice(-limit).map(({ n, row }) => ({ n, ...(row as object) }));
  return { body: { [collection]: shown, hasOlder: rows.length > limit } };
}
