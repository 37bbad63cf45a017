import type { ActorKey, Json } from '../../machines/outputs.js';
import { sortableText } from '../../machines/sortable.js';
import type { StoredActor } from '../supervisor/inspection-answers.js';
import type { Supervisor } from '../supervisor/contract.js';
import { keys } from '../store/keys.js';

/**
 * Who stands above and beneath an actor. Created under another is one way; the others are what kinds keep of
 * themselves by convention: lists named `parent` (of its own kind) or like the kind they belong to, and the
 * receipts of a run, which name the sessions and runs that worked for it.
 */
export function parentOf({
  kind,
  parent,
  context,
}: Pick<StoredActor, 'kind' | 'parent' | 'context'>): ActorKey | null {
  return parent ?? named(kind, context);
}

/** As the event of its creation tells. */
export const parentAtCreation = (kind: string, input: unknown): ActorKey | null =>
  named(kind, (input ?? {}) as Readonly<Record<string, Json>>);

function named(kind: string, members: Readonly<Record<string, Json>>): ActorKey | null {
  const { parentSessionId, parentId, workItemId } = members;
  if (kind === 'session' && typeof parentSessionId === 'string') return { kind, id: parentSessionId };
  if (typeof parentId === 'string') return { kind, id: parentId };
  const run = runAbove(kind, members);
  if (run !== undefined) return { kind: 'workflow-run', id: run };
  return kind !== 'work-item' && typeof workItemId === 'string'
    ? { kind: 'work-item', id: workItemId }
    : null;
}

/** The run that a session or another run is a step of. */
function runAbove(
  kind: string,
  { source, sourceRef, parent }: Readonly<Record<string, Json>>,
): string | undefined {
  if (kind === 'session')
    return source === 'workflow' ? /^workflow-run:([^:]+):/.exec(String(sourceRef))?.[1] : undefined;
  const { runId } = (kind === 'workflow-run' ? (parent ?? {}) : {}) as { readonly runId?: Json };
  return typeof runId === 'string' ? runId : undefined;
}

/** Where children are written down: one of several ordered lists, read a page at a time. */
interface Source {
  readonly name: string;
  /** After the place of the last one seen; a place is opaque to who asks. */
  read(after: string | undefined, limit: number): Promise<readonly (ActorKey & { readonly place: string })[]>;
}

function sourcesOf({ inspection, list, rows }: Reading, actor: ActorKey): readonly Source[] {
  const listed = inspection
    .kinds()
    .filter(({ definition }) => definition.index !== undefined)
    .map(({ kind }): Source => {
      const index = kind === actor.kind ? 'parent' : actor.kind;
      return {
        name: kind,
        read: async (after, limit) => {
          const [key = '', id = ''] = after?.split(' ') ?? [];
          const { items } = await list(kind, {
            index,
            prefix: `${sortableText(actor.id)}/`,
            limit,
            reverse: true,
            ...(after !== undefined && { after: keys.list(kind, index, key, id) }),
          });
          return items.map((item) => ({ kind, id: item.id, place: `${item.key} ${item.id}` }));
        },
      };
    });
  return [
    {
      name: '~created',
      read: async (after, limit) => {
        const children = await inspection.children(actor, { limit, ...(after !== undefined && { after }) });
        return children.map((child) => ({ ...child, place: placeOf(child) }));
      },
    },
    ...listed,
    {
      name: '~receipts',
      read: async (after, limit) => {
        if (actor.kind !== 'workflow-run') return [];
        const last = /^\d{1,15}$/.test(after ?? '') ? Number(after) : 0;
        const written = await rows(actor, 'receipts', { after: last, limit });
        return written.map(({ n, row }) => ({ ...workerOf(row), place: String(n) }));
      },
    },
  ];
}

type Reading = Pick<Supervisor, 'inspection' | 'list' | 'rows'>;

/** Who worked at an attempt; a step without a worker stands under its place, and no actor is called so. */
function workerOf(receipt: Json): ActorKey {
  const { sessionId, runId } = (receipt ?? {}) as { readonly sessionId?: Json; readonly runId?: Json };
  if (typeof sessionId === 'string') return { kind: 'session', id: sessionId };
  return { kind: 'workflow-run', id: typeof runId === 'string' ? runId : '' };
}

/** At most `limit` of each way. */
export async function childrenOf(supervisor: Reading, actor: ActorKey, limit: number): Promise<ActorKey[]> {
  const found = await Promise.all(
    sourcesOf(supervisor, actor).map((source) => source.read(undefined, limit)),
  );
  const all = found.flat().filter(({ id }) => id !== '');
  return [...new Map(all.map(({ kind, id }) => [`${kind}/${id}`, { kind, id }])).values()];
}

/** Some of those beneath an actor, and from where to go on. */
export interface ChildrenPage {
  readonly children: readonly StoredActor[];
  readonly next: string | null;
}

/**
 * The children of an actor, one page: each once, and under no other than its parent. At most a thousand records are
 * read for it, so a page may hold fewer than `limit` and still have a `next`.
 */
export async function childrenPage(
  supervisor: Reading,
  actor: ActorKey,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<ChildrenPage> {
  const sources = sourcesOf(supervisor, actor);
  let [name, after] = cursor === undefined ? [sources[0]?.name, undefined] : cut(cursor);
  const children: StoredActor[] = [];
  for (let read = 0; ;) {
    const n = sources.findIndex((source) => source.name === name);
    const source = sources[n];
    if (source === undefined) return { children, next: null };
    const wanted = limit - children.length;
    const page = await source.read(after, wanted);
    const stored = await supervisor.inspection.stored(page);
    for (const one of stored)
      if (one !== undefined && isChild(one, actor) && !children.some((known) => isSame(known, one)))
        children.push(one);
    read += page.length;
    after = page.at(-1)?.place;
    if (page.length < wanted) [name, after] = [sources[n + 1]?.name, undefined];
    if (children.length >= limit || read >= readMax)
      return {
        children,
        next: name === undefined ? null : `${name}${after === undefined ? '' : `|${after}`}`,
      };
  }
}

const readMax = 1_000;
const isSame = (a: ActorKey, b: ActorKey): boolean => a.kind === b.kind && a.id === b.id;
const isChild = (stored: StoredActor, actor: ActorKey): boolean => {
  const parent = parentOf(stored);
  return parent !== null && isSame(parent, actor);
};

function cut(cursor: string): readonly [string, string | undefined] {
  const at = cursor.indexOf('|');
  return at === -1 ? [cursor, undefined] : [cursor.slice(0, at), cursor.slice(at + 1)];
}

/** An actor and everything beneath it, at most `most`. */
export async function treeOf(supervisor: Reading, root: ActorKey, most: number): Promise<Set<string>> {
  const found = new Set([placeOf(root)]);
  for (let level: readonly ActorKey[] = [root]; level.length > 0 && found.size < most;) {
    const below = (await Promise.all(level.map((actor) => childrenOf(supervisor, actor, 1_000)))).flat();
    level = below.filter((actor) => !found.has(placeOf(actor))).slice(0, most - found.size);
    for (const actor of level) found.add(placeOf(actor));
  }
  return found;
}

export const placeOf = ({ kind, id }: ActorKey): string => `${kind}/${id}`;
