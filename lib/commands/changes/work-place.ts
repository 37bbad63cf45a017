import { basename, dirname, join } from 'node:path';
import type { SandboxLevel } from '../../../actors/sandbox/levels.js';
import type { CommandFolders } from '../../../actors/sandbox/sandbox.js';
import { copyOf, type OwnCopy } from '../../home/clones.js';
import type { App, GatewayActor } from '../app.js';
import { git, nulEnded } from '../sessions/git.js';
import { repositoryOf } from '../sessions/repository.js';

/**
 * Where a session's changes lie, and how git is asked there: always confined as its agent is. Which folders git may
 * write beside is never the word of something that an agent can write: the copy's own record says it, or the folder
 * above in which `.git` lies.
 */
export type WorkPlace = OwnWork | FolderWork;

/** A working copy of its own, on a branch of its own, of a repository of a person. */
export interface OwnWork extends GitPlace {
  readonly kind: 'worktree';
  readonly copy: OwnCopy & { readonly branch: string };
  /** The repository: git there, and the folder of its own checkout; undefined: it has none. */
  readonly origin: GitPlace & { readonly checkout: string | undefined };
}

/** A folder that git keeps anyway. `isLinked`: its repository lies elsewhere. */
export interface FolderWork extends GitPlace {
  readonly kind: 'folder';
  readonly isLinked: boolean;
}

interface GitPlace {
  readonly folder: string;
  readonly level: SandboxLevel;
  readonly folders: CommandFolders;
  /** The repository itself; undefined: git finds it. */
  readonly gitDir?: string | undefined;
  readonly ask: (...args: string[]) => Promise<string>;
  /** The same of paths, of which there may be more than fit on a command line. */
  readonly askOf: (paths: readonly string[], ...args: string[]) => Promise<string>;
}

/** For `askOf`, where git takes paths to choose by. */
export const chosenPaths = ['--pathspec-from-file=-', '--pathspec-file-nul'];

/** Undefined where git keeps nothing. */
export async function workPlaceOf(
  app: App,
  { id, view }: GatewayActor<'session'>,
): Promise<WorkPlace | undefined> {
  const level = levelOf(app, view);
  const { cwd } = view;
  if (view.worker !== null || view.workerLabels.length > 0) return undefined; // a folder of another machine
  const copy = await copyOf(app.settings.home, id);
  if (copy?.branch != null && cwd === join(app.settings.home, 'work', id)) {
    const { origin, branch, isClone } = copy;
    const checkout = basename(origin) === '.git' ? dirname(origin) : undefined;
    return {
      kind: 'worktree',
      copy: { origin, branch, isClone },
      ...gitPlace(app, { folder: cwd, level, folders: { origin: { path: origin, isWritable: !isClone } } }, [
        `--work-tree=${cwd}`,
      ]),
      origin: {
        ...gitPlace(
          app,
          {
            folder: checkout ?? origin,
            level,
            folders: { origin: { path: origin, isWritable: true }, reads: [cwd] },
          },
          [`--git-dir=${origin}`, ...(checkout === undefined ? [] : [`--work-tree=${checkout}`])],
        ),
        checkout,
      },
    };
  }
  const found = await repositoryOf(cwd);
  if (found === undefined) return undefined;
  const top = found.isOwn ? found.top : undefined;
  return {
    kind: 'folder',
    isLinked: top === undefined,
    ...gitPlace(
      app,
      {
        folder: cwd,
        level,
        folders: top === undefined ? {} : { writes: [top] },
        gitDir: top === undefined ? undefined : join(top, '.git'),
      },
      top === undefined ? [] : [`--work-tree=${top}`],
    ),
  };
}

/** Paths are paths, whatever signs stand in them. */
function gitPlace(app: App, at: Omit<GitPlace, 'ask' | 'askOf'>, place: readonly string[] = []): GitPlace {
  const before = ['--literal-pathspecs', ...place];
  return {
    ...at,
    ask: (...args) => git(app, { ...at, args: [...before, ...args] }),
    askOf: (paths, ...args) => git(app, { ...at, args: [...before, ...args], stdin: nulEnded(paths) }),
  };
}

/** How the programs of a session are confined. */
export function levelOf(
  app: App,
  { employee, confinedAs }: Pick<GatewayActor<'session'>['view'], 'employee' | 'confinedAs'>,
): SandboxLevel {
  return app.sandbox?.levelOf(employee === null ? confinedAs : [employee, ...confinedAs]) ?? 'off';
}

/**
 * Some files are not stored as they lie in the folder, or are merged by a program (`.gitattributes`: large files,
 * encrypted ones). Such programs are never started here, so these files would come out as something else: they are a
 * person's to handle. Answers why, or undefined where there are none among `paths`.
 */
export async function handledByPrograms(
  place: Pick<GitPlace, 'askOf'>,
  paths: readonly string[],
): Promise<string | undefined> {
  const fields = (await place.askOf(paths, 'check-attr', '-z', '--stdin', 'filter', 'merge')).split('\0');
  for (let n = 0; n + 2 < fields.length; n += 3) {
    const [path = '', attribute = '', value = ''] = fields.slice(n, n + 3);
    if (!builtIn.has(value))
      return `${path} has "${attribute}=${value}": a program that Troupe does not start. Use git yourself.`;
  }
  return undefined;
}

const builtIn: ReadonlySet<string> = new Set(['unspecified', 'unset', 'set', 'text', 'binary', 'union']);
