import { contentHash, readPlainFile, writeAtomically } from '../../home/atomic-file.js';
import { HomeError } from '../../home/home-error.js';

/**
 * `skills.json`, the list of where skills came from, which other tools write too: an array of entries with a
 * name, an object with such an array under `skills`, or an object whose members are the names. Entries are
 * removed from it here and nothing else is touched; a manifest that cannot be read stays as it is.
 */
export async function forgetSkill(path: string, name: string): Promise<void> {
  for (let tries = 0; tries < 3; tries += 1) {
    const bytes = await readPlainFile(path, manifestBytesMax).catch(() => undefined);
    const text = bytes?.toString('utf8');
    const rest = text === undefined ? undefined : without(text, name);
    if (bytes === undefined || rest === undefined) return;
    try {
      return await writeAtomically(path, rest, { mode: 0o600, unlessChangedFrom: contentHash(bytes) });
    } catch (error) {
      if (!(error instanceof HomeError) || error.code !== 'CHANGED_MEANWHILE') throw error;
    }
  }
}

const manifestBytesMax = 2 ** 20;

/**
 * The manifest without that skill; undefined when there is nothing to change, or nothing that can be
 * understood.
 */
function without(text: string, name: string): string | undefined {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    return undefined; // people's own, or torn: not ours to repair
  }
  const rest = pruned(manifest, name);
  return rest === undefined ? undefined : `${JSON.stringify(rest, null, 2)}\n`;
}

function pruned(manifest: unknown, name: string): unknown {
  if (Array.isArray(manifest)) {
    const rest = manifest.filter((entry) => nameOf(entry) !== name);
    return rest.length === manifest.length ? undefined : rest;
  }
  if (typeof manifest !== 'object' || manifest === null) return undefined;
  const members = Object.entries(manifest);
  const listed = members
    .map(([key, value]) => [key, key === 'skills' ? pruned(value, name) : undefined] as const)
    .find(([, value]) => value !== undefined);
  if (listed)
    return Object.fromEntries(members.map(([key, value]) => [key, key === listed[0] ? listed[1] : value]));
  if (name === 'skills' || !Object.hasOwn(manifest, name)) return undefined;
  return Object.fromEntries(members.filter(([key]) => key !== name));
}

const nameOf = (entry: unknown): unknown =>
  typeof entry === 'string' ? entry : (entry as { name?: unknown } | null)?.name;
