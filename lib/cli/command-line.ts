import { stat } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { HomeError } from '../home/home-error.js';
import { layoutOf, movedSentence, movedStore, type Layout } from '../home/layout.js';
import { CommandError, exitCodes } from './failure.js';

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
  try {
    return layoutOf({ home: options.home, instance: options.instance, env: terminal.env });
  } catch (error) {
    // What was typed is at fault, and not a home.
    throw error instanceof HomeError && (options.home !== undefined || options.instance !== undefined)
      ? new CommandError(exitCodes.usage, error.message, { cause: error })
      : error;
  }
}

/**
 * A command that works when it is pasted: for this very home, and begun as this one was. In a checkout that is npx,
 * which elsewhere would fetch whatever package a registry has under our name; so it may install nothing.
 * @example hint(layout, 'show', 's1') // 'npx --no-install troupe show --instance lab s1'
 */
export function hint(layout: Layout, command: string, rest = '', env: Terminal['env'] = process.env): string {
  const usual = layoutOf({ env }).home === layout.home;
  const named =
    layout.instance !== 'default' && layoutOf({ instance: layout.instance, env }).home === layout.home;
  const where = usual ? '' : named ? ` --instance ${layout.instance}` : ` --home ${quoted(layout.home)}`;
  return (
    `${env['npm_command'] === undefined ? '' : 'npx --no-install '}troupe ${command}${where}` +
    `${rest === '' ? '' : ` ${rest}`}`
  );
}

const quoted = (path: string): string =>
  /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

/**
 * The engines in a line: those that are here, which one is used, and those that are not. `engineLine([{name:
 * 'clerk', available: true}], 'clerk')`
 */
export function engineLine(
  engines: readonly { readonly name: string; readonly available: boolean }[],
  usual: string | null,
): string {
  const here = engines
    .filter(({ available }) => available)
    .map(({ name }) => (name === usual ? `${name} (default)` : name));
  const missing = engines
    .filter(({ available }) => !available)
    .map(({ name }) => (name === usual ? `${name} (the default!)` : name));
  return `${here.join(', ') || 'none'}${missing.length === 0 ? '' : `; not found: ${missing.join(', ')}`}`;
}

/** For options that take a whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,12}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/**
 * For commands that read the store of a stopped gateway: opening one where there is none would make it. Exit
 * code 5.
 */
export async function needStore(layout: Layout): Promise<void> {
  const { home, store, storeCopy } = layout;
  for (const folder of [store, storeCopy]) {
    if ((await stat(folder).catch(() => undefined)) !== undefined) return;
  }
  const isMoved = (await stat(movedStore(store)).catch(() => undefined)) !== undefined;
  throw new CommandError(
    exitCodes.badHome,
    isMoved
      ? movedSentence(layout)
      : `No store in ${home}. Use the home of a gateway that was started before.`,
  );
}
