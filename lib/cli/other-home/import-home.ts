import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { processStart } from '../../home/announce.js';
import type { Client } from '../client.js';
import type { Terminal } from '../command-line.js';
import { CommandError, exitCodes } from '../failure.js';
import { openDatabase, type Database } from './database.js';
import { homeFiles, importFiles, readPlain, type HomeFiles } from './home-files.js';
import { importItems } from './past-items.js';
import { importSessions } from './past-sessions.js';
import { importJobs, importWorkflows } from './plans.js';
import { ImportLedger } from './report.js';
import type { Known } from './selection.js';
import type { SendOptions } from './send.js';
import { knownTables, type KnownTables } from './tables.js';
import { importTexts } from './texts.js';

export interface ImportHomeOptions {
  readonly apply: boolean;
  readonly replace: boolean;
  readonly json: boolean;
}

/**
 * Brings what the home of another server of this API holds into the home of a running gateway: by the same routes as a
 * bundle, so that it is judged alike and taken once. The other home is only read.
 */
export async function importHome(
  client: Client,
  home: string,
  { apply, replace, json }: ImportHomeOptions,
  terminal: Terminal,
): Promise<void> {
  await judgeHome(home);
  const ledger = new ImportLedger();
  const options = { client, ledger, apply, replace };
  const { engines } = await client.get('/api/engines');
  const roster = (await client.get('/api/org')).employees.map(({ name }) => name);
  const file = join(home, 'sessions', 'registry.db');
  const database = (await isFile(file)) ? await openDatabase(file) : undefined;
  try {
    const tables = database === undefined ? undefined : knownTables(database.tables);
    terminal.say('Reading employees and texts …');
    const come = await importTexts(home, { engines, employees: roster }, options);
    // A preview writes no one into the roster, and a name must be in it before it is used
    const known: Known = (name) =>
      roster.includes(name) || (apply && come.has(name)) ? 'here' : come.has(name) ? 'coming' : undefined;
    const files = homeFiles(home, database, tables ?? {});
    if (database === undefined || tables === undefined)
      ledger.leave('session', 'all', 'There is no sessions/registry.db.');
    else await importRows(database, tables, { files, known }, { options, terminal });
    await importFiles(home, files, options);
    await importJobs(home, { engines, known }, options);
    await importWorkflows(home, options);
  } finally {
    await database?.close();
  }
  await nameTheRest(home, ledger);
  const { taken, here, changed, leftOut } = ledger;
  if (json) terminal.out(JSON.stringify({ applied: apply, taken, here, changed, leftOut }));
  else ledger.print(terminal, apply);
}

async function importRows(
  database: Database,
  tables: KnownTables,
  { files, known }: { files: HomeFiles; known: Known },
  { options, terminal }: { options: SendOptions; terminal: Terminal },
): Promise<void> {
  terminal.say('Reading work items …');
  await importItems(database, tables, known, options);
  terminal.say('Reading sessions …');
  await importSessions(database, tables, files, options);
  for (const table of tables.others) {
    const count = database.count(table);
    if (count > 0)
      options.ledger.leave(
        'other',
        `table ${table.name}`,
        'Rows of tables that stand for nothing here.',
        count,
      );
  }
}

async function judgeHome(home: string): Promise<void> {
  const wrong = (sentence: string): CommandError => new CommandError(exitCodes.usage, sentence);
  const entries = await readdir(home).catch((cause: Error) => {
    throw new CommandError(exitCodes.usage, `${home} cannot be read.`, { cause });
  });
  if (
    !entries.some((name) => ['sessions', 'org', 'cron', 'workflow-evidence'].includes(name)) ||
    entries.includes('store')
  )
    throw wrong(
      `${home} is no home of another server: it has neither sessions/ nor org/, or is one of Troupe.`,
    );
  const announced = await readPlain(home, 'gateway.json');
  const pid = announced === undefined ? undefined : /"pid"\s*:\s*(\d+)/.exec(announced)?.[1];
  if (pid !== undefined && (await processStart(Number(pid))) !== null)
    throw wrong(
      `The server of ${home} runs (process ${pid}). Stop it first: its database changes under our eyes.`,
    );
}

const isFile = async (path: string): Promise<boolean> =>
  lstat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );

/** What is in that home and is not even looked into, and why. */
const rest: Readonly<Record<string, string>> = {
  'config.yaml': 'Settings differ, and hold keys: set up engines, connectors and budgets here.',
  'auth-devices.json': 'Browsers are paired with one server: pair them again.',
  secrets: 'Keys never move.',
  'cron/runs': 'Records of past runs.',
  'workflow-evidence/reports': 'Records of past workflow runs.',
  'workflow-evidence/workflow-triggers': 'Bindings hold only the hash of their secret: make them again.',
  models: 'Nothing here uses it.',
  logs: 'Logs.',
};

async function nameTheRest(home: string, ledger: ImportLedger): Promise<void> {
  for (const [path, why] of Object.entries(rest))
    if (
      await lstat(join(home, path)).then(
        () => true,
        () => false,
      )
    )
      ledger.leave('other', path, why);
}
