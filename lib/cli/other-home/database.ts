import { constants, rmSync } from 'node:fs';
import { copyFile, lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database as SqliteDatabase } from 'node-sqlite3-wasm';
import { optionalPackage } from '../../../actors/optional-package.js';
import { CommandError, exitCodes } from '../failure.js';

/** A copy of an SQLite database, with what its write-ahead log holds, read row by row. */
export interface Database {
  readonly tables: readonly Table[];
  /** Rows of a table, one at a time: large ones never stand in memory. Texts are cut at `charsMax`. */
  rows(table: Table, query?: RowsQuery): IterableIterator<Row>;
  count(table: Table): number;
  /** Rows that are asked for by this column are found without reading the others. */
  index(table: Table, column: string): void;
  close(): Promise<void>;
}

/** By the column's name in small letters and without underscores: `session_id` and `sessionId` are one. */
export type Row = Readonly<Record<string, string | number | null>>;

export interface Table {
  readonly name: string;
  /** From the plain name to the one in the table. */
  readonly columns: ReadonlyMap<string, string>;
}

export interface RowsQuery {
  readonly where?: { readonly column: string; readonly is: string };
  readonly order?: readonly string[];
}

export const charsMax = 400_000;

/** `openDatabase('/home/me/.other/sessions/registry.db')`. The original is opened for reading and only copied. */
export async function openDatabase(file: string): Promise<Database> {
  const { default: sqlite } = await optionalPackage(
    'node-sqlite3-wasm',
    () => import('node-sqlite3-wasm'),
  ).catch((cause: Error) => {
    throw new CommandError(
      exitCodes.failed,
      `Sessions and work items are in an SQLite database. ${cause.message}`,
      {
        cause,
      },
    );
  });
  const folder = await mkdtemp(join(tmpdir(), 'troupe-import-'));
  // Who stops the command by a signal leaves no conversations behind in a temporary folder
  const leave = (signal: NodeJS.Signals): void => {
    rmSync(folder, { recursive: true, force: true });
    for (const one of signals) process.removeListener(one, leave);
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, leave);
  const drop = async (): Promise<void> => {
    for (const signal of signals) process.removeListener(signal, leave);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const copy = join(folder, 'copy.db');
    await copyPlain(file, copy);
    // What was written last may be in the log alone
    await copyPlain(`${file}-wal`, `${copy}-wal`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const database = new sqlite.Database(copy);
    try {
      // The library shares no memory: it reads a write-ahead log only as the one who holds the file
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF;');
      database.all('PRAGMA journal_mode = DELETE');
      return readerOf(database, drop);
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    await drop();
    if (error instanceof CommandError) throw error;
    throw new CommandError(exitCodes.failed, `${file} cannot be read: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Not through a link: the maker of the folder could name any file by one. */
async function copyPlain(from: string, to: string): Promise<void> {
  if (!(await lstat(from)).isFile()) throw new Error(`${from} is no regular file`);
  await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
}

function readerOf(database: SqliteDatabase, drop: () => Promise<void>): Database {
  const names = database
    .all("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .map((row) => String(row['name']));
  const tables = names.map((name): Table => {
    const columns = database.all(`PRAGMA table_info(${quoted(name)})`).map((row) => String(row['name']));
    return { name, columns: new Map(columns.map((column) => [plainName(column), column])) };
  });
  const real = (table: Table, column: string): string => quoted(table.columns.get(column) ?? column);
  return {
    tables,
    *rows(table, { where, order = [] } = {}) {
      const columns = [...table.columns].map(
        ([plain, column]) =>
          `CASE typeof(${quoted(column)}) WHEN 'text' THEN substr(${quoted(column)}, 1, ${charsMax}) ` +
          `WHEN 'blob' THEN NULL ELSE ${quoted(column)} END AS ${quoted(plain)}`,
      );
      const sorted = order.filter((column) => table.columns.has(column)).map((column) => real(table, column));
      const statement = database.prepare(
        `SELECT ${columns.join(', ')} FROM ${quoted(table.name)}` +
          (where === undefined ? '' : ` WHERE ${real(table, where.column)} = ?`) +
          (sorted.length === 0 ? '' : ` ORDER BY ${sorted.join(', ')}`),
      );
      try {
        for (const row of statement.iterate(where === undefined ? [] : [where.is]))
          yield Object.fromEntries(
            Object.entries(row).map(([name, value]) => [
              name,
              typeof value === 'string' || typeof value === 'number'
                ? value
                : value === null
                  ? null
                  : Number(value),
            ]),
          );
      } finally {
        statement.finalize();
      }
    },
    count(table) {
      return Number(database.get(`SELECT count(*) AS n FROM ${quoted(table.name)}`)?.['n'] ?? 0);
    },
    index(table, column) {
      database.exec(`CREATE INDEX troupe_import ON ${quoted(table.name)} (${real(table, column)})`);
    },
    async close() {
      database.close();
      await drop();
    },
  };
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const plainName = (column: string): string => column.toLowerCase().replaceAll('_', '');
