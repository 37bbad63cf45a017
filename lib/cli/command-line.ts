import { type Command, InvalidArgumentError } from 'commander';
import { layoutOf, type Layout } from '../home/layout.js';

/** What every command is given beside its own options: where to write, and which home is meant. */
export interface Terminal {
  /** Answers, a line or more: stdout. */
  out(text: string): void;
  /** An answer that comes in pieces: stdout, as it is. */
  write(text: string): void;
  /** Progress and remarks: stderr, so that answers can be piped. */
  say(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface HomeOptions {
  readonly home?: string;
  readonly instance?: string;
}

/** `--home` and `--instance`, the same words in every command that has them. */
export function withHome(command: Command): Command {
  return command
    .option('--home <folder>', 'home of the instance (default: SVC_HOME, else ~/.svc)')
    .option('--instance <name>', 'named instance; its home is ~/.svc-<name> unless --home is given');
}

export function homeOf(options: HomeOptions, terminal: Terminal): Layout {
  return layoutOf({ home: options.home, instance: options.instance, env: terminal.env });
}

/** For options that take a whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,12}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
