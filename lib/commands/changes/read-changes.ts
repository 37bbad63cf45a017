import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { isThere } from '../../home/atomic-file.js';
import type { App, GatewayActor } from '../app.js';
import { readFolder, scratchIn, type FolderState } from '../sessions/folder-state.js';
import { submodulesIn } from '../sessions/git.js';
import { presentSession } from '../sessions/read-session.js';
import { mergeOf, type Merge } from './merge-state.js';
import { turnsOf, type ChangedInTurn } from './turns-of.js';
import { workPlaceOf, type WorkPlace } from './work-place.js';

/**
 * What a session has changed: in a worktree against the commit at which its branch left the one that is checked out in
 * its repository, elsewhere against the last commit. The repository is only read.
 */
export interface Changes {
  readonly kind: 'worktree' | 'folder' | 'none';
  /** Absolute; null: git keeps nothing. */
  readonly folder: string | null;
  readonly branch: string | null;
  /** The commit that they are compared with; null: there is none yet. */
  readonly base: string | null;
  /** Changes with all that is shown here; what is done is done to what was seen. */
  readonly version: string;
  /** A turn runs: what it changes may change meanwhile. */
  readonly isWorking: boolean;
  readonly commits: readonly Commit[];
  readonly files: readonly ChangedFile[];
  readonly hasMoreFiles: boolean;
  /** Below the folder: repositories of their own. Nothing of what is in them is shown, committed or merged. */
  readonly within: readonly string[];
  /** Of a worktree alone. */
  readonly merge: Merge | null;
  /** What each turn changed, the latest first. */
  readonly turns: readonly ChangedInTurn[];
}

interface Commit {
  readonly commit: string;
  readonly subject: string;
  readonly author: string;
  readonly at: string;
}

export interface ChangedFile {
  /** Below the folder. */
  readonly path: string;
  readonly change: 'added' | 'changed' | 'removed' | 'renamed';
  /** What its name was, where git takes the two for one file. */
  readonly renamedFrom: string | null;
  /** Lines; null: no text. */
  readonly added: number | null;
  readonly removed: number | null;
  readonly isCommitted: boolean;
}

/** `await readChanges(app, 's1')`: refuses with CONFLICT, in git's own words, where git cannot read the folder. */
export async function readChanges(app: App, sessionId: string): Promise<Changes | Refusal> {
  const session = await presentSession(app, sessionId);
  if (isRefusal(session)) return session;
  const [turns, place] = await Promise.all([turnsOf(app, sessionId), workPlaceOf(app, session)]);
  const none: Changes = {
    kind: 'none',
    folder: null,
    branch: null,
    base: null,
    version: '',
    isWorking: isWorking(session),
    commits: [],
    files: [],
    hasMoreFiles: false,
    within: [],
    merge: null,
    turns,
  };
  if (place === undefined) return none;
  return withFolder(app, place, async (state) => {
    const base = await baseOf(place, state);
    const files = await filesSince(base, state);
    const merge = place.kind === 'worktree' ? await mergeOf(app, place, state) : null;
    return {
      ...none,
      kind: place.kind,
      folder: place.folder,
      branch: await branchOf(place),
      base: state.commit === null ? null : base,
      version: versionOf(base, state, merge),
      commits: base === state.committed ? [] : await commitsSince(base, state),
      files: files.slice(0, filesMax),
      hasMoreFiles: files.length > filesMax,
      within: [...new Set([...state.within, ...(await submodulesIn(place.folder, place.ask))])].slice(
        0,
        withinMax,
      ),
      merge,
    };
  });
}

/** What has changed in one file, as `git diff` shows it; `isCut`: it is longer. */
export async function readPatch(
  app: App,
  sessionId: string,
  path: string,
): Promise<{ readonly path: string; readonly patch: string; readonly isCut: boolean } | Refusal> {
  const session = await presentSession(app, sessionId);
  if (isRefusal(session)) return session;
  const place = await workPlaceOf(app, session);
  if (place === undefined)
    return refuse('NOT_FOUND', {}, 'The folder of this session is in no git repository.');
  return withFolder(app, place, async (state) => {
    const base = await baseOf(place, state);
    const { renamedFrom = null } = (await filesSince(base, state)).find((file) => file.path === path) ?? {};
    const names = [path, ...(renamedFrom === null ? [] : [renamedFrom])].map(literal);
    const text = await state.ask(
      'diff',
      ...plainDiff,
      ...asOne,
      '--relative',
      base,
      state.tree,
      '--',
      ...names,
    );
    if (text === '') return refuse('NOT_FOUND', { path }, 'This file has not changed.');
    return { path, patch: text.slice(0, patchCharsMax), isCut: text.length > patchCharsMax };
  });
}

/** No sign in the name of a file is a pattern. */
const literal = (path: string): string => `:(literal)${path}`;
const patchCharsMax = 256 * 1_024;
const filesMax = 1_000;
const withinMax = 100;
const commitsMax = 100;
/** A file that was moved is one file, if half of it is still the same. */
const asOne = ['--find-renames'];
const plainDiff = ['--no-color', '--no-ext-diff', '--no-textconv', '--submodule=short'];
const apart = ['--no-renames'];

async function withFolder<Value>(
  app: App,
  place: WorkPlace,
  read: (state: FolderState) => Promise<Value | Refusal>,
): Promise<Value | Refusal> {
  if (place.kind === 'worktree' && !(await isThere(join(place.folder, '.git'))))
    return refuse(
      'CONFLICT',
      { folder: place.folder },
      `Its working copy was removed while it rested; a message restores it from ${place.copy.branch}.`,
    );
  const scratch = await scratchIn(join(app.settings.home, 'tmp'));
  const { folder, level, folders } = place;
  const writes = [...(place.kind === 'folder' ? [] : (folders.writes ?? [])), scratch];
  try {
    return await read(await readFolder(app, { folder, level, folders: { ...folders, writes } }, scratch));
  } catch (error) {
    const said = error instanceof Error ? error.message : '';
    return refuse('CONFLICT', { folder }, `Git could not read the folder of this session: ${said}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The commit against which a session's changes are shown, or a tree with nothing in it. */
async function baseOf(place: WorkPlace, state: FolderState): Promise<string> {
  if (place.kind === 'folder') return state.committed;
  const head = (await place.origin.ask('rev-parse', '--verify', 'HEAD^{commit}')).trim();
  return (await state.ask('merge-base', head, state.committed)).trim();
}

async function branchOf(place: WorkPlace): Promise<string | null> {
  const name = await place.ask('symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => '');
  return name.trim() === '' ? null : name.trim();
}

async function commitsSince(base: string, state: FolderState): Promise<readonly Commit[]> {
  const format = '--format=%H%x00%s%x00%an%x00%aI';
  const text = await state.ask(
    'log',
    '-z',
    format,
    `--max-count=${commitsMax}`,
    `${base}..${state.committed}`,
  );
  const fields = text.split('\0');
  return Array.from({ length: Math.floor(fields.length / 4) }, (_, n) => {
    const [commit = '', subject = '', author = '', at = ''] = fields.slice(4 * n, 4 * n + 4);
    return { commit, subject, author, at: new Date(at).toISOString() };
  });
}

async function filesSince(base: string, state: FolderState): Promise<readonly ChangedFile[]> {
  const open = new Set(state.uncommitted);
  const found = await filesBy(asOne, base, state);
  // One half in a commit and the other not: they are decided on one by one
  const isTorn = ({ path, renamedFrom }: ChangedFile): boolean =>
    renamedFrom !== null && open.has(path) !== open.has(renamedFrom);
  const files = found.some(isTorn) ? await filesBy(apart, base, state) : found;
  // too large or too many for git to look at
  const others = [...state.others.keys()].map((path): ChangedFile => ({
    path,
    change: 'changed',
    renamedFrom: null,
    added: null,
    removed: null,
    isCommitted: false,
  }));
  return [...files, ...others];
}

async function filesBy(
  renames: readonly string[],
  base: string,
  state: FolderState,
): Promise<readonly ChangedFile[]> {
  const diff = (shape: string): Promise<string> =>
    state.ask('diff', ...plainDiff, ...renames, '--relative', shape, '-z', base, state.tree, '--', '.');
  const [lines, names] = await Promise.all([diff('--numstat'), diff('--name-status')]);
  const open = new Set(state.uncommitted);
  const kinds = new Map<string, ChangedFile['change']>();
  const words = names.split('\0').values();
  for (let letter = words.next(); !letter.done && letter.value !== ''; letter = words.next()) {
    const change = changeOf(letter.value);
    if (change === 'renamed') words.next(); // the name before
    kinds.set(words.next().value ?? '', change);
  }
  const files: ChangedFile[] = [];
  const parts = lines.split('\0').values();
  for (const line of parts) {
    const [added = '', removed = '', ...name] = line.split('\t');
    if (removed === '') continue; // the end
    const isMoved = name.join('') === '';
    const renamedFrom = isMoved ? (parts.next().value ?? null) : null;
    const path = isMoved ? (parts.next().value ?? '') : name.join('\t');
    files.push({
      path,
      change: kinds.get(path) ?? 'changed',
      renamedFrom,
      added: count(added),
      removed: count(removed),
      isCommitted: !open.has(path),
    });
  }
  return files;
}

const changeOf = (letter: string): ChangedFile['change'] =>
  letter === 'A' ? 'added' : letter === 'D' ? 'removed' : letter.startsWith('R') ? 'renamed' : 'changed';
const count = (text: string): number | null => (text === '-' ? null : Number(text));

function versionOf(base: string, state: FolderState, merge: Merge | null): string {
  const all = [base, state.committed, state.tree, [...state.others], merge?.head ?? null];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 32);
}

/** Is a turn under way, or about to be? */
export const isWorking = ({ view }: GatewayActor<'session'>): boolean =>
  !['idle', 'error', 'interrupted', 'stopped'].includes(view.status);
