import { spawn, type ChildProcess, type ChildProcessByStdio, type SpawnOptions } from 'node:child_process';
import { closeSync, fstatSync, openSync, readdirSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Readable, Writable } from 'node:stream';

/**
 * Every program that is started here is started by this. LevelDB lets children inherit its open files, so that an
 * agent, a poll or a git filter could have written into the store without ever seeing its folder. Nothing in Node
 * closes them for a child; but it can be given others under their numbers, and gets /dev/null.
 */
export type Stream = 'pipe' | 'ignore' | 'inherit' | number;

export interface StartOptions<In extends Stream, Out extends Stream, Err extends Stream> extends Omit<
  SpawnOptions,
  'stdio' | 'shell'
> {
  /** What it gets as stdin, stdout and stderr; nothing else is open in it. */
  readonly stdio: readonly [In, Out, Err];
}

/** `startProgram('git', ['status'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] }).stdout.on('data', …)`; no shell. */
export function startProgram<In extends Stream, Out extends Stream, Err extends Stream>(
  program: string,
  args: readonly string[],
  options: StartOptions<In, Out, Err>,
): Started<In, Out, Err> {
  const empty = openSync(devNull, 'r');
  try {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const child = start(program, args, options, empty);
      if (!holdsFiles(child)) return child as Started<In, Out, Err>; // its streams are as `stdio` says
      child.on('error', () => undefined).kill('SIGKILL');
      for (const stream of child.stdio) stream?.destroy();
    }
    throw new Error(`${program} was not started: it would have inherited files that were just opened.`);
  } finally {
    closeSync(empty);
  }
}

const triesMax = 5;

function start(
  program: string,
  args: readonly string[],
  { stdio, ...options }: StartOptions<Stream, Stream, Stream>,
  empty: number,
): ChildProcess {
  const others = openFiles();
  // No other number: one of those is libuv's own, by which a program that cannot be started says so
  const rest = Array.from({ length: Math.max(0, ...others) - 2 }, (_, n) =>
    others.has(n + 3) ? empty : 'ignore',
  );
  return spawn(program, args, { ...options, stdio: [...stdio, ...rest] });
}

/**
 * A thread of LevelDB's may open a file between the look and the start. The program has just begun then, and has read
 * nothing of its input; it is ended and started again.
 */
function holdsFiles({ pid }: ChildProcess): boolean {
  if (process.platform !== 'linux' || pid === undefined) return false;
  try {
    return readdirSync(`/proc/${pid}/fd`).some(
      (fd) => Number(fd) > 2 && isOurs(Number(fd), `/proc/${pid}/fd/${fd}`),
    );
  } catch {
    return false; // it has ended
  }
}

function isOurs(fd: number, its: string): boolean {
  try {
    const own = fstatSync(fd);
    const other = statSync(its);
    return own.isFile() && own.ino === other.ino && own.dev === other.dev;
  } catch {
    return false; // one of the two is not open
  }
}

type Started<In, Out, Err> = ChildProcessByStdio<
  In extends 'pipe' ? Writable : null,
  Out extends 'pipe' ? Readable : null,
  Err extends 'pipe' ? Readable : null
>;

/** Numbers of the files that this process has open. Windows passes on none. */
function openFiles(): ReadonlySet<number> {
  const numbers = process.platform === 'win32' ? [] : readdirSync('/dev/fd').map(Number);
  return new Set(numbers.filter((fd) => fd > 2 && isFile(fd)));
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false; // that of the look itself
  }
}

export interface OutputOptions extends Pick<SpawnOptions, 'cwd' | 'env'> {
  readonly timeoutMs: number;
  /** Of stdout, and of stderr; more ends it. Default: 1 MiB. */
  readonly bytesMax?: number;
  /** Default: none. */
  readonly stdin?: string;
}

/** It could not be started, did not end well, or not in time. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';

  constructor(
    message: string,
    /** Null where it could not be started or was ended. */
    readonly exitCode: number | null,
    readonly stderr: string,
    /** What it answered all the same. */
    readonly stdout: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * What a program writes on stdout. Rejects with a `ProgramError`.
 * @example await outputOf('/usr/bin/true', [], { timeoutMs: 5_000 }) // ''
 */
export function outputOf(program: string, args: readonly string[], options: OutputOptions): Promise<string> {
  const { timeoutMs, bytesMax = 2 ** 20, stdin = '', ...place } = options;
  return new Promise((resolve, reject) => {
    const child = startProgram(program, args, { ...place, stdio: ['pipe', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let ended: string | undefined;
    const end = (why: string): void => {
      ended ??= why;
      child.kill();
      child.stdout.destroy();
      child.stderr.destroy(); // what it has started may hold them open
      setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
    };
    const timer = setTimeout(() => end(`took longer than ${timeoutMs} ms`), timeoutMs);
    for (const [stream, pieces] of [
      [child.stdout, out],
      [child.stderr, err],
    ] as const) {
      let bytes = 0;
      stream.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > bytesMax) end(`wrote more than ${bytesMax} bytes`);
        else pieces.push(piece);
      });
    }
    const failed = (what: string, exitCode: number | null, cause?: Error): void => {
      const said = Buffer.concat(err).toString().trim();
      const answered = Buffer.concat(out).toString();
      reject(new ProgramError(`${program} ${what}.`, exitCode, said, answered, { cause }));
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      failed(`could not be started (${error.code ?? error.message})`, null, error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (ended !== undefined) failed(ended, null);
      else if (code === 0) resolve(Buffer.concat(out).toString());
      else failed(`ended with ${signal ?? code}`, code);
    });
    child.stdin.on('error', () => undefined).end(stdin); // it may end without reading
  });
}

const graceMs = 2_000;

/**
 * What a program writes on stdout, as it comes; ended where no one reads on. Rejects with a `ProgramError` where it
 * did not end well, or not in time.
 */
export async function* piecesOf(
  program: string,
  args: readonly string[],
  { timeoutMs, ...place }: Pick<OutputOptions, 'cwd' | 'env' | 'timeoutMs'>,
): AsyncGenerator<Buffer> {
  const child = startProgram(program, args, { ...place, stdio: ['ignore', 'pipe', 'ignore'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  try {
    for await (const piece of child.stdout) yield piece as Buffer;
    const how = await ended;
    if (how !== 0) throw new ProgramError(`${program} ended with ${how}.`, null, '', '');
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}
