import type { ListItem, Supervisor } from '../supervisor/contract.js';

/**
 * Walk a list page by page, bounded: what a list route needs when it must skip, filter or count.
 * @example for await (const item of walk(supervisor, 'session', {index: 'parent', prefix: `${id}/`})) …
 */
export async function* walk(supervisor: Supervisor, kind: string, list: { index: string; prefix?: string; most?: number }): AsyncGenerator<ListItem> {
  let left = list.most ?? walkMax;
  let after: string | null = null;
  do {
    const page: { items: readonly ListItem[]; next: string | null } = await supervisor.list(kind, {
      index: list.index,
      limit: Math.min(pageSize, left),
      ...(list.prefix !== undefined && { prefix: list.prefix }),
      ...(after !== null && { after }),
    });
    yield* page.items;
    left -= page.items.length;
    after = page.next;
  } while (after !== null && left > 0);
}

/** A page of things that satisfy `keep`, and how many there are in all within the bound. */
export async function pick(
  items: AsyncIterable<ListItem>, page: { offset: number; limit: number }, keep: (item: ListItem) => boolean,
): Promise<{ items: ListItem[]; total: number }> {
  const picked: ListItem[] = [];
  let total = 0;
  for await (const item of items) {
    if (!keep(item)) continue;
    if (total >= page.offset && picked.length < page.limit) picked.push(item);
    total++;
  }
  return { items: picked, total };
}

const pageSize = 1000;
/** No list route looks at more than this many records. */
export const walkMax = 100_000;
