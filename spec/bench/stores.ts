import postgres from 'postgres';
import type { Group, Store } from '../../lib/store/contract.js';
import { openLevelStore } from '../../lib/store/level.js';
import { connectTo, placeOf } from '../../lib/store/postgres/connection.js';
import { columnsOf } from '../../lib/store/postgres/reads.js';
import { openPostgresStore } from '../../lib/store/postgres/postgres.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { startPostgres, type PostgresServer } from '../helpers/postgres-server.js';
import { counters, mustHold, populate, recording, replay, workItems, type Subject } from './actors.js';
import { inFlight, median, timed, withHome, type Figure, type Measure } from './measure.js';

/**
 * The same work on LevelDB and on a PostgreSQL of its own on the same machine, with 64 in flight, interleaved; beside
 * them the rows that the kernel wrote to PostgreSQL as plain transactions: no owner, no lease, no order of the log.
 */
const actors = 1_024;
const lanes = 64;
const moves = 16_384;
const creates = 8_192;
const groupsInFlight = 2; // as the committer has
const idleSeconds = 30;

export const stores: Measure = {
  name: 'stores',
  about: `a home on PostgreSQL beside one on LevelDB, ${lanes} in flight`,
  async run({ rounds }) {
    const server = await startPostgres();
    try {
      return [
        ...(await compare('work-item', workItems, rounds, server)),
        ...(await compare('counter', counters, rounds, server)),
        await idle(server),
      ];
    } finally {
      await server.stop();
    }
  },
};

async function compare(
  name: string,
  subject: Subject,
  rounds: number,
  server: PostgresServer,
): Promise<Figure[]> {
  const level: Rates[] = [];
  const shared: Rates[] = [];
  const raw: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    level.push(await withHome(async (directory) => work(await openLevelStore({ directory }), subject)));
    const url = await server.newDatabase();
    const written: Group[] = [];
    const store = recording(await openPostgresStore({ url }), written);
    const { groups, ...rates } = await work(store, subject, written);
    shared.push(rates);
    raw.push(await plain(await server.newDatabase(), groups));
  }
  const ratio = (of: (round: number) => number): number => median(shared.map((_, round) => of(round)));
  const rate = (kind: keyof Rates, round: number): number => shared[round]?.[kind] as number;
  return [
    {
      name: `${name}: events ÷ LevelDB`,
      value: ratio((round) => rate('events', round) / (level[round]?.events as number)),
      unit: 'ratio',
      target: { atLeast: 0.6 },
    },
    {
      name: `${name}: creates ÷ LevelDB`,
      value: ratio((round) => rate('creates', round) / (level[round]?.creates as number)),
      unit: 'ratio',
      target: { atLeast: 0.35 },
    },
    {
      name: `${name}: events ÷ plain transactions of the same rows`,
      value: ratio((round) => rate('events', round) / (raw[round] as number)),
      unit: 'ratio',
      target: { atLeast: 0.5 },
    },
    { name: `${name}: events, LevelDB`, value: median(level.map(({ events }) => events)), unit: '/s' },
    { name: `${name}: events, PostgreSQL`, value: median(shared.map(({ events }) => events)), unit: '/s' },
    { name: `${name}: creates, LevelDB`, value: median(level.map(({ creates }) => creates)), unit: '/s' },
    { name: `${name}: creates, PostgreSQL`, value: median(shared.map(({ creates }) => creates)), unit: '/s' },
    { name: `${name}: plain transactions of the same rows`, value: median(raw), unit: 'events/s' },
  ];
}

/** Per second. */
interface Rates {
  readonly events: number;
  readonly creates: number;
}

/** `written`: what a recording store has noted so far; answered are the `groups` of the events alone. */
async function work(
  store: Store,
  subject: Subject,
  written: readonly Group[] = [],
): Promise<Rates & { readonly groups: readonly Group[] }> {
  const { kind } = subject.kind;
  const supervisor = await createSupervisor({ kinds: [subject.kind], store });
  await populate(supervisor, subject, actors);
  const drive = (count: number): Promise<void> =>
    inFlight(lanes, count, async (lane, turn) => {
      const id = `a${lane + (turn % (actors / lanes)) * lanes}`;
      mustHold(await supervisor.ask(kind, id, subject.event(Math.floor(turn / (actors / lanes)))));
    });
  await drive(lanes * 48); // code is compiled; a multiple of what one round of events needs
  const createsMs = await timed(() =>
    inFlight(lanes, creates, async (lane, turn) => {
      const n = turn * lanes + lane;
      mustHold(await supervisor.spawn(kind, { id: `b${n}`, input: subject.input(n) }));
    }),
  );
  const before = written.length;
  const eventsMs = await timed(() => drive(moves));
  const groups = written.slice(before);
  await supervisor.stop();
  return { events: (moves / eventsMs) * 1_000, creates: (creates / createsMs) * 1_000, groups };
}

/** Groups as one statement each over one connection, which is what a program without a supervisor would do. */
async function plain(url: string, groups: readonly Group[]): Promise<number> {
  const sql = await connectTo(placeOf(url), undefined, 1);
  try {
    await sql`create table plain (key text collate "C" primary key, value text not null)`;
    const write = async ({ ops }: Group): Promise<void> => {
      const { keys, values, gone } = columnsOf(ops);
      await sql.unsafe(
        'with gone as (delete from plain where key = any ($1::text[])) ' +
          'insert into plain select * from unnest($2::text[], $3::text[]) ' +
          'on conflict (key) do update set value = excluded.value',
        [gone as string[], keys as string[], values as string[]],
        { prepare: true },
      );
    };
    const warmUp = Math.floor(groups.length / 8); // the table has rows, the statement is planned
    await replay({ write }, groups.slice(0, warmUp), groupsInFlight);
    const ms = await timed(() => replay({ write }, groups.slice(warmUp), groupsInFlight));
    return ((moves * (groups.length - warmUp)) / groups.length / ms) * 1_000;
  } finally {
    await sql.end();
  }
}

/** What an owner asks of the database while nothing happens, by the database's own count. */
async function idle(server: PostgresServer): Promise<Figure> {
  const url = await server.newDatabase();
  const supervisor = await createSupervisor({
    kinds: [counters.kind],
    store: await openPostgresStore({ url }),
  });
  const sql = postgres(url.replace(/[^/]+$/, 'postgres'), { max: 1, fetch_types: false });
  const name = new URL(url).pathname.slice(1);
  const count = async (): Promise<number> => {
    const [row] = await sql`
      select xact_commit + xact_rollback as many from pg_stat_database where datname = ${name}`;
    return Number(row?.['many']);
  };
  const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  await pause(15); // past what a start does
  const before = await count();
  await pause(idleSeconds);
  const statements = (await count()) - before;
  await sql.end();
  await supervisor.stop();
  return {
    name: 'statements of an idle owner',
    value: statements / idleSeconds,
    unit: '/s',
    target: { atMost: 2 },
  };
}
