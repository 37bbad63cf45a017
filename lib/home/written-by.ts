import type { Kind } from '../../actors/contracts.js';
import { StoreError, type Store } from '../store/contract.js';
import { keys } from '../store/keys.js';

/** Which build opened the home last, and how new its kinds are. */
interface WrittenBy {
  readonly troupe: string;
  readonly kinds: Readonly<Record<string, number>>;
}

/**
 * Notes that this build opens the home; rejects with REFUSED where a newer one has: its actors could not be read here,
 * and what is written now would be lists without them.
 * @example await noteBuild(store, kinds, version)
 */
export async function noteBuild(store: Store, kinds: readonly Kind[], troupe: string): Promise<void> {
  const text = await store.get(key);
  const before = text === undefined ? undefined : (JSON.parse(text) as WrittenBy);
  const newer = kinds.filter(({ kind, version }) => (before?.kinds[kind] ?? 0) > version);
  if (before !== undefined && newer.length > 0)
    throw new StoreError(
      'REFUSED',
      `Troupe ${before.troupe} has written this home in newer versions of ` +
        `${newer.map(({ kind, version }) => `${kind} (${before.kinds[kind]}, here ${version})`).join(', ')}. ` +
        `Troupe ${before.troupe} or a newer one can read it. To go back to this version, use "troupe migrate --undo" ` +
        'of that one, or restore a backup of before the upgrade.',
    );
  const now: WrittenBy = {
    troupe,
    // Kinds of modules that are switched off for now keep theirs
    kinds: { ...before?.kinds, ...Object.fromEntries(kinds.map(({ kind, version }) => [kind, version])) },
  };
  const row = JSON.stringify(now);
  if (row === text) return;
  const { seq, chain } = store.head;
  await store.write({ first: seq + 1, last: seq, chain, ops: [[key, row]] });
}

const key = keys.meta('home/written-by');
