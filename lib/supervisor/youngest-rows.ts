import type { ActorKey } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import type { Store } from '../store/contract.js';
import { keys } from '../store/keys.js';

/** The youngest rows of an actor's collection, oldest first; at most a thousand. */
export async function youngestRows(
  store: Store,
  actor: ActorKey,
  collection: string,
  last = rowsMax,
): Promise<Json[]> {
  const start = keys.row(collection, actor.kind, actor.id, '');
  const page = await store.page({
    gte: start,
    lt: `${start}\x7f`,
    reverse: true,
    limit: Math.min(last, rowsMax),
  });
  return page.reverse().map(([, value]) => JSON.parse(value) as Json);
}

const rowsMax = 1_000;
