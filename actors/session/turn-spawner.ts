import { randomUUID } from 'node:crypto';
import type { ChildProcessHandle, SpawnChildOptions } from '../engines/engine.js';
import { ConfineError, type Command, type Confined } from '../sandbox/sandbox.js';
import {
  ChildProcessError,
  startChild,
  type Graces,
  type ProcessTable,
  type SpawnNote,
} from '../engines/process.js';

/** What an engine gets to start processes with, and our own knowledge of what it started. */
export interface Spawner {
  /** Write the durable intent: before anything is done, once. */
  intend(): Promise<void>;
  spawn(command: string, args: readonly string[], options: SpawnChildOptions): Promise<ChildProcessHandle>;
  /**
   * The turn is over: whatever the engine left running is ended (`endRest` is called for that), and all of it
   * confirmed. Answers a pid that could not be confirmed gone.
   */
  close(endRest: () => void): Promise<number | undefined>;
  /** The note as it stands now. */
  lastNote(): SpawnNote | undefined;
}

export interface SpawnerOptions {
  readonly tokenHash: string;
  readonly signal: AbortSignal;
  readonly note: (note: SpawnNote) => Promise<void>;
  readonly onSilence: () => void;
  /** What is started in place of each command. Absent: the command itself. */
  readonly confine?: (command: Command) => Promise<Confined>;
  readonly graces?: Graces;
  readonly table?: ProcessTable;
}

/**
 * The children of a turn carry marks of their own below one common mark: the end of one leaves the others
 * alone, and after a crash one search finds them all.
 */
export function createSpawner({
  tokenHash,
  signal,
  note,
  onSilence,
  confine,
  graces,
  table,
}: SpawnerOptions): Spawner {
  const spawnId = randomUUID();
  const starting = new Set<Promise<unknown>>();
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  let unconfirmedPid: number | undefined;
  let lastNote: SpawnNote | undefined;
  let children = 0;
  /** The intent of a further child says nothing new. */
  const remember = (next: SpawnNote): Promise<void> =>
    next.pid === undefined && lastNote !== undefined
      ? Promise.resolve()
      : note((lastNote = { ...next, spawnId }));

  const heedUnended = (error: unknown): void => {
    if (error instanceof ChildProcessError) unconfirmedPid ??= error.pid;
  };

  async function start(
    command: string,
    args: readonly string[],
    options: SpawnChildOptions,
  ): Promise<ChildProcessHandle> {
    if (isClosed)
      throw new ChildProcessError('INTERRUPTED', 'The turn is over; nothing more can be started in it.');
    const { cwd, env } = options;
    const plain = { program: command, args, cwd, env };
    const confined: Command & Partial<Confined> =
      confine === undefined ? plain : await confine(plain).catch(refused);
    const child = await startChild(confined.program, confined.args, {
      ...options,
      cwd: confined.cwd,
      env: confined.env,
      spawnId: `${spawnId}.${(children += 1)}`,
      tokenHash,
      note: remember,
      signal,
      silence: 'report',
      onSilence,
      ...(confined.processesMax === undefined ? {} : { processesMax: confined.processesMax }),
      ...(graces === undefined ? {} : { graces }),
      ...(table === undefined ? {} : { table }),
    });
    const watched = child.done.then(() => undefined, heedUnended).finally(() => running.delete(watched));
    running.add(watched);
    return child;
  }

  return {
    intend: () => remember({ spawnId, tokenHash }),
    spawn(command, args, options) {
      const attempt = start(command, args, options);
      const settled = attempt.then(() => undefined, heedUnended).finally(() => starting.delete(settled));
      starting.add(settled);
      attempt.catch(() => undefined); // an engine that does not look must not take the process down
      return attempt;
    },
    async close(endRest) {
      isClosed = true;
      await Promise.all(starting);
      if (running.size > 0) endRest();
      await Promise.all(running);
      return unconfirmedPid;
    },
    lastNote: () => lastNote,
  };
}

/** What cannot be confined is not started, and says why in its own words. */
function refused(error: unknown): never {
  if (!(error instanceof ConfineError)) throw error;
  throw new ChildProcessError('NOT_STARTED', error.message, { cause: error });
}
