import type { Json } from '../../machines/outputs.js';
import type { Supervisor } from '../supervisor/contract.js';
import { recordsOf } from './iterate.js';
import { mergedAfter, type Place, type Range } from './work-items/merge-lists.js';

/**
 * The records of a list behind a place, those that fit, and where the page after begins.
 * @example await pageAfter(supervisor, 'session', { index: 'group', prefix: 'ann/' }, { after, limit: 50 })
 */
export async function pageAfter(
  supervisor: Supervisor,
  kind: Parameters<typeof recordsOf>[1],
  range: Range,
  query: {
    readonly after: Place | undefined;
    readonly limit: number;
    readonly fits?: (record: Json) => boolean;
  },
): Promise<{ readonly rows: readonly Json[]; readonly nextCursor: string | null }> {
  const { after, limit, fits = () => true } = query;
  const rows: Json[] = [];
  let last: Place | undefined;
  for await (const place of mergedAfter(supervisor, kind, [range], { after, first: limit + 1 })) {
    const [record] = await recordsOf(supervisor, kind, [place.id]);
    if (record === undefined || !fits(record)) continue;
    if (rows.length === limit && last !== undefined) return { rows, nextCursor: cursorOf(last) };
    rows.push(record);
    last = place;
  }
  return { rows, nextCursor: null };
}

/**
 * Places in lists as clients carry them from page to page. A page begins behind a place, wherever that has come to
 * stand meanwhile: what did not move is shown once, however much moves around it.
 * @example cursorOf({ key: '1fffe…', id: 'ACM-7' }) // 'WyIxZmZmZeKApiIsIkFDTS03Il0'
 */
export const cursorOf = ({ key, id }: Place): string =>
  Buffer.from(JSON.stringify([key, id])).toString('base64url');

/** Undefined: no cursor of ours. */
export function placeOf(cursor: string): Place | undefined {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(place) || place.length !== 2) return undefined;
    const [key, id] = place as readonly unknown[];
    return typeof key === 'string' && typeof id === 'string' ? { key, id } : undefined;
  } catch {
    return undefined; // not JSON
  }
}
