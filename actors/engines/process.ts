import type { ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { startProgram } from '../start-program.js';
import { childEnvironment } from './process/environment.js';
import { defaultGraces, terminate, type Graces } from './process/terminate.js';
import { follow } from './process/follow.js';
import { noteHere, type SpawnNote } from './process/reap.js';
import { processTable, type ProcessTable } from './process/table.js';
import type { ChildProcessHandle, ChildResult, SpawnChildOptions } from './engine.js';

/**
 * A child of an engine: started niced and in its own process group, with an intent written down first and its
 * pid right after, watched for floods, silence and deadline, and over only when nothing of it is left on this
 * machine.
 */
export interface StartOptions extends SpawnChildOptions {
  /**
   * Names this child in its environment and in the note. Unique; `a.1` and `a.2` are both found by the mark
   * `a`.
   */
  readonly spawnId: string;
  readonly tokenHash: string | null;
  /** Writes the durable note; called before the spawn and again with pid and start time. */
  readonly note: (note: SpawnNote) => Promise<void>;
  /** Aborts: SIGINT to the group, then SIGTERM, then SIGKILL. */
  readonly signal: AbortSignal;
  /** `report`: call `onSilence` and let it go on until the deadline. `end`: end it. Default `end`. */
  readonly silence?: 'report' | 'end';
  readonly onSilence?: () => void;
  /** More processes in its own namespace end it. Absent: the system bounds them, or nothing does. */
  readonly processesMax?: number;
  readonly graces?: Graces;
  readonly table?: ProcessTable;
}

/** The child could not be started, or not be ended. The message is a sentence for a person. */
export class ChildProcessError extends Error {
  override readonly name = 'ChildProcessError';
  /** `INTERRUPTED` before it began · `NOT_STARTED` · `NOT_ENDED` */
  readonly code: 'INTERRUPTED' | 'NOT_STARTED' | 'NOT_ENDED';
  /** A process that is still there, with `NOT_ENDED`. */
  readonly pid: number | undefined;

  constructor(
    code: ChildProcessError['code'],
    message: string,
    options: { readonly pid?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.pid = options.pid;
  }
}

/** `const child = await startChild('cat', [], {stdin: 'hello', …}); (await child.done).stdout // 'hello'` */
export async function startChild(
  command: string,
  args: readonly string[],
  options: StartOptions,
): Promise<ChildProcessHandle> {
  const { spawnId, tokenHash, note, signal } = options;
  const table = options.table ?? processTable();
  refuseWhenAborted(signal);
  await note(noteHere({ spawnId, tokenHash }));
  refuseWhenAborted(signal);
  const child = startProgram(command, args, {
    cwd: options.cwd,
    env: childEnvironment(options.env, spawnId),
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A child that does not read its prompt is no fault of ours (EPIPE)
  child.stdin.on('error', () => undefined);
  const pid = await started(child, command);
  makeNice(pid);
  const giveUp = new AbortController();
  const done = settle(child, pid, { ...options, table, stop: giveUp.signal });
  done.catch(() => undefined); // anyone who holds the handle hears of it; no one else may fall over it
  try {
    const startTime = await table.startTime(pid);
    await note(noteHere({ spawnId, tokenHash, pid, ...(startTime === undefined ? {} : { startTime }) }));
  } catch (error) {
    // an unnoted child must not run on: after a crash no one would know of it but by its mark
    giveUp.abort();
    await done;
    throw error;
  }
  return {
    pid,
    done,
    write: (text) => void (child.stdin.writable && child.stdin.write(text)),
    end: () => void child.stdin.end(),
    stop: () => giveUp.abort(),
  };
}

function refuseWhenAborted(signal: AbortSignal): void {
  if (signal.aborted)
    throw new ChildProcessError('INTERRUPTED', 'The turn was interrupted before the process began.');
}

function started(child: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid as number)); // 'spawn' is emitted only for a process that has a pid
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new ChildProcessError(
          'NOT_STARTED',
          `Could not start "${command}": ${error.code ?? error.message}.`,
          { cause: error },
        ),
      );
    });
    child.on('error', () => undefined); // later errors (a signal that failed) show in the confirmation
  });
}

/** Agents are the guests of this machine; the gateway and the person at it come first. */
function makeNice(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // gone already, or not allowed here: niceness is a courtesy
  }
}

type SettleOptions = StartOptions & { readonly table: ProcessTable; readonly stop: AbortSignal };

async function settle(child: ChildProcess, pid: number, options: SettleOptions): Promise<ChildResult> {
  const following = follow(child, options);
  if (options.stdin !== undefined) child.stdin?.end(options.stdin);
  const why = await following.over;
  following.close();
  const from = why === 'exited' ? 'SIGTERM' : 'SIGINT';
  try {
    const left = await terminate(
      { groupId: pid, spawnId: options.spawnId },
      { table: options.table, graces: options.graces ?? defaultGraces, from },
    );
    if (left[0] !== undefined)
      throw new ChildProcessError('NOT_ENDED', `Process ${left[0]} could not be ended. End it manually.`, {
        pid: left[0],
      });
  } catch (error) {
    if (error instanceof ChildProcessError) throw error;
    throw new ChildProcessError('NOT_ENDED', `It is unknown whether process ${pid} has ended.`, {
      pid,
      cause: error,
    });
  }
  return following.result();
}

export { childEnvironment, spawnMark } from './process/environment.js';
export { defaultGraces, type Graces } from './process/terminate.js';
export { readNote, reap, type Reaped, type SpawnNote } from './process/reap.js';
export { processTable, type ProcessTable } from './process/table.js';
