import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ProgramError } from '../../../actors/start-program.js';
import type { App } from '../app.js';
import { scratchIn, type FolderState } from '../sessions/folder-state.js';
import { git } from '../sessions/git.js';
import { handledByPrograms, type OwnWork } from './work-place.js';

/**
 * Could the branch of a session be merged into the one that is checked out in its repository, and what stands against
 * it. Git merges the two as data: no folder is touched, and what it makes of them lies aside.
 */
export interface Merge {
  /** - `ready`: it can be merged.
   *  - `merged`: there is nothing that the other branch does not have.
   *  - `conflicts`: both have changed the same lines.
   *  - `refused`: something else has to be done first; `reason` says what. */
  readonly state: 'ready' | 'merged' | 'conflicts' | 'refused';
  readonly reason: string | null;
  /** The checkout that it would go into, and its branch. */
  readonly repository: string;
  readonly into: string | null;
  /** The commit that is checked out there. */
  readonly head: string;
  readonly conflicts: readonly Conflict[];
}

interface Conflict {
  readonly path: string;
  /** The lines that differ, between git's marks; empty: no text, or one side has removed it. */
  readonly text: string;
}

export async function mergeOf(app: App, place: OwnWork, state: FolderState): Promise<Merge> {
  const { origin, copy } = place;
  const head = (await origin.ask('rev-parse', '--verify', 'HEAD^{commit}')).trim();
  const into = (await origin.ask('symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => '')).trim();
  const merge: Merge = {
    state: 'refused',
    reason: null,
    repository: origin.checkout ?? copy.origin,
    into: into === '' ? null : into,
    head,
    conflicts: [],
  };
  if (origin.checkout === undefined)
    return {
      ...merge,
      reason: `${copy.origin} has no checkout of its own. Merge ${copy.branch} where you have one.`,
    };
  if (into === '')
    return { ...merge, reason: `${origin.checkout} has no branch checked out. Check one out first.` };
  if (state.uncommitted.length > 0)
    return { ...merge, reason: 'There are changes in no commit. Commit or discard them first.' };
  const tip = await tipOf(place);
  if (tip !== state.commit)
    return {
      ...merge,
      reason: `The folder is not on its branch ${copy.branch} any more. Merge what you want by hand.`,
    };
  if ((await place.ask('merge-base', head, tip)).trim() === tip) return { ...merge, state: 'merged' };
  const paths = (await place.ask('diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', head, tip))
    .split('\0')
    .filter(Boolean);
  const unsupported = (await handledByPrograms(origin, paths)) ?? (await handledByPrograms(place, paths));
  if (unsupported !== undefined) return { ...merge, reason: unsupported };
  const tried = await tryMerge(app, place, { head, tip, into });
  if (tried.conflicts.length > 0) return { ...merge, state: 'conflicts', conflicts: tried.conflicts };
  const before = (await origin.ask('rev-parse', `${head}^{tree}`)).trim();
  if (tried.tree === before) return { ...merge, state: 'merged' };
  return { ...merge, state: 'ready' };
}

/** Where the branch of the session stands in the folder that it works in. */
export const tipOf = async ({ ask, copy }: OwnWork): Promise<string> =>
  (await ask('rev-parse', '--verify', `refs/heads/${copy.branch}^{commit}`).catch(() => '')).trim();

/** The tree that comes of both; with conflicts it holds git's marks. A clone reads the repository's objects, too. */
async function tryMerge(
  app: App,
  place: OwnWork,
  { head, tip, into }: { readonly head: string; readonly tip: string; readonly into: string },
): Promise<{ readonly tree: string; readonly conflicts: readonly Conflict[] }> {
  const scratch = await scratchIn(join(app.settings.home, 'tmp'));
  const { folder, level, folders } = place;
  try {
    const borrowed = (await place.ask('rev-parse', '--path-format=absolute', '--git-path', 'objects')).trim();
    const aside = { index: join(scratch, 'index'), objects: { folder: join(scratch, 'objects'), borrowed } };
    const at = {
      folder,
      level,
      folders: { ...folders, writes: [...(folders.writes ?? []), scratch] },
      aside,
    };
    const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', head, tip];
    const [tree = '', ...names] = (await git(app, { ...at, args }).catch(conflicting)).split('\0');
    const paths = [...new Set(names.filter((name) => name !== ''))].slice(0, conflictsMax);
    const conflicts: Conflict[] = [];
    for (const path of paths) {
      const text = await git(app, { ...at, args: ['cat-file', 'blob', `${tree}:${path}`] }).catch(() => '');
      conflicts.push({ path, text: conflictsIn(text, [into, place.copy.branch]) });
    }
    return { tree, conflicts };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** With exit code 1 git answers all the same: there are conflicts. */
function conflicting(error: Error): string {
  const { cause } = error;
  if (cause instanceof ProgramError && cause.exitCode === 1 && cause.stdout !== '') return cause.stdout;
  throw error;
}

/** What lies between git's marks, which name the two branches. */
function conflictsIn(text: string, [into, branch]: readonly [string, string]): string {
  if (text.includes('\0')) return '';
  const lines: string[] = [];
  let isWithin = false;
  for (const line of text.split('\n')) {
    const begins = line.startsWith('<<<<<<< ');
    const ends = line.startsWith('>>>>>>> ');
    isWithin ||= begins;
    if (isWithin) lines.push(begins ? `<<<<<<< ${into}` : ends ? `>>>>>>> ${branch}` : line);
    if (ends) isWithin = false;
  }
  return lines.join('\n').slice(0, conflictCharsMax);
}

const conflictsMax = 50;
const conflictCharsMax = 16 * 1_024;
