import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ProgramError } from '../../../actors/start-program.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { GatewayActor } from '../app.js';
import type { Request } from '../request.js';
import { scratchIn } from '../sessions/folder-state.js';
import { git, nulEnded } from '../sessions/git.js';
import { bringBack } from '../sessions/keep-work.js';
import { presentSession } from '../sessions/read-session.js';
import { aloneInFolder } from '../sessions/worktree.js';
import { tipOf } from './merge-state.js';
import { isWorking, readChanges, type ChangedFile, type Changes } from './read-changes.js';
import { chosenPaths, handledByPrograms, workPlaceOf, type OwnWork, type WorkPlace } from './work-place.js';

/**
 * What a person does with the changes of a session that rests: commit, discard, merge. Each is done to what the person
 * has seen (`version`), by git, confined as the agent is. What git refuses leaves every folder as it was.
 */
export interface ChosenFiles {
  /** Of the changes that were read. */
  readonly version: string;
  /** Absent: all. */
  readonly paths?: readonly string[] | undefined;
}

/** Commits what is in no commit on the branch that is checked out. Answers the commit. */
export async function commitChanges(
  request: Request,
  sessionId: string,
  { message, ...chosen }: ChosenFiles & { readonly message: string },
): Promise<{ readonly commit: string } | Refusal> {
  return decide('commit', { request, sessionId, chosen }, async ({ place, files, changes }) => {
    if (changes.hasMoreFiles && chosen.paths === undefined) return tooMany;
    const paths = unsaved(files);
    if (paths.length === 0)
      return refuse('CONFLICT', {}, 'There is nothing to commit: every change is in a commit.');
    const unsupported = await handledByPrograms(place, paths);
    if (unsupported !== undefined) return refuse('CONFLICT', {}, unsupported);
    await addFiles(place, files);
    await commitOnly(place, paths, `${message}\n\nTroupe-Session: ${sessionId}`);
    const commit = (await place.ask('rev-parse', 'HEAD')).trim();
    await bringBack(request.app, sessionId, place.level);
    return { commit };
  });
}

/**
 * Takes files back to what they were before the session, in a folder that is a person's to what they are in the last
 * commit. What they are now is kept in the repository as a commit of its own, whose name is answered:
 * `git checkout <keptAs> -- <file>` brings a file back.
 */
export async function discardChanges(
  request: Request,
  sessionId: string,
  chosen: ChosenFiles,
): Promise<{ readonly keptAs: string; readonly count: number } | Refusal> {
  return decide('discard', { request, sessionId, chosen }, async ({ place, files, changes }) => {
    if (changes.hasMoreFiles && chosen.paths === undefined) return tooMany;
    if (files.length === 0) return refuse('CONFLICT', {}, 'There is nothing to discard.');
    const unnamed = changes.base === null ? await lacksCommit(place, chosen) : undefined;
    if (unnamed !== undefined) return refuse('CONFLICT', {}, unnamed);
    const paths = pathsOf(files);
    const unsupported = await handledByPrograms(place, paths);
    if (unsupported !== undefined) return refuse('CONFLICT', {}, unsupported);
    const keptAs = await keepAside(request, place, { sessionId, paths, base: changes.base });
    await addFiles(place, files);
    const before = changes.base ?? (await place.askOf([], 'hash-object', '-t', 'tree', '--stdin')).trim();
    await place.askOf(paths, 'restore', `--source=${before}`, '--staged', '--worktree', ...chosenPaths);
    if (place.kind === 'worktree') {
      const message = `Discard changes of session ${sessionId.slice(0, 8)}\n\nTroupe-Session: ${sessionId}`;
      const staged = (
        await place.ask('diff', '--cached', '--name-only', '--no-renames', '--no-ext-diff', '-z')
      ).split('\0');
      // of what the agent has staged beside them no one has decided
      const back = staged.filter(within(paths));
      if (back.length > 0) await commitOnly(place, back, message);
      await bringBack(request.app, sessionId, place.level);
    }
    return { keptAs, count: files.length };
  });
}

/** Where nothing is committed, what is taken back is deleted: also what is a person's own. Answers why it is not. */
async function lacksCommit(place: WorkPlace, { paths }: ChosenFiles): Promise<string | undefined> {
  const branches = await place.ask(
    'for-each-ref',
    '--count=1',
    '--format=%(refname)',
    'refs/heads',
    'refs/remotes',
  );
  if (branches.trim() !== '')
    return 'What is checked out has no commit, though the repository has others: check one out with git first.';
  return paths === undefined
    ? 'Nothing is committed yet, so all files would be deleted: name those that are to go.'
    : undefined;
}

export interface MergeRequest {
  readonly version: string;
  /** One commit with all changes, in place of those of the branch. */
  readonly squash: boolean;
  readonly message?: string | undefined;
}

/** Merges the branch of a session into the branch that is checked out in its repository. Answers the commit there. */
export async function mergeChanges(
  request: Request,
  sessionId: string,
  { version, squash, message }: MergeRequest,
): Promise<{ readonly commit: string; readonly into: string } | Refusal> {
  return decide('merge', { request, sessionId, chosen: { version } }, async ({ place, changes, session }) => {
    if (place.kind !== 'worktree' || changes.merge === null)
      return refuse(
        'CONFLICT',
        {},
        'This session has no branch of its own: its changes are in the folder already.',
      );
    const { state, reason, into, head, conflicts } = changes.merge;
    if (state === 'merged') return refuse('CONFLICT', {}, `${into} has all changes of this session already.`);
    if (state === 'conflicts')
      return refuse(
        'CONFLICT',
        { conflicts: conflicts.map(({ path }) => path) },
        `Nothing was merged: ${into} has changed the same lines of ${conflicts.length} files.`,
      );
    if (state === 'refused' || into === null) return refuse('CONFLICT', {}, reason ?? 'It cannot be merged.');
    const title = (session.view.title ?? '').replaceAll(/\p{Cc}+/gu, ' ').slice(0, 100);
    const subject =
      message ??
      (squash ? title || `Session ${sessionId.slice(0, 8)}` : `Merge ${place.copy.branch}: ${title}`);
    await bringBack(request.app, sessionId, place.level);
    const commit = await mergedCommit(place, {
      head,
      squash,
      message: `${subject}\n\nTroupe-Session: ${sessionId}`,
    });
    // Git looks first whether it would overwrite anything, and only then writes
    await place.origin.ask(
      'merge',
      '--ff-only',
      '--quiet',
      '--no-stat',
      '--no-autostash',
      '--no-verify-signatures',
      commit,
    );
    return { commit, into };
  });
}

/** The commit that the branch would be at. It is on none yet. */
async function mergedCommit(
  place: OwnWork,
  { head, squash, message }: { readonly head: string; readonly squash: boolean; readonly message: string },
): Promise<string> {
  const { ask } = place.origin;
  const tip = await tipOf(place);
  const isAhead = (await ask('merge-base', head, tip)).trim() === head;
  if (isAhead && !squash) return tip;
  const tree = (await ask('merge-tree', '--write-tree', '--no-messages', head, tip)).trim();
  const parents = squash ? ['-p', head] : ['-p', head, '-p', tip];
  return (await ask(...(await author(place.origin)), 'commit-tree', tree, ...parents, '-m', message)).trim();
}

interface Seen {
  readonly session: GatewayActor<'session'>;
  readonly place: WorkPlace;
  readonly changes: Changes;
  readonly files: readonly ChangedFile[];
}

/** The changes as they are now, where they are those that the person has seen and no turn is at work on them. */
async function seenChanges(
  { app }: Request,
  sessionId: string,
  { version, paths }: ChosenFiles,
): Promise<Seen | Refusal> {
  const session = await presentSession(app, sessionId);
  if (isRefusal(session)) return session;
  if (isWorking(session))
    return refuse('CONFLICT', {}, 'Its agent is at work there. Wait for the end of the turn, or stop it.');
  const place = await workPlaceOf(app, session);
  if (place === undefined)
    return refuse(
      'CONFLICT',
      {},
      'The folder of this session is in no git repository: nothing is kept of what was before.',
    );
  if (place.kind === 'folder' && place.isLinked)
    return refuse(
      'CONFLICT',
      {},
      `The repository of ${place.folder} lies elsewhere. Use git there yourself.`,
    );
  const changes = await readChanges(app, sessionId);
  if (isRefusal(changes)) return changes;
  if (changes.version !== version)
    return refuse(
      'VERSION_CONFLICT',
      { version: changes.version },
      'The changes are others by now. Read them again.',
    );
  const unknown = paths?.find((path) => !changes.files.some((file) => file.path === path));
  if (unknown !== undefined)
    return refuse('BAD_REQUEST', { path: 'paths' }, `${unknown} is no changed file.`);
  if ((await place.ask('ls-files', '--unmerged').catch(() => '')) !== '')
    return refuse('CONFLICT', {}, `A merge is under way in ${place.folder}. Finish it there first.`);
  const files = changes.files.filter(({ path }) => paths === undefined || paths.includes(path));
  return { session, place, changes, files };
}

interface Decision {
  readonly request: Request;
  readonly sessionId: string;
  readonly chosen: ChosenFiles;
}

/** What was seen stays so until it is done: a turn that would begin waits, and so do other decisions. */
const decide = <Value>(
  what: string,
  { request, sessionId, chosen }: Decision,
  action: (seen: Seen) => Promise<Value | Refusal>,
): Promise<Value | Refusal> =>
  aloneInFolder(request.app, sessionId, async () => {
    const seen = await seenChanges(request, sessionId, chosen);
    return isRefusal(seen) ? seen : attempt(what, seen.place, () => action(seen));
  });

/** Where git says no, its own words: which files of a person it would have overwritten stands above its last line. */
async function attempt<Value>(
  what: string,
  { folder }: WorkPlace,
  action: () => Promise<Value | Refusal>,
): Promise<Value | Refusal> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Error && error.cause instanceof ProgramError)) throw error;
    const said = error.cause.stderr.slice(0, 1_000) || 'it was ended';
    return refuse('CONFLICT', { folder }, `Git could not ${what}: ${said}`);
  }
}

/** A commit of its own with the files as they are now, on no branch. */
async function keepAside(
  { app }: Request,
  place: WorkPlace,
  {
    sessionId,
    paths,
    base,
  }: { readonly sessionId: string; readonly paths: readonly string[]; readonly base: string | null },
): Promise<string> {
  const { folder, level, folders } = place;
  const scratch = await scratchIn(join(app.settings.home, 'tmp'));
  try {
    const at = {
      folder,
      level,
      folders: { ...folders, writes: [...(folders.writes ?? []), scratch] },
      aside: { index: join(scratch, 'index') },
    };
    const parent = base === null ? [] : ['-p', (await place.ask('rev-parse', 'HEAD')).trim()];
    await git(app, { ...at, args: ['read-tree', parent.at(-1) ?? '--empty'] });
    const stdin = nulEnded(paths);
    const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
    await git(app, { ...at, args, stdin });
    const tree = (await git(app, { ...at, args: ['write-tree'] })).trim();
    const message = `Discarded of session ${sessionId.slice(0, 8)}`;
    const commit = await place.ask(...(await author(place)), 'commit-tree', tree, ...parent, '-m', message);
    const keptAs = `refs/troupe/discarded/${sessionId.slice(0, 8)}-${app.supervisor.environment.clock.now()}`;
    await place.ask('update-ref', keptAs, commit.trim());
    return keptAs;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What else stands in the index stays there. */
async function commitOnly(
  { ask, askOf }: WorkPlace,
  paths: readonly string[],
  message: string,
): Promise<void> {
  const commit = [...(await author({ ask })), 'commit', ...plainCommit, '--only', '-m', message];
  await askOf(paths, ...commit, ...chosenPaths);
}

/** Is a path one of these, or below one of these? */
function within(paths: readonly string[]): (path: string) => boolean {
  const chosen = new Set(paths);
  return (path) =>
    path.split('/').some((_part, n, parts) => chosen.has(parts.slice(0, parts.length - n).join('/')));
}

const tooMany = refuse(
  'CONFLICT',
  {},
  'These are too many files to decide on at once. Name them, or use git.',
);

const unsaved = (files: readonly ChangedFile[]): readonly string[] =>
  pathsOf(files.filter(({ isCommitted }) => !isCommitted));

/** Of a file that was moved, both names. */
const pathsOf = (files: readonly ChangedFile[]): readonly string[] =>
  files.flatMap(({ path, renamedFrom }) => (renamedFrom === null ? [path] : [path, renamedFrom]));

/** Those in no commit. What is removed in the index already git would not find: there it comes back first. */
async function addFiles({ askOf }: Pick<WorkPlace, 'askOf'>, files: readonly ChangedFile[]): Promise<void> {
  const open = files.filter(({ isCommitted }) => !isCommitted);
  const gone = open.flatMap(({ path, change, renamedFrom }) =>
    change === 'removed' ? [path] : (renamedFrom ?? []),
  );
  if (gone.length > 0) await askOf(gone, 'reset', '--quiet', ...chosenPaths);
  if (open.length > 0) await askOf(pathsOf(open), 'add', '--all', ...chosenPaths);
}

const plainCommit = ['--quiet', '--no-verify', '--no-gpg-sign'];

/** As the repository says, else as Troupe: the settings of this machine are not read. */
async function author({ ask }: Pick<WorkPlace, 'ask'>): Promise<readonly string[]> {
  const isSet = await Promise.all(
    ['user.name', 'user.email'].map((name) => ask('config', '--get', name)),
  ).then(
    () => true,
    () => false,
  );
  return isSet ? [] : ['-c', 'user.name=Troupe', '-c', 'user.email=troupe@localhost'];
}
