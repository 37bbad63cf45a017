import type { Op, Range, Store } from '../contract.js';
import { headKey, pageLimit, pageMax } from '../keys.js';
import type { Sql } from './connection.js';

/** Reading rows of one home. Every read sees what was committed before it began. */
export type Reads = Pick<Store, 'get' | 'getMany' | 'page' | 'count'>;

export function readsOf(pool: () => Asked | Promise<Asked>, home: number): Reads {
  const rows = async (text: string, given: readonly unknown[]): Promise<readonly Row[]> =>
    (await pool()).unsafe(text, given as never[], { prepare: true });
  return {
    async get(key) {
      const [row] = await rows('select value from troupe_row where home = $1 and key = $2', [home, key]);
      return row?.['value'] as string | undefined;
    },
    async getMany(wanted) {
      if (wanted.length === 0) return [];
      const found = await rows(
        'select key, value from troupe_row where home = $1 and key = any ($2::text[])',
        [home, wanted],
      );
      const values = new Map(found.map((row) => [row['key'] as string, row['value'] as string]));
      return wanted.map((key) => values.get(key));
    },
    async page(range) {
      const { where, given } = boundsOf(home, range);
      const order = range.reverse === true ? 'desc' : 'asc';
      const value = range.keysOnly === true ? "''" : 'value';
      const found = await rows(
        `select key, ${value} as value from troupe_row where ${where} order by key ${order} ` +
          `limit $${given.length + 1} offset $${given.length + 2}`,
        [...given, pageLimit(range.limit), range.offset ?? 0],
      );
      return found.map((row) => [row['key'] as string, row['value'] as string]);
    },
    async count(range) {
      const { where, given } = boundsOf(home, range);
      const limit = range.limit === undefined ? '' : ` limit $${given.length + 1}`;
      const [row] = await rows(
        `select count(*) as many from (select 1 from troupe_row where ${where}${limit}) as found`,
        range.limit === undefined ? given : [...given, range.limit],
      );
      return Number(row?.['many'] ?? 0);
    },
  };
}

type Asked = Pick<Sql, 'unsafe'>;
type Row = Readonly<Record<string, unknown>>;

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function boundsOf(
  home: number,
  range: Range,
): { readonly where: string; readonly given: readonly unknown[] } {
  const given: unknown[] = [home];
  const where = ['home = $1'];
  for (const [name, operator] of Object.entries(operators)) {
    const bound = range[name as keyof typeof operators];
    if (bound === undefined) continue;
    const [begin = '', ...rest] = bound.split('\0', 2);
    where.push(`key ${rest.length === 0 ? operator : behind[operator]} $${given.push(begin)}`);
  }
  return { where: where.join(' and '), given };
}

/**
 * PostgreSQL takes no text with a NUL, so no key has one: what a bound with one lies before or after, what stands
 * before that character tells.
 */
const behind = { '>': '>', '>=': '>', '<': '<=', '<=': '<=' } as const;

/**
 * All rows of a home as of one moment, page by page, the head before them: what a check or a base image of a
 * LevelDB is made from.
 */
export async function* walkHome(sql: Sql, home: number): AsyncGenerator<(readonly [string, string])[]> {
  const one = await sql.reserve();
  try {
    await one`begin transaction isolation level repeatable read read only`;
    const [head] = await one`select frame, seq, chain from troupe_home where id = ${home}`;
    const { frame, seq, chain } = head ?? {};
    yield [
      [headKey, JSON.stringify({ frame: Number(frame), seq: Number(seq), chain: String(chain), digest: '' })],
    ];
    const { page } = readsOf(() => one, home);
    for (let after = ''; ;) {
      const rows = await page({ gt: after, limit: pageMax });
      if (rows.length > 0) yield rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < pageMax) break;
      after = last[0];
    }
  } finally {
    // Also where the one who reads gave up: left open, the moment would go on for all later reads of this connection
    await one`rollback`.catch(() => undefined);
    one.release();
  }
}

/** The ops of a group as the commit takes them: the last one of a key wins. */
export function columnsOf(ops: readonly Op[]): {
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly gone: readonly string[];
} {
  const last = new Map(ops);
  const keys: string[] = [];
  const values: string[] = [];
  const gone: string[] = [];
  for (const [key, value] of last) {
    if (value === null) gone.push(key);
    else {
      keys.push(key);
      values.push(value);
    }
  }
  return { keys, values, gone };
}
