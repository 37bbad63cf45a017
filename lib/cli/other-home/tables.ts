import type { Database, Row, Table } from './database.js';

/**
 * Which table holds what. How that server calls its tables differs by version and is written down nowhere, but what a
 * session, a message, a work item and a file have is part of the API: a table is known by its columns.
 */
export interface KnownTables {
  readonly sessions?: Table;
  readonly messages?: Table;
  readonly items?: Table;
  readonly files?: Table;
  readonly others: readonly Table[];
}

const shapes = {
  sessions: {
    needed: ['id', 'engine', 'status', 'createdat'],
    typical: ['sessionkey', 'employee', 'lastactivity', 'enginesessionid', 'totalcost', 'parentsessionid'],
    least: 2,
  },
  messages: {
    needed: ['id', 'sessionid', 'role', 'content'],
    typical: ['timestamp', 'createdat', 'toolcall', 'toolid', 'media', 'blocks'],
    least: 1,
  },
  items: {
    needed: ['id', 'title', 'status'],
    typical: ['assignee', 'acceptance', 'verifypolicy', 'priority', 'rounds', 'approvalstate', 'sourceref'],
    least: 3,
  },
  files: { needed: ['id', 'filename'], typical: ['mimetype', 'size', 'path'], least: 2 },
} as const;

/** `knownTables(database.tables).sessions?.name` */
export function knownTables(tables: readonly Table[]): KnownTables {
  const known: Partial<Record<keyof typeof shapes, Table>> = {};
  for (const [name, { needed, typical, least }] of Object.entries(shapes)) {
    const taken = Object.values(known);
    const fit = tables
      .filter((table) => !taken.includes(table) && needed.every((column) => table.columns.has(column)))
      .map((table) => ({ table, count: typical.filter((column) => table.columns.has(column)).length }))
      .filter(({ count }) => count >= least)
      .sort((one, other) => other.count - one.count);
    if (fit[0] !== undefined) known[name as keyof typeof shapes] = fit[0].table;
  }
  const taken = Object.values(known);
  return { ...known, others: tables.filter((table) => !taken.includes(table)) };
}

/** A text of a row; undefined where there is none. */
export function textOf(row: Row, column: string, most = 200): string | undefined {
  const value = row[column];
  const text = value === null || value === undefined ? '' : String(value).trim();
  return text === '' ? undefined : text.slice(0, most);
}

/** Within bounds; else undefined. */
export function numberOf(row: Row, column: string, most: number): number | undefined {
  const value = row[column];
  const number = value === null || value === undefined || value === '' ? NaN : Number(value);
  return number >= 0 && number <= most ? number : undefined;
}

/** Epoch milliseconds of a time that is written as ISO-8601, in milliseconds or in seconds. */
export function timeOf(row: Row, column: string): number | undefined {
  const value = row[column];
  if (value === null || value === undefined || value === '') return undefined;
  const number = Number(value);
  const at = Number.isNaN(number)
    ? Date.parse(String(value))
    : number < 100_000_000_000
      ? number * 1000
      : number;
  return at >= 0 && at <= latest ? Math.floor(at) : undefined;
}

const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** What stands in a column as JSON; undefined: nothing, or it is cut or broken. */
export function jsonOf(row: Row, column: string): unknown {
  try {
    return JSON.parse(String(row[column] ?? '')) as unknown;
  } catch {
    return undefined;
  }
}

/** The order in which rows were written, as far as the table says. */
export const rowsInOrder = (database: Database, table: Table, column: string): IterableIterator<Row> =>
  database.rows(table, { order: [column, 'id'] });
