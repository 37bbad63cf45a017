import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../home/atomic-file.js';
import type { Layout } from '../home/layout.js';
import { loadModules } from '../home/modules.js';
import { readConfig } from '../home/read-config.js';
import { embeddedStore } from '../home/store-setting.js';
import { copyStore, endUndoing, isUndoing, keepWayBack, putBack, readWayBack } from '../home/way-back.js';
import { noteBuild } from '../home/written-by.js';
import type { Kind } from '../../actors/contracts.js';
import type { Head, Store } from '../store/contract.js';
import { lockHome } from '../store/lock.js';
import { storePorts } from '../store/ports.js';
import type { KindMigration } from '../supervisor/migrate-records.js';
import { builtInKinds } from './built-in-kinds.js';
import { connect, running } from './client.js';
import { hint, homeOf, needStore, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { plainText, progressTeller, table } from './print.js';
import { version } from '../version.js';

interface Options extends HomeOptions {
  readonly check?: boolean;
  readonly apply?: boolean;
  readonly undo?: boolean;
  readonly json?: boolean;
}

/** What a rehearsal found. */
interface Rehearsal {
  readonly head: Head;
  readonly kinds: readonly KindMigration[];
  readonly milliseconds: number;
}

/** `troupe migrate --check | --apply | --undo`: an upgrade tried on a copy, done with a way back, taken back. */
export function migrateCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('migrate').description('try, do or undo the migration of a home to this version'))
    .option('--check', 'rehearse on a copy, also beside a running gateway (default)')
    .option('--apply', 'migrate the home of a stopped gateway, and keep its store of before')
    .option('--undo', 'go back to the store of before, unless work was done since')
    .option('--json', 'answer as JSON')
    .action(async (options: Options) => {
      if ([options.check, options.apply, options.undo].filter((one) => one === true).length > 1)
        throw new CommandError(exitCodes.usage, 'Use one of --check, --apply and --undo.');
      const layout = homeOf(options, terminal);
      const config = await readConfig(layout.config);
      if (config.store !== embeddedStore)
        throw new CommandError(
          exitCodes.badHome,
          `This home lies in PostgreSQL. Rehearse on a copy of the database; take it back with the backup of before.`,
        );
      if (options.undo === true) return undo(layout, terminal);
      if (await isUndoing(layout)) throw undoing(layout);
      const kinds = [...builtInKinds(), ...(await loadModules(config.modules, layout)).kinds];
      const rehearsed = await (options.apply === true ? apply : check)(layout, kinds, terminal);
      const unreadable = unreadableIn(rehearsed);
      terminal.out(options.json === true ? JSON.stringify(rehearsed) : textOf(rehearsed));
      if (unreadable > 0) {
        terminal.say(
          `${unreadable} actors cannot be read by this version. Nothing was changed: keep the older version.`,
        );
        process.exitCode = exitCodes.badHome;
      } else if (options.apply === true)
        terminal.say(`Migrated. To go back before work is done: ${hint(layout, 'migrate', '--undo')}`);
      else if (rehearsed.kinds.some(({ from }) => Object.keys(from).length > 0))
        terminal.say(`Nothing was changed. To migrate: ${hint(layout, 'migrate', '--apply')}`);
    });
}

/** On a copy of the store, which is migrated for real and then removed. */
const check = (layout: Layout, kinds: readonly Kind[], terminal: Terminal): Promise<Rehearsal> =>
  inScratch(layout, async (scratch) => {
    if ((await running(layout)) === undefined) {
      await needStore(layout);
      await copyStore(layout, scratch);
      await refuseRunning(layout); // of files that change under it a copy would be of no moment
    } else {
      // A backup must lie outside of the home
      const backup = `${layout.home}.${randomBytes(6).toString('hex')}.rehearsal`;
      try {
        await (await connect(layout)).post('/api/backup', { body: { target: backup }, timeoutMs: 295_000 });
        const { restore } = await import('../store/restore.js');
        await restore(join(backup, 'store-backup'), scratch);
      } finally {
        await rm(backup, { recursive: true, force: true });
      }
    }
    return rehearse(scratch, kinds, terminal, () => Promise.resolve());
  });

/**
 * What was migrated on the copy is written into the home, where all of it can be read. No gateway can start meanwhile:
 * the lock of the home is held but for the moment in which its store is opened, and what was committed then is seen.
 */
const apply = (layout: Layout, kinds: readonly Kind[], terminal: Terminal): Promise<Rehearsal> =>
  inScratch(layout, async (scratch) => {
    await refuseRunning(layout);
    await needStore(layout);
    let unlock = await lockHome(storePorts(), await realpath(layout.home));
    try {
      await endUndoing(layout);
      await copyStore(layout, scratch);
      return await rehearse(scratch, kinds, terminal, async (migrated, rehearsed) => {
        if (unreadableIn(rehearsed) > 0) return;
        const { head } = rehearsed;
        const kept = await readWayBack(layout);
        // One that was cut goes on: the store of before is kept already
        if (kept === undefined || !isSame(kept.head, head))
          await keepWayBack(layout, { head, at: new Date().toISOString() });
        await unlock();
        unlock = () => Promise.resolve();
        await takeOver(layout, kinds, { migrated, head }, terminal);
      });
    } finally {
      await unlock();
    }
  });

async function inScratch<Result>(
  { temporary }: Layout,
  use: (scratch: string) => Promise<Result>,
): Promise<Result> {
  await makeFolder(temporary);
  const scratch = join(temporary, `migration-${randomBytes(6).toString('hex')}`);
  try {
    return await use(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** `then` is given the store while it is open. */
async function rehearse(
  directory: string,
  kinds: readonly Kind[],
  terminal: Terminal,
  then: (migrated: Store, rehearsed: Rehearsal) => Promise<void>,
): Promise<Rehearsal> {
  const { openLevelStore } = await import('../store/level.js');
  const { migrateRecords } = await import('../supervisor/migrate-records.js');
  const onProgress = progressTeller(terminal);
  const began = Date.now();
  const store = await openLevelStore({ directory, scrubEveryMs: 0, onProgress });
  try {
    await noteBuild(store, kinds, version); // it refuses what a newer version has written
    const migrated = await migrateRecords(store, kinds, {
      now: Date.now,
      onProgress: (rows) => onProgress({ task: 'migrate', rows }),
    });
    const rehearsed = { head: store.head, kinds: migrated, milliseconds: Date.now() - began };
    await then(store, rehearsed);
    return rehearsed;
  } finally {
    await store.close();
  }
}

async function takeOver(
  { home }: Layout,
  kinds: readonly Kind[],
  { migrated, head }: { readonly migrated: Store; readonly head: Head },
  terminal: Terminal,
): Promise<void> {
  const { openLevelStore } = await import('../store/level.js');
  const { copyRecords } = await import('../supervisor/migrate-records.js');
  const onProgress = progressTeller(terminal);
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0, onProgress });
  try {
    if (!isSame(store.head, head))
      throw new CommandError(
        exitCodes.refused,
        'A gateway has worked in this home meanwhile. Nothing was changed: stop it, and migrate again.',
      );
    await noteBuild(store, kinds, version); // first: from here an older version reads no more than a part
    await copyRecords(migrated, store, (rows) => onProgress({ task: 'take-over', rows }));
  } finally {
    await store.close();
  }
}

const isSame = (one: Head, other: Head): boolean => one.seq === other.seq && one.chain === other.chain;

const unreadableIn = ({ kinds }: Rehearsal): number =>
  kinds.reduce((sum, { unreadableCount }) => sum + unreadableCount, 0);

/** Under the lock of the home, as `apply`: no gateway can open what is renamed. What was committed is read in a copy. */
async function undo(layout: Layout, terminal: Terminal): Promise<void> {
  await refuseRunning(layout);
  if (!(await isUndoing(layout))) await needStore(layout);
  const unlock = await lockHome(storePorts(), await realpath(layout.home));
  try {
    if (!(await isUndoing(layout))) await refuseWorked(layout);
    await putBack(layout);
  } finally {
    await unlock();
  }
  terminal.out('The store is as it was before the migration. Start it with the older version of Troupe.');
}

async function refuseWorked(layout: Layout): Promise<void> {
  const kept = await readWayBack(layout);
  if (kept === undefined)
    throw new CommandError(exitCodes.usage, `Nothing to undo: no migration of ${layout.home} was applied.`);
  const head = await inScratch(layout, async (scratch) => {
    await copyStore(layout, scratch);
    return headOf(scratch);
  });
  if (!isSame(head, kept.head))
    throw new CommandError(
      exitCodes.refused,
      `Since the migration of ${kept.at} ${head.seq - kept.head.seq} events were committed, which going back would ` +
        `lose. The store of before is in ${join(layout.home, 'before-migration')}.`,
    );
}

async function headOf(directory: string): Promise<Head> {
  const { openLevelStore } = await import('../store/level.js');
  const store = await openLevelStore({ directory, scrubEveryMs: 0 });
  const { head } = store;
  await store.close();
  return head;
}

async function refuseRunning(layout: Layout): Promise<void> {
  if ((await running(layout)) === undefined) return;
  throw new CommandError(
    exitCodes.held,
    `A gateway runs at ${layout.home}. Stop it first: ${hint(layout, 'stop')}. --check works beside it.`,
  );
}

const undoing = (layout: Layout): CommandError =>
  new CommandError(
    exitCodes.badHome,
    `A migration is being undone. Go on with: ${hint(layout, 'migrate', '--undo')}`,
  );

function textOf({ kinds, milliseconds }: Rehearsal): string {
  const rows = kinds.map(({ kind, version, actors, from, unreadableCount, milliseconds: ms }) => [
    kind,
    String(actors),
    Object.entries(from)
      .map(([old, count]) => `${count} from ${old} to ${version ?? '-'}`)
      .join(', ') || 'nothing',
    String(unreadableCount),
    `${(ms / 1_000).toFixed(1)} s`,
  ]);
  const unreadable = kinds.flatMap(({ kind, unreadable: some }) =>
    some.map(({ id, reason }) => `${kind} ${plainText(id)}: ${plainText(reason)}`),
  );
  return [
    table(['KIND', 'ACTORS', 'CHANGES', 'UNREADABLE', 'TIME'], rows, 'The store holds no actors yet.'),
    ...unreadable,
    `In all ${(milliseconds / 1_000).toFixed(1)} s.`,
  ].join('\n');
}
