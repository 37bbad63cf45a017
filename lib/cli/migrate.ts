import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../home/atomic-file.js';
import type { Layout } from '../home/layout.js';
import { loadModules } from '../home/modules.js';
import { readConfig } from '../home/read-config.js';
import { embeddedStore } from '../home/store-setting.js';
import { copyStore, endUndoing, isUndoing, keepWayBack, putBack, readWayBack } from '../home/way-back.js';
import { noteBuild } from '../home/written-by.js';
import type { Kind } from '../../actors/contracts.js';
import type { Head } from '../store/contract.js';
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
      const rehearsed = await rehearse(layout, kinds, terminal);
      const unreadable = rehearsed.kinds.reduce((sum, { unreadableCount }) => sum + unreadableCount, 0);
      const applies = options.apply === true && unreadable === 0;
      if (applies) await apply(layout, kinds, rehearsed.head, terminal);
      terminal.out(options.json === true ? JSON.stringify(rehearsed) : textOf(rehearsed));
      if (unreadable > 0) {
        terminal.say(
          `${unreadable} actors cannot be read by this version. Nothing was changed: keep the older version.`,
        );
        process.exitCode = exitCodes.badHome;
      } else if (applies)
        terminal.say(`Migrated. To go back before work is done: ${hint(layout, 'migrate', '--undo')}`);
      else if (rehearsed.kinds.some(({ from }) => Object.keys(from).length > 0))
        terminal.say(`Nothing was changed. To migrate: ${hint(layout, 'migrate', '--apply')}`);
    });
}

/** On a copy of the store, which is migrated for real and then removed. */
async function rehearse(layout: Layout, kinds: readonly Kind[], terminal: Terminal): Promise<Rehearsal> {
  await makeFolder(layout.temporary);
  const scratch = join(layout.temporary, `migration-${randomBytes(6).toString('hex')}`);
  try {
    if ((await running(layout)) === undefined) {
      await needStore(layout);
      await copyStore(layout, scratch);
      await refuseRunning(layout); // of files that change under it a copy would be of no moment
      return await migrate(scratch, kinds, terminal);
    }
    // A backup must lie outside of the home
    const backup = `${layout.home}.${randomBytes(6).toString('hex')}.rehearsal`;
    try {
      await (await connect(layout)).post('/api/backup', { body: { target: backup }, timeoutMs: 295_000 });
      const { restore } = await import('../store/restore.js');
      await restore(join(backup, 'store-backup'), scratch);
    } finally {
      await rm(backup, { recursive: true, force: true });
    }
    return await migrate(scratch, kinds, terminal);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function migrate(directory: string, kinds: readonly Kind[], terminal: Terminal): Promise<Rehearsal> {
  const { openLevelStore } = await import('../store/level.js');
  const { migrateRecords } = await import('../supervisor/migrate-records.js');
  const onProgress = progressTeller(terminal);
  const began = Date.now();
  const store = await openLevelStore({ directory, scrubEveryMs: 0, onProgress });
  try {
    await noteBuild(store, kinds, version); // first: from here an older version reads no more than a part
    const migrated = await migrateRecords(store, kinds, {
      now: Date.now,
      onProgress: (rows) => onProgress({ task: 'migrate', rows }),
    });
    return { head: store.head, kinds: migrated, milliseconds: Date.now() - began };
  } finally {
    await store.close();
  }
}

async function apply(layout: Layout, kinds: readonly Kind[], head: Head, terminal: Terminal): Promise<void> {
  await endUndoing(layout);
  const kept = await readWayBack(layout);
  // One that was cut goes on: the store of before is kept already
  if (kept?.head.seq !== head.seq || kept.head.chain !== head.chain)
    await keepWayBack(layout, { head, at: new Date().toISOString() });
  await refuseRunning(layout);
  await migrate(layout.home, kinds, terminal);
}

async function undo(layout: Layout, terminal: Terminal): Promise<void> {
  await refuseRunning(layout);
  if (!(await isUndoing(layout))) {
    await needStore(layout);
    const kept = await readWayBack(layout);
    if (kept === undefined)
      throw new CommandError(exitCodes.usage, `Nothing to undo: no migration of ${layout.home} was applied.`);
    const head = await headOf(layout);
    if (head.seq !== kept.head.seq || head.chain !== kept.head.chain)
      throw new CommandError(
        exitCodes.refused,
        `Since the migration of ${kept.at} ${head.seq - kept.head.seq} events were committed, which going back would ` +
          `lose. The store of before is in ${join(layout.home, 'before-migration')}.`,
      );
  }
  await putBack(layout);
  terminal.out('The store is as it was before the migration. Start it with the older version of Troupe.');
}

async function headOf(layout: Layout): Promise<Head> {
  const { openLevelStore } = await import('../store/level.js');
  const store = await openLevelStore({ directory: layout.home, scrubEveryMs: 0 });
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
