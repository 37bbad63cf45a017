import type { ActorKey } from '../../machines/outputs.js';
import type { StoredActor } from '../supervisor/inspection-answers.js';
import type { Supervisor } from '../supervisor/contract.js';
import { summaryOf } from './actors.js';
import type { TreePage } from './answers.js';
import { childrenPage, parentOf } from './relations.js';

/**
 * Who stands beneath whom, a page at a time: below a kind its actors that have no one above them, below an actor
 * its children. What a page costs does not depend on how many actors there are.
 */
export async function treePage(
  supervisor: Supervisor,
  { kind, id, after, offset, limit }: TreeQuery,
): Promise<TreePage> {
  if (id === undefined) return rootsPage(supervisor, { kind, after, offset, limit });
  const { children, next } = await childrenPage(supervisor, { kind, id }, { cursor: after, limit });
  return { actors: await rowsOf(supervisor, children), read: children.length, next };
}

export interface TreeQuery {
  readonly kind: string;
  readonly id?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Of a kind: pass over so many actors first, instead of `after`. */
  readonly offset?: number | undefined;
  readonly limit: number;
}

/** One read of `limit` actors: where most of a kind are children, most of them are not shown here. */
async function rootsPage(
  supervisor: Supervisor,
  { kind, after, offset, limit }: Omit<TreeQuery, 'id'>,
): Promise<TreePage> {
  const page = await supervisor.inspection.page(kind, {
    limit,
    ...(after === undefined ? offset !== undefined && { offset } : { after }),
  });
  const parents = page.map(parentOf);
  const above = new Map<string, ActorKey>();
  for (const parent of parents) if (parent !== null) above.set(`${parent.kind}/${parent.id}`, parent);
  const stored = await supervisor.inspection.stored([...above.values()]);
  const present = new Set(stored.flatMap((one) => (one === undefined ? [] : `${one.kind}/${one.id}`)));
  // Whose parent is gone is shown all the same
  const roots = page.filter((_one, n) => {
    const parent = parents[n] ?? null;
    return parent === null || !present.has(`${parent.kind}/${parent.id}`);
  });
  return {
    actors: await rowsOf(supervisor, roots),
    read: page.length,
    next: page.length === limit ? (page.at(-1)?.id ?? null) : null,
  };
}

const rowsOf = (supervisor: Supervisor, actors: readonly StoredActor[]): Promise<TreePage['actors']> =>
  Promise.all(
    actors.map(async (stored) => {
      const { children, next } = await childrenPage(supervisor, stored, { limit: 1 });
      return { ...summaryOf(stored), hasChildren: children.length > 0 || next !== null };
    }),
  );
