import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findExecutable } from '../engines/executable.js';
import { findAgentMark, type AgentMark } from '../engines/process/agent-mark.js';
import { bubblewrapCommand } from './bubblewrap.js';
import { isWithin, type SandboxLevel } from './levels.js';
import { isInside, mountsOf, type Mount, type Places } from './mounts.js';
import { findPlaces, foldersOfProgram, real } from './places.js';
import { seatbeltCommand, seatbeltProfile } from './seatbelt.js';
import { findSystemProgram } from './system-program.js';
import { findSandboxTool, type SandboxTool } from './tool.js';

/**
 * The port through which every program of an agent goes before it is started. It answers data: what to start
 * in place of the command, and what will be seen there. Who hosts the turn starts it, and it dies with that.
 */
export interface Sandbox {
  /** What holds for work that asks for a level, on this machine, now. */
  inForce(asked: SandboxLevel): Promise<InForce>;
  /** Whether memory is bounded here: of a turn as a whole, of each of its processes, or not. */
  memoryBound(): Promise<'turn' | 'process' | 'none'>;
  /**
   * The command as it is to be started. Rejects with a `ConfineError` where the folder is not what it was, or
   * where what is asked for is required and cannot be had.
   */
  confine(command: Command, asked: SandboxLevel): Promise<Confined>;
}

export interface InForce {
  readonly level: SandboxLevel;
  /** Less than was asked for: why, and what to do about it. */
  readonly lacking?: { readonly reason: string; readonly remedy: string };
  /** Nothing may be started: confinement is required. */
  readonly isRefused: boolean;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whose agent it is. Its processes carry the mark of that session, at every level. */
  readonly sessionId?: string;
  readonly folders?: CommandFolders;
  /** Its socket to the gateway, at `strict`, and what is reached through it. */
  readonly link?: { readonly socket: string; readonly ports: readonly number[]; readonly proxyPort: number };
}

/** Beside its working folder. Absolute; what is not there is left out. */
export interface CommandFolders {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Replaced by an empty folder of its own. */
  readonly privates?: readonly string[];
  /** The same where the sandbox can show another folder in the place of one; else they stay writable. */
  readonly scratch?: readonly string[];
  /**
   * The repository that its working folder is a copy of. Other agents may write around it: where it is not the folder
   * that it was, or a link leads to it, nothing is started.
   */
  readonly origin?: { readonly path: string; readonly isWritable: boolean };
  /** Files whose copy it gets at `workspace`: what it changes in them is gone afterwards. */
  readonly copies?: readonly string[];
}

export interface Confined {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly level: SandboxLevel;
  /** Empty when nothing is confined. */
  readonly mounts: readonly Mount[];
  /** For who starts it to count: nothing here bounds how many processes and threads it has at once. */
  readonly processesMax?: number;
}

export interface SandboxOptions {
  /** What no agent may see: the gateway's home, keys. Looked at each time. */
  readonly hidden: () => Promise<readonly string[]>;
  /** Folders within those whose folders are the working folders of one agent each. */
  readonly ownFolders: readonly string[];
  /** Refuse whatever cannot be confined as asked. */
  readonly isRequired: () => boolean;
  /** Programs that the gateway starts or loads: no agent writes them. Names on the PATH, or absolute paths. */
  readonly programs?: () => readonly string[];
  /** Processes of one command at once. Default 512. */
  readonly processesMax?: number;
  /** Of a turn, or of each of its processes where no scope can be made. Undefined: not bounded. */
  readonly memoryBytesMax?: () => number | undefined;
  readonly tool?: () => Promise<SandboxTool>;
}

export class ConfineError extends Error {
  override readonly name = 'ConfineError';
}

/** Folder of this package: no agent writes the program that judges it. */
const ownProgram = fileURLToPath(new URL('../../..', import.meta.url));
const linkProgram = fileURLToPath(new URL('./link-main.js', import.meta.url));

/** `const sandbox = createSandbox({hidden: async () => [layout.home], ownFolders: [layout.work], isRequired: () => false})` */
export function createSandbox(options: SandboxOptions): Sandbox {
  const findTool = options.tool ?? findSandboxTool;
  let tool: Promise<SandboxTool> | undefined;
  const found = (): Promise<SandboxTool> => (tool ??= findTool());
  // each time: a socket, a startup file may be there since a moment ago
  const present = async (): Promise<Places> =>
    findPlaces({
      hidden: await options.hidden(),
      program: ownProgram,
      programs: options.programs?.() ?? [],
    });

  let mark: Promise<AgentMark | undefined> | undefined;
  async function marking({ sessionId }: Command): Promise<readonly string[]> {
    if (sessionId === undefined || process.platform !== 'linux') return [];
    mark ??= findSystemProgram('prlimit').then(findAgentMark);
    return (await mark)?.wordsFor(sessionId) ?? [];
  }

  async function inForce(asked: SandboxLevel): Promise<InForce> {
    if (asked === 'off') return { level: 'off', isRefused: false };
    const known = await found();
    const refused = options.isRequired();
    if (known.name === null) {
      const { reason, remedy } = known;
      return { level: 'off', lacking: { reason, remedy }, isRefused: refused };
    }
    if (asked === 'strict' && known.name !== 'bubblewrap')
      return {
        level: 'workspace',
        lacking: {
          reason: 'strict needs a network namespace, which only Linux has.',
          remedy: 'Set agents.sandbox to workspace, or run the gateway on Linux.',
        },
        isRefused: refused,
      };
    return { level: asked, isRefused: false };
  }

  return {
    inForce,
    async memoryBound() {
      const known = await found();
      if (known.name !== 'bubblewrap' || options.memoryBytesMax?.() === undefined) return 'none';
      return known.scope !== undefined ? 'turn' : known.prlimit !== undefined ? 'process' : 'none';
    },
    async confine(command, asked) {
      const { level, isRefused, lacking } = await inForce(asked);
      if (isRefused)
        throw new ConfineError(
          `The sandbox level "${asked}" is required and not available: ${lacking?.reason} ${lacking?.remedy}`,
        );
      const file = await findExecutable(command.program, command.env['PATH'] ?? process.env['PATH']);
      const known = await found();
      const mark = await marking(command);
      // a program that is not there fails in its own words, not in those of the sandbox
      if (level === 'off' || file === undefined || known.name === null) {
        const before = file === undefined ? [] : mark;
        const [program = command.program, ...args] = [...before, command.program, ...command.args];
        return { ...command, program, args, level, mounts: [] };
      }
      const at = await present();
      const cwd = await ownFolder(command.cwd, level, at, await realOf(options.ownFolders));
      const isMac = known.name === 'sandbox-exec';
      const folders = command.folders ?? {};
      const { scratch = [], privates = [], copies = [], origin } = folders;
      const origins = origin === undefined ? [] : await unmoved(origin.path);
      const isEmptied = isWithin(level, 'workspace') && !isMac;
      // where the user's own folder is not emptied, a copy has no place: the file is read as it is
      const copied = isEmptied ? await realOf(copies) : [];
      const uncopied = isEmptied ? [] : await realOf(copies);
      const mounts = mountsOf(level, at, {
        cwd,
        reads: await realOf([
          ...(isWithin(level, 'workspace') ? await foldersOfProgram(file) : []),
          ...(folders.reads ?? []),
          ...(origin?.isWritable === true ? [] : origins),
          ...(isMac ? [] : uncopied),
          ...(command.link === undefined ? [] : [command.link.socket]),
        ]),
        writes: await realOf([
          ...(folders.writes ?? []),
          ...(origin?.isWritable === true ? origins : []),
          ...(isMac ? [...scratch, ...uncopied] : []),
        ]),
        privates: isMac && level === 'home' ? [] : await realOf([...privates, ...(isMac ? [] : scratch)]),
      });
      const processesMax = options.processesMax ?? 512;
      const isBounded =
        known.name === 'bubblewrap' &&
        (known.scope !== undefined || (known.prlimit !== undefined && known.countsProcesses));
      const isOffline = level === 'strict';
      const judged = async (path: string, folder = path) => [path, await identity(folder)] as const;
      const same =
        known.name !== 'bubblewrap' || known.stat === undefined
          ? undefined
          : {
              stat: known.stat,
              folders: await Promise.all([judged('.', cwd), ...origins.map((path) => judged(path))]),
            };
      const line = [...(isOffline ? linkCommand(command) : []), command.program, ...command.args];
      const wrapped =
        known.name === 'sandbox-exec'
          ? seatbeltCommand(seatbeltProfile(mounts, command.env['TMPDIR']), line)
          : bubblewrapCommand(known.path, line, {
              mounts,
              cwd,
              isOffline,
              env: known.env,
              bounds: {
                prlimit: known.prlimit,
                scope: known.scope,
                processesMax,
                countsProcesses: known.countsProcesses,
                memoryBytesMax: options.memoryBytesMax?.(),
              },
              copies: copied.map((path, n) => [`/run/troupe/${n}`, path]),
              same,
            });
      const [program = command.program, ...args] = [...mark, ...wrapped];
      return {
        program,
        args,
        cwd: isEmptied ? '/' : cwd,
        env: { ...command.env, ...(isEmptied ? { TMPDIR: '/tmp' } : {}) },
        level,
        mounts,
        ...(known.name === 'bubblewrap' && !isBounded ? { processesMax } : {}),
      };
    },
  };
}

/**
 * The working folder, where it really is. An agent that may write the folder above could have put a link in
 * its place since the session was opened: into the gateway's home, or beside its own.
 */
async function ownFolder(
  given: string,
  level: SandboxLevel,
  { hidden }: Places,
  ownFolders: readonly string[],
): Promise<string> {
  const cwd = await real(given);
  if (cwd === undefined) throw new ConfineError(`The working folder ${given} does not exist.`);
  const around = await real(dirname(given));
  const isReplaced = cwd !== join(around ?? '/', basename(given));
  if (hidden.some(({ path }) => isInside(cwd, path))) {
    const isOwn = ownFolders.some((folder) => cwd !== folder && isInside(cwd, folder));
    if (isReplaced || !isOwn)
      throw new ConfineError(`The working folder ${given} lies in a folder that agents must not see.`);
  } else if (cwd !== given && isWithin(level, 'workspace')) {
    throw new ConfineError(`The working folder ${given} was replaced by a link to ${cwd}.`);
  }
  return cwd;
}

/** A repository where it was: neither it nor a folder above it has become a link since. Empty where it is gone. */
async function unmoved(path: string): Promise<readonly string[]> {
  const now = await real(path);
  if (now === undefined) return [];
  if (now !== path) throw new ConfineError(`The repository ${path} was replaced by a link to ${now}.`);
  return [now];
}

/** Device and inode of a folder, and that it is this one: no link leads there while it is looked at. */
async function identity(folder: string): Promise<string> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    () => undefined,
  );
  try {
    const at = handle && (await real(`/proc/self/fd/${handle.fd}`));
    if (handle === undefined || at !== folder)
      throw new ConfineError(`The working folder ${folder} was replaced.`);
    const { dev, ino } = await handle.stat({ bigint: true });
    return `${dev}:${ino}`;
  } finally {
    await handle?.close();
  }
}

const realOf = async (paths: readonly string[]): Promise<readonly string[]> =>
  (await Promise.all(paths.map(real))).filter((path) => path !== undefined);

/** At `strict` a small program of ours carries loopback connections over the session's socket. */
function linkCommand({ link }: Command): readonly string[] {
  if (link === undefined) return [];
  return [process.execPath, linkProgram, link.socket, String(link.proxyPort), link.ports.join(','), '--'];
}
