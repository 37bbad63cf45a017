import type { ActorKey, Json } from '../../machines/outputs.js';
import type { StoredActor } from '../supervisor/inspection-answers.js';
import type { Supervisor } from '../supervisor/contract.js';

/**
 * Who stands above and beneath an actor. Created under another is one way; the other are the lists that a kind
 * keeps of itself, by convention: `parent` (of its own kind) and those that are called like the kind they
 * belong to.
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

function named(
  kind: string,
  { parentSessionId, parentId, workItemId }: Readonly<Record<string, Json>>,
): ActorKey | null {
  if (kind === 'session' && typeof parentSessionId === 'string') return { kind, id: parentSessionId };
  if (typeof parentId === 'string') return { kind, id: parentId };
  return kind !== 'work-item' && typeof workItemId === 'string'
    ? { kind: 'work-item', id: workItemId }
    : null;
}

/** At most `limit` of each way. */
export async function childrenOf(
  { inspection, list }: Pick<Supervisor, 'inspection' | 'list'>,
  actor: ActorKey,
  limit: number,
): Promise<ActorKey[]> {
  const lists = inspection
    .kinds()
    .filter(({ definition }) => definition.index !== undefined)
    .map(({ kind }) => ({ kind, index: kind === actor.kind ? 'parent' : actor.kind }));
  const [spawned, ...listed] = await Promise.all([
    inspection.children(actor, limit),
    ...lists.map(async ({ kind, index }) =>
      (await list(kind, { index, prefix: `${actor.id}/`, limit, reverse: true })).items.map(({ id }) => ({
        kind,
        id,
      })),
    ),
  ]);
  const all = new Map([...spawned, ...listed.flat()].map((key) => [`${key.kind}/${key.id}`, key]));
  return [...all.values()];
}

/** An actor and everything beneath it, at most `most`. */
export async function treeOf(
  supervisor: Pick<Supervisor, 'inspection' | 'list'>,
  root: ActorKey,
  most: number,
): Promise<Set<string>> {
  const found = new Set([placeOf(root)]);
  for (let level: readonly ActorKey[] = [root]; level.length > 0 && found.size < most;) {
    const below = (await Promise.all(level.map((actor) => childrenOf(supervisor, actor, 1_000)))).flat();
    level = below.filter((actor) => !found.has(placeOf(actor))).slice(0, most - found.size);
    for (const actor of level) found.add(placeOf(actor));
  }
  return found;
}

export const placeOf = ({ kind, id }: ActorKey): string => `${kind}/${id}`;
