import type { BuiltInName, GatewayKinds } from '../../actors/gateway-kinds.js';
import type { KindNamed, RowsOf, ViewOf } from '../../actors/inference.js';
import type { ActorKey, Json } from '../../machines/outputs.js';
import type { ListItem, Row, Supervisor } from '../supervisor/contract.js';

/**
 * Iterate over a list page by page, bounded: keys only, the cheap part of a list. Records are read by `recordsOf`,
 * and only those that are shown or must be looked into.
 * @example for await (const {id} of iterate(supervisor, 'session', {index: 'parent', prefix: `${parent}/`})) …
 */
export async function* iterate(
  supervisor: Supervisor,
  kind: string,
  list: { index: string; prefix?: string; most?: number },
): AsyncGenerator<ListItem> {
  let left = list.most ?? iteratedMax;
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

/**
 * The views of actors, in the order of the ids; one that is gone, or was deleted since its list was read, is
 * left out.
 */
export async function recordsOf<Name extends BuiltInName>(
  supervisor: Supervisor<GatewayKinds>,
  kind: Name,
  ids: readonly string[],
): Promise<GatewayView<Name>[]> {
  const views = await Promise.all(ids.map((id) => supervisor.get(kind, id)));
  return views.flatMap((view) => (view && view.value !== 'deleted' ? [view.view] : []));
}

/** The ids of a list, in its order. */
export async function idsOf(
  supervisor: Supervisor,
  kind: string,
  list: { index: string; prefix?: string; most?: number },
): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of iterate(supervisor, kind, list)) ids.push(id);
  return ids;
}

/** Records of a list as they are read, a page at a time. */
export async function* iterateRecords<Name extends BuiltInName>(
  supervisor: Supervisor<GatewayKinds>,
  kind: Name,
  ids: readonly string[],
): AsyncGenerator<GatewayView<Name>> {
  for (let from = 0; from < ids.length; from += recordsAtOnce)
    yield* await recordsOf(supervisor, kind, ids.slice(from, from + recordsAtOnce));
}

/** What the kind of that name shows of an actor. */
type GatewayView<Name extends BuiltInName> = ViewOf<KindNamed<GatewayKinds, Name>>;
/** The rows of a kind of the gateway, by collection. */
type GatewayRows<Name extends BuiltInName> = RowsOf<KindNamed<GatewayKinds, Name>>;

/** The newest row of an actor that fits, looked for from the end. Bounded like `iterate`. */
export async function newestRow<
  Name extends BuiltInName,
  Collection extends keyof GatewayRows<Name> & string,
>(
  supervisor: Supervisor<GatewayKinds>,
  actor: ActorKey<Name>,
  collection: Collection,
  fits: (row: GatewayRows<Name>[Collection]) => boolean,
): Promise<Row<GatewayRows<Name>[Collection]> | undefined> {
  let before: number | undefined;
  for (let left = iteratedMax; left > 0; left -= rowsAtOnce) {
    const rows = await supervisor.rows(actor, collection, {
      last: rowsAtOnce,
      ...(before !== undefined && { before }),
    });
    const found = rows.findLast(({ row }) => fits(row));
    if (found !== undefined || rows.length < rowsAtOnce) return found;
    before = Number(rows[0]?.n);
  }
  return undefined;
}

const rowsAtOnce = 500;
const pageSize = 1000;
const recordsAtOnce = 200;
/** No list route looks at more than this many keys. */
export const iteratedMax = 100_000;

/** The row that plans keep under this key (`Turns.put`), as it is committed; undefined: there is none. */
export const ownRow = async (supervisor: Supervisor, key: string): Promise<Json | undefined> =>
  (await supervisor.keyValues(key)).find(([name]) => name === key)?.[1];
