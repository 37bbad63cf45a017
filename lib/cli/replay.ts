import { readFile, stat, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Bundle, BundledActor, BundledEntry } from '../inspector/bundle.js';
import { replayBundle, type ReplayReport } from '../inspector/replay-bundle.js';
import { builtInKinds } from './built-in-kinds.js';
import { readConfig } from '../home/read-config.js';
import { loadModules } from '../home/modules.js';
import { inspected, type Client } from './client.js';
import type { Kind } from '../../actors/contracts.js';
import type { Layout } from '../home/layout.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { plainText } from './print.js';

/**
 * `troupe replay bug.json`: decide everything in a bug bundle once more; exit code 1 when it comes to
 * something else. Runs nothing.
 */
export function replayCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('replay')
      .description('replay the decisions of a bug bundle and compare; runs no effects'),
  )
    .argument('<file>', 'what "troupe inspect --bundle" or GET /api/inspect/bundle wrote')
    .option('--json', 'answer as JSON')
    .action(async (file: string, options: HomeOptions & { readonly json?: boolean }) => {
      const bundle = await read(file);
      const report = replayBundle(bundle, [
        ...builtInKinds(),
        ...(await ownKinds(homeOf(options, terminal))),
      ]);
      terminal.out(options.json === true ? JSON.stringify(report) : summaryOf(bundle, report));
      if (!report.same) process.exitCode = exitCodes.failed;
    });
}

/** Kinds of the home's `modules:`; a home that is not there has none. */
async function ownKinds(layout: Layout): Promise<readonly Kind[]> {
  const { modules } = await readConfig(layout.config);
  return (await loadModules(modules, layout)).kinds;
}

/** Ask a running gateway for the bundle of an actor, and write it down. */
export async function writeBundle(
  client: Client,
  file: string,
  { kind, id }: { readonly kind: string; readonly id: string },
  terminal: Terminal,
): Promise<void> {
  const bundle = await inspected<Bundle>(
    client.get('/api/inspect/bundle', { params: { query: { kind, id } } }),
  );
  await writeFile(file, `${JSON.stringify(bundle, null, 1)}\n`, { flag: 'wx', mode: 0o600 }).catch(
    (cause: NodeJS.ErrnoException) => {
      throw new CommandError(
        exitCodes.failed,
        cause.code === 'EEXIST'
          ? `${file} already exists; nothing was written.`
          : `${file} cannot be written (${cause.code ?? cause.message}).`,
        { cause },
      );
    },
  );
  const entries = bundle.actors.reduce((sum, actor) => sum + actor.entries.length, 0);
  terminal.out(
    `Wrote ${file}: ${entries} steps, ${bundle.from} to ${bundle.to} of the log. What people wrote is ` +
      'redacted; review the file before you share it.',
  );
  terminal.say(`Replay it with: troupe replay ${file}`);
}

async function read(file: string): Promise<Bundle> {
  const size = await stat(file).catch((cause: unknown) => {
    throw new CommandError(exitCodes.failed, `File ${file} not found.`, { cause });
  });
  if (!size.isFile() || size.size > bundleBytesMax)
    throw new CommandError(exitCodes.failed, `${file} is not a Troupe bug bundle.`);
  let bundle: Partial<Bundle> | null;
  try {
    bundle = JSON.parse(await readFile(file, 'utf8')) as Partial<Bundle> | null;
  } catch (cause) {
    throw new CommandError(exitCodes.failed, `${file} is not JSON.`, { cause });
  }
  if (bundle?.format !== 'troupe-bundle')
    throw new CommandError(exitCodes.failed, `${file} is not a Troupe bug bundle.`);
  if (bundle.version !== 1)
    throw new CommandError(
      exitCodes.failed,
      `${file} is a bundle of version ${String(bundle.version)}; this build reads version 1.`,
    );
  const sound =
    Array.isArray(bundle.actors) &&
    typeof bundle.machines === 'object' &&
    bundle.actors.every((actor: Partial<BundledActor> | null) => {
      const entries: unknown = actor?.entries;
      return (
        Array.isArray(entries) &&
        entries.every(
          (entry: Partial<BundledEntry> | null) =>
            typeof entry?.event?.type === 'string' && typeof entry.state === 'string',
        )
      );
    });
  if (!sound) throw new CommandError(exitCodes.failed, `${file} is a damaged bundle.`);
  return bundle as Bundle;
}

const bundleBytesMax = 256 * 1024 * 1024;

function summaryOf(bundle: Bundle, report: ReplayReport): string {
  const differing = report.actors.filter(({ differs }) => differs !== null);
  const lines = [
    `${report.entries} steps of ${report.actors.length} actors, made by Troupe ` +
      `${plainText(bundle.troupe)}${bundle.truncated ? ' (cut to the newest)' : ''}`,
    ...report.machines.map(({ kind, about }) =>
      plainText(`machine ${kind}: ${differences[about] ?? 'of another version'}`),
    ),
    ...differing.map(({ kind, id, differs }) =>
      plainText(`${kind}/${id} differs at ${differs?.seq} (${differs?.event}): ` + outcomeOf(differs)),
    ),
    ...report.actors
      .filter(({ differs, hash }) => differs === null && hash !== null)
      .map(({ kind, id, entries, hash }) =>
        plainText(`${kind}/${id} replayed identically, ${entries} steps, ${hash?.slice(0, 16)}`),
      ),
  ];
  return [...lines, report.same ? 'All results match.' : 'Results differ.'].join('\n');
}

const differences: Readonly<Record<string, string>> = {
  unknown: 'this build has none',
  changed: 'the same version, but changed',
};

function outcomeOf(differs: ReplayReport['actors'][number]['differs']): string {
  if (differs === null) return '';
  if (differs.error !== undefined) return differs.error;
  const others = differs.members.length === 0 ? '' : `, other members: ${differs.members.join(', ')}`;
  return `expected ${JSON.stringify(differs.expected)}, got ${JSON.stringify(differs.got)}${others}`;
}
