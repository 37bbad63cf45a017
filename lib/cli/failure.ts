import { HomeError } from '../home/home-error.js';
import { StoreError } from '../store/contract.js';

/**
 * How commands fail: one line that says what, where and what to do, on stderr, and an exit code that scripts
 * can rely on. No stack traces: what a person cannot act on belongs in the log.
 */
export const exitCodes = {
  /** It was done. */
  done: 0,
  /** It failed for another reason than those below. */
  failed: 1,
  /** The command line is not understood. */
  usage: 2,
  /** No gateway runs at this home, or it does not answer. */
  notRunning: 3,
  /** Another gateway holds this home. */
  held: 4,
  /** The home cannot be used as it is: settings, damage, permissions. */
  badHome: 5,
  /** The gateway refused the request; its sentence is shown. */
  refused: 6,
  /** The agent's turn failed or was interrupted. */
  turnFailed: 7,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** By what a service manager may try again: a database that is away comes back. */
const storeExits: { readonly [code: string]: ExitCode } = {
  LOCKED: exitCodes.held,
  STORE_UNAVAILABLE: exitCodes.failed,
};

/** The line and the exit code for whatever a command threw. */
export function explain(error: unknown): { readonly line: string; readonly exitCode: ExitCode } {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof CommandError) return { line: error.message, exitCode: error.exitCode };
  if (diskFull.test(text))
    return {
      line: `The disk is full: ${text}. Free some space and try again; no acknowledged work is lost.`,
      exitCode: exitCodes.failed,
    };
  if (readOnly.test(text))
    return {
      line:
        `The disk can only be read: ${text}. Mount it for writing, then try again. Linux makes a disk so after an ` +
        'error: see "dmesg".',
      exitCode: exitCodes.failed,
    };
  if (error instanceof HomeError) return { line: error.message, exitCode: exitCodes.badHome };
  if (error instanceof StoreError)
    return { line: error.message, exitCode: storeExits[error.code] ?? exitCodes.badHome };
  const fault = error as NodeJS.ErrnoException;
  if (fault.syscall === 'listen') return { line: listening(fault), exitCode: exitCodes.failed };
  if (fault.code === 'EACCES' || fault.code === 'EPERM')
    return {
      line: `No permission for ${fault.path ?? 'a file of the home'}. "troupe doctor" shows how to fix it.`,
      exitCode: exitCodes.badHome,
    };
  return { line: text, exitCode: exitCodes.failed };
}

/** As Node and as LevelDB say it. */
const diskFull = /ENOSPC|No space left on device/;
const readOnly = /EROFS: |Read-only file system/;

function listening(fault: NodeJS.ErrnoException & { address?: string; port?: number }): string {
  const where = `${fault.address ?? ''}:${fault.port ?? ''}`;
  if (fault.code === 'EADDRINUSE')
    return `Another program listens on ${where}. Use --port 0 for any free port, or set gateway.port in config.yaml.`;
  return (
    `Cannot listen on ${where} (${fault.code ?? fault.message}). Check gateway.host and gateway.port in ` +
    'config.yaml.'
  );
}
