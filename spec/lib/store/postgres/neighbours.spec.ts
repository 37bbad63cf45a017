import { expect } from 'chai';
import postgres from 'postgres';
import { openPostgresStore, type PostgresStore } from '../../../../lib/store/postgres/postgres.js';
import { groupAfter, rejection } from '../../../../lib/testing/store-contract.js';
import { startPostgres, type PostgresServer } from '../../../helpers/postgres-server.js';

/**
 * Others with roles of their own in the same database. Before PostgreSQL 15 each of them may make tables and functions
 * in the schema `public`: one that made ours first read and wrote all of the home, and one that made a function of the
 * same name was asked for each commit, with our rights.
 */
describe('neighbours in the database', function () {
  this.timeout(120_000);
  let server: PostgresServer;
  let url: string;
  let neighbour: postgres.Sql;
  let store: PostgresStore | undefined;
  const as = (name: string): string => url.replace('//troupe@', `//${name}@`);
  const open = (name = 'app'): Promise<PostgresStore> => openPostgresStore({ url: as(name), node: 'n' });
  const write = (to: PostgresStore, name: string) => to.write(groupAfter(to.head, 1, [[`a/x/${name}`, '1']]));

  before(async () => {
    server = await startPostgres();
    const admin = postgres(await server.newDatabase(), { fetch_types: false });
    await admin.unsafe('create role app login; create role boss login; create role neighbour login');
    await admin.unsafe('grant boss to app');
    await admin.end();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    url = await server.newDatabase();
    const admin = postgres(url, { fetch_types: false });
    await admin.unsafe('grant create on schema public to public');
    await admin.end();
    neighbour = postgres(as('neighbour'), { max: 1, fetch_types: false, onnotice: () => undefined });
  });
  afterEach(async () => {
    await store?.close();
    store = undefined;
    await neighbour.end();
  });

  /** The tables and the function, made by someone else and open to all. */
  async function madeBy(name: string): Promise<void> {
    const first = await open(name);
    await first.close();
    const sql = postgres(as(name), { fetch_types: false });
    await sql.unsafe('grant all on all tables in schema public to public');
    await sql.unsafe('grant all on all sequences in schema public to public');
    await sql.end();
  }

  for (const name of ['app', 'troupe'])
    it(`tables that a neighbour made first are not used, as ${name}`, async () => {
      await madeBy('neighbour');
      const refused = await rejection(open(name));
      expect(refused).to.include({ code: 'REFUSED' });
      expect(refused.message).to.match(/troupe_\w+ .*"neighbour".*alter/is);
    });

  it('nor is one that a neighbour made alone', async () => {
    await neighbour`create table troupe_node (home int, node text, address text, version text, seen_at timestamptz)`;
    await neighbour`grant all on troupe_node to public`;
    expect((await rejection(open())).message).to.contain('"neighbour"');
  });

  it('nor a function', async () => {
    await neighbour.unsafe(`create function troupe_commit(
      int, bigint, uuid, bigint, bigint, bigint, text, interval, text[], text[], text[]
    ) returns text language sql as $$ select 'done' $$`);
    expect((await rejection(open())).message).to.contain('"neighbour"');
  });

  it('those of the superuser, of the owner of the database and of a role that it belongs to are', async () => {
    for (const name of ['troupe', 'boss']) {
      await madeBy(name);
      store = await open();
      await write(store, name);
      await store.close();
      const sql = postgres(as(name), { fetch_types: false, onnotice: () => undefined });
      await sql.unsafe('drop table troupe_home, troupe_row, troupe_node cascade');
      await sql`drop function troupe_commit`;
      await sql.end();
    }
  });

  it('a function of that name made later is not asked', async () => {
    store = await open();
    await neighbour.unsafe(`create function troupe_commit(
      text, text, text, text, text, text, text, interval, text[], text[], text[]
    ) returns text language plpgsql as $$ begin raise exception 'asked'; end $$`);
    await store.close();
    store = await open();
    await write(store, 'kept');
    expect(await store.get('a/x/kept')).to.equal('1');
  });

  it('who holds the lock of first starts keeps no later one waiting', async () => {
    await (await open()).close();
    await neighbour`select pg_advisory_lock(7420)`;
    store = await open();
    await write(store, 'kept');
  });
});
