import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChildResult, SpawnChildOptions } from '../engine.js';
import { watchProcesses } from './count-processes.js';
import { BoundedOutput } from './output.js';

/**
 * Follows one running child: takes its output as it comes, and tells when it is over or has to be ended and
 * why. It sends no signals; anyone who follows does.
 */
export interface Following {
  /**
   * The leader exited by itself, or one of our watchdogs (or the abort) says that it must go. Never rejects.
   */
  readonly over: Promise<'exited' | NonNullable<ChildResult['ended']>>;
  /** Stop all watchdogs. */
  close(): void;
  /**
   * Everything that was heard; rejects with the fault of a listener that threw. Call when the processes are
   * gone.
   */
  result(): Promise<ChildResult>;
}

export interface FollowOptions extends SpawnChildOptions {
  readonly signal: AbortSignal;
  /** Aborts when it must end without being asked first. */
  readonly stop?: AbortSignal;
  readonly silence?: 'report' | 'end';
  readonly onSilence?: () => void;
  /** Of its namespace of processes; more of them end it. Absent: not counted. */
  readonly processesMax?: number;
}

const outputBytesDefault = 1024 * 1024;
const floodFactor = 10;
/** How long the pipes of a child that is gone may stay open: an outsider may hold them. */
const closeMs = 500;
const longestDelayMs = 2 ** 31 - 1;

export function follow(child: ChildProcess, options: FollowOptions): Following {
  const bytesMax = options.outputBytesMax ?? outputBytesDefault;
  const stdout = new BoundedOutput(bytesMax, 'head');
  const stderr = new BoundedOutput(bytesMax, 'tail');
  let ended: ChildResult['ended'] = null;
  let fault: unknown;
  let exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;
  let heardAt = performance.now();

  let resolveOver: (why: 'exited' | NonNullable<ChildResult['ended']>) => void = () => undefined;
  const over = new Promise<'exited' | NonNullable<ChildResult['ended']>>((resolve) => {
    resolveOver = resolve;
  });
  const end = (why: NonNullable<ChildResult['ended']>): void => {
    if (ended !== null || exit !== undefined) return;
    ended = why;
    resolveOver(why);
  };
  const guarded = (listener: () => void): void => {
    try {
      listener();
    } catch (error) {
      fault ??= { error };
      end('interrupted');
    }
  };

  const take =
    (stream: Readable | null, output: BoundedOutput, listener?: (chunk: string) => void) =>
    (chunk: Buffer): void => {
      heardAt = performance.now();
      const text = output.take(chunk);
      // beyond the flood mark no one needs to hear more: the child is on its way out
      if (output.bytes > (options.floodBytesMax ?? bytesMax * floodFactor)) end('flood');
      else if (text !== '' && listener !== undefined) guarded(() => listener(text));
      // read on until it is gone, and every chunk of the flood is garbage of ours
      if (ended === 'flood' || fault !== undefined) stream?.destroy();
    };
  child.stdout?.on('data', take(child.stdout, stdout, options.onStdout));
  child.stderr?.on('data', take(child.stderr, stderr));
  child.stdout?.once('end', () => {
    const rest = stdout.end();
    if (rest !== '' && options.onStdout !== undefined) guarded(() => options.onStdout?.(rest));
  });
  child.stderr?.once('end', () => void stderr.end());
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = { code, signal };
      resolveOver('exited');
      resolve();
    });
  });

  let grace: NodeJS.Timeout | undefined;
  const onStop = (): void => end('interrupted');
  const onAbort = (): void => {
    if (options.interrupt === undefined) return onStop();
    grace = setTimeout(onStop, options.interrupt.graceMs);
    guarded(options.interrupt.ask);
  };
  for (const [signal, listener] of [
    [options.signal, onAbort],
    [options.stop, onStop],
  ] as const) {
    if (signal?.aborted === true) listener();
    else signal?.addEventListener('abort', listener, { once: true });
  }
  const deadline = setTimeout(() => end('deadline'), Math.min(options.deadlineMs, longestDelayMs));
  const stopSilence = watchSilence(
    options.silenceMs,
    () => heardAt,
    () => {
      if (options.silence === 'report') guarded(() => options.onSilence?.());
      else end('silence');
    },
  );

  const { processesMax } = options;
  const watch =
    processesMax === undefined || child.pid === undefined
      ? undefined
      : watchProcesses(child.pid, processesMax, () => end('processes'));

  return {
    over,
    close() {
      watch?.close();
      options.signal.removeEventListener('abort', onAbort);
      options.stop?.removeEventListener('abort', onStop);
      clearTimeout(grace);
      clearTimeout(deadline);
      stopSilence();
    },
    async result() {
      await Promise.race([exited, delay(closeMs)]);
      await Promise.race([closed, delay(closeMs)]);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      if (fault !== undefined) throw (fault as { readonly error: unknown }).error;
      return {
        exitCode: exit?.code ?? null,
        signal: exit?.signal ?? null,
        stdout: stdout.text,
        stderr: stderr.text,
        truncated: stdout.truncated,
        ended: ended ?? (grace === undefined ? null : 'interrupted'), // of stderr only the end is ever wanted
      };
    },
  };
}

/** Calls back once per silence: again only after something was heard in between. */
function watchSilence(silenceMs: number, heardAt: () => number, onSilent: () => void): () => void {
  let reportedFor: number | undefined;
  let timer: NodeJS.Timeout;
  const check = (): void => {
    const silentMs = performance.now() - heardAt();
    if (silentMs >= silenceMs && reportedFor !== heardAt()) {
      reportedFor = heardAt();
      onSilent();
    }
    arm(silentMs >= silenceMs ? silenceMs : silenceMs - silentMs);
  };
  const arm = (ms: number): void => {
    timer = setTimeout(check, Math.max(1, Math.min(Math.ceil(ms), longestDelayMs)));
  };
  arm(silenceMs);
  return () => clearTimeout(timer);
}
