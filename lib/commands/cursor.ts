import type { Place } from './work-items/merge-lists.js';

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
