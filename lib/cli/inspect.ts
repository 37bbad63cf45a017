import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import type { Layout } from '../home/layout.js';
import { readConfig } from '../home/read-config.js';
import { embeddedStore } from '../home/store-setting.js';
import type { Store } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';
import { connect, running } from './client.js';
import { homeOf, wholeNumber, withHome, type HomeOptions, type Terminal, needStore } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { ago, table } from './print.js';
import { timesOf, withTimes, type TimeOptions, type Times } from './times.js';
import { writeBundle } from './replay.js';

interface InspectOptions extends HomeOptions, TimeOptions {
  readonly kind?: string;
  readonly bundle?: string;
  readonly limit: number;
  readonly json?: boolean;
}
/** What is read of a stored actor; the record itself is the kernel's. */
interface ActorRecord {
  readonly kind: string;
  readonly id: string;
  readonly rev: number;
  readonly updatedAt: number;
  readonly halted?: { readonly reason: string } | null;
  readonly state: unknown;
}

/**
 * `troupe inspect --home <home>` opens the inspector's page on the store of a stopped gateway, read only; with a kind
 * (and an id) it prints its actors, or one of them with its newest log entries. Starts nothing. `troupe inspect <home>
 * [kind] [id]` is how that was said before.
 */
export function inspectCommand(program: Command, terminal: Terminal): void {
  withTimes(
    withHome(
      program
        .command('inspect')
        .description("read a stopped gateway's store, in a page or here; starts nothing"),
    ),
  )
    .argument('[kind]', 'print actors of this kind; without it, open the page')
    .argument('[id]', 'print one actor, with its newest log entries')
    .allowExcessArguments()
    .option('--limit <number>', 'at most so many actors or entries', wholeNumber(1, 10_000), 50)
    .option('--bundle <file>', 'write a bug bundle of one actor of a running gateway')
    .option('--json', 'one JSON object per line')
    .action(
      async (
        first: string | undefined,
        second: string | undefined,
        options: Omit<InspectOptions, 'kind'>,
        command: Command,
      ) => {
        const [, , third] = command.args;
        const isNamed = options.home !== undefined || options.instance !== undefined;
        // A kind has no slash, dot or tilde in it
        const isFolder =
          !isNamed &&
          first !== undefined &&
          (third !== undefined || !/^[a-z][a-z0-9-]*$/.test(first) || existsSync(first));
        const layout = homeOf(isFolder ? { home: first } : options, terminal);
        const [kind, id] = isFolder ? [second, third] : [first, second];
        if (!isFolder && kind === undefined && options.json !== true && options.bundle === undefined)
          return (await import('./inspect-page.js')).servePage(layout, terminal);
        const live = await running(layout);
        if (options.bundle !== undefined) return bundle(layout, options.bundle, kind, id, terminal);
        if (live !== undefined) {
          throw new CommandError(
            exitCodes.held,
            `A gateway runs at ${layout.home}. Use its API instead: GET ${live.url}/api/inspect/actors` +
              `${kind === undefined ? '' : `?kind=${kind}`}`,
          );
        }
        const { store: url } = await readConfig(layout.config);
        if (url !== embeddedStore)
          throw new CommandError(
            exitCodes.badHome,
            'This home lies in PostgreSQL: start a gateway on it and use its API, /api/inspect/actors.',
          );
        await needStore(layout);
        const { openLevelStore } = await import('../store/level.js');
        const store = await openLevelStore({ directory: layout.home, scrubEveryMs: 0 });
        try {
          if (kind !== undefined && id !== undefined)
            await showOne(store, kind, id, { ...options, times: await timesOf(layout, options) }, terminal);
          else await showAll(store, { ...options, ...(kind === undefined ? {} : { kind }) }, terminal);
        } finally {
          await store.close();
        }
      },
    );
}

async function bundle(
  layout: Layout,
  file: string,
  kind: string | undefined,
  id: string | undefined,
  terminal: Terminal,
): Promise<void> {
  if (kind === undefined || id === undefined)
    throw new CommandError(
      exitCodes.usage,
      'A bundle is of one actor: troupe inspect <kind> <id> --home <folder> --bundle <file>',
    );
  await writeBundle(await connect(layout), file, { kind, id }, terminal);
}

async function showAll(
  store: Store,
  { kind, limit, json }: InspectOptions,
  terminal: Terminal,
): Promise<void> {
  const range = prefix(kind === undefined ? 'a/' : `a/${kind}/`);
  const [page, total] = await Promise.all([
    store.page({ ...range, limit: Math.min(limit, 1_000) }),
    store.count(range),
  ]);
  const records = page.map(([, value]) => JSON.parse(value) as ActorRecord);
  if (json === true) return records.forEach((record) => terminal.out(JSON.stringify(record)));
  const now = Date.now();
  terminal.out(
    table(
      ['KIND', 'ID', 'STATE', 'REV', 'CHANGED'],
      records.map((record) => [
        record.kind,
        record.id,
        record.halted ? `halted: ${record.halted.reason}` : stateOf(record),
        String(record.rev),
        ago(record.updatedAt, now),
      ]),
      kind === undefined ? 'The store holds no actors yet.' : `The store holds no actors of kind ${kind}.`,
    ),
  );
  if (total > records.length) terminal.say(`(${total - records.length} more; --limit shows them)`);
}

async function showOne(
  store: Store,
  kind: string,
  id: string,
  { limit, json, times }: InspectOptions & { readonly times: Times },
  terminal: Terminal,
): Promise<void> {
  const stored = await store.get(keys.actor(kind, id));
  if (stored === undefined)
    throw new CommandError(exitCodes.failed, `There is no ${kind} ${id} in this store.`);
  const record = JSON.parse(stored) as ActorRecord;
  const entries = await newestEntries(store, kind, id, limit);
  if (json === true) {
    terminal.out(JSON.stringify(record));
    return entries.forEach((entry) => terminal.out(JSON.stringify(entry)));
  }
  terminal.out(JSON.stringify(record, null, 2));
  terminal.out(
    table(
      ['SEQ', 'AT', 'EVENT', 'TO', 'BY'],
      entries.map((entry) => [
        String(entry.seq),
        times.dateAndTime(entry.at),
        entry.event?.type ?? '-',
        JSON.stringify(entry.to),
        entry.by,
      ]),
      'The log no longer has entries of this actor.',
    ),
  );
}

interface Entry {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly id: string;
  readonly event?: { readonly type?: string };
  readonly to: unknown;
  readonly by: string;
}

/**
 * Newest first, by reading the log backwards: slow on a long log and honest about it, because nothing is
 * running meanwhile.
 */
async function newestEntries(
  store: Store,
  kind: string,
  id: string,
  limit: number,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  let { gte, lt } = prefix('l/');
  for (;;) {
    const page = await store.page({ gte, lt, reverse: true, limit: 1_000 });
    for (const [key, value] of page) {
      const entry = JSON.parse(value) as Entry;
      if (entry.kind === kind && entry.id === id) found.push({ ...entry, seq: Number(partsOf(key).at(-1)) });
      if (found.length >= limit) return found;
      lt = key;
    }
    if (page.length < 1_000) return found;
  }
}

function stateOf({ state }: ActorRecord): string {
  const plain = state as { value?: unknown; '~'?: { json?: { value?: unknown } } };
  const value = plain.value ?? plain['~']?.json?.value;
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
