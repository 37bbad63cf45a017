import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { sealEntry } from '../../../../lib/store/chain.js';
import { keys } from '../../../../lib/store/keys.js';
import { keptPosition } from '../../../../lib/home/kept-position.js';
import { placeOf } from '../../../../lib/store/postgres/connection.js';
import { knownPosition, type PositionKeeper } from '../../../../lib/store/postgres/known-position.js';
import { openPostgresStore, type PostgresStore } from '../../../../lib/store/postgres/postgres.js';
import { groupAfter, rejection } from '../../../../lib/testing/store-contract.js';
import { startPostgres, type PostgresServer } from '../../../helpers/postgres-server.js';

/**
 * What an asynchronous standby does that is promoted, and a backup that is restored: the database is as it was some
 * commits ago. Everything went on from there, and what had been acknowledged was gone without a word.
 */
describe('a database that has lost commits', function () {
  this.timeout(180_000);
  let server: PostgresServer;
  let url: string;
  let folder: string;
  const opened: PostgresStore[] = [];
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    url = `${await server.newDatabase()}?lease=1`;
    folder = await mkdtemp(join(tmpdir(), 'troupe-position-'));
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await rm(folder, { recursive: true });
  });

  const positionsOf = (node: string): PositionKeeper => keptPosition(join(folder, node), url);
  async function open(node: string, isStandby = false): Promise<PostgresStore> {
    const store = await openPostgresStore({
      url,
      node,
      positions: positionsOf(node),
      ...(isStandby && { onOwned: () => new AbortController().signal }),
    });
    opened.push(store);
    return store;
  }
  const add = (store: PostgresStore, name: string): Promise<void> =>
    store.write(groupAfter(store.head, 1, [[`a/x/${name}`, '1']]));
  const reached = (store: PostgresStore): Promise<string> =>
    new Promise((resolve) => {
      if (store.state.state === 'lost') return resolve(store.state.reason);
      store.onState((state) => state.state === 'lost' && resolve(state.reason));
    });

  /** The database as it is now, to be gone back to: every connection to it breaks then. */
  async function copy(): Promise<() => Promise<void>> {
    const withAdmin = async (work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> => {
      const sql = postgres(placeOf(url).url, { max: 1, onnotice: () => undefined });
      await work(sql);
      await sql.end();
    };
    await withAdmin((sql) =>
      sql.unsafe('create table old_home as table troupe_home; create table old_row as table troupe_row'),
    );
    return () =>
      withAdmin((sql) =>
        sql.begin(async (tx) => {
          await tx.unsafe('lock table troupe_home in access exclusive mode');
          await tx.unsafe('delete from troupe_row; insert into troupe_row table old_row');
          await tx.unsafe(
            'update troupe_home h set frame = o.frame, seq = o.seq, chain = o.chain from old_home o where o.id = h.id',
          );
          await tx.unsafe(
            'select pg_terminate_backend(pid) from pg_stat_activity ' +
              'where datname = current_database() and pid <> pg_backend_pid()',
          );
        }),
      );
  }

  /** An owner with one commit, to which the database can go back. */
  async function openWithOne(node: string) {
    const owner = await open(node);
    await add(owner, 'one');
    return { owner, goBack: await copy() };
  }

  it('ends its owner, who says how many, and refuses every node that knows of them', async () => {
    const { owner, goBack } = await openWithOne('a');
    await add(owner, 'two');
    await add(owner, 'three');
    await goBack();
    const why = await reached(owner);
    expect(why).to.match(
      /has lost at least 2 commits of the home "default": it ends at 1, and 3 was reached/,
    );
    expect(await rejection(add(owner, 'four'))).to.include({ code: 'LOST' });
    await owner.close();
    const refused = await rejection(open('a', true));
    expect(refused).to.include({ code: 'REFUSED', message: why });
    expect(refused.message).to.include('--accept-loss');
    // A person has decided, on this node
    await rm(join(folder, 'a'));
    const again = await open('a', true);
    expect(again.head.seq).to.equal(1);
    await add(again, 'other two');
  });

  it('is refused by a standby that saw more of it, and by the same node after a restart', async () => {
    const { owner, goBack } = await openWithOne('a');
    await add(owner, 'two');
    await owner.close();
    await (await open('b')).close(); // it has seen both
    await goBack();
    for (const _ of [1, 2]) {
      const refused = await rejection(open('b', true));
      expect(refused.message).to.match(/has lost at least 1 commit of the home "default"/);
    }
    // What was kept is of that database alone
    const elsewhere = keptPosition(join(folder, 'b'), 'postgres://troupe@localhost/other');
    expect(await elsewhere.read()).to.equal(undefined);
    expect(await positionsOf('b').read()).to.include({ seq: 2 });
    // A copy that is promoted has another address
    const promoted = keptPosition(join(folder, 'b'), url.replace(/@[^/]+/, '@db2.example:5433'));
    expect(await promoted.read()).to.include({ seq: 2 });
  });

  // Checkpoints of effects have no entry. Its owner could write nothing more and did not know why; and what was done
  // once at most was done again after a restart
  it('is one as well where no lost commit has an entry of the log', async () => {
    const { owner, goBack } = await openWithOne('a');
    await owner.write(groupAfter(owner.head, 0, [['o/begun', '1']]));
    await goBack();
    const why = await reached(owner);
    expect(why).to.match(/has lost at least 1 commit of the home "default": of 2 it holds 1, though/);
    await owner.close();
    for (const _ of [1, 2])
      expect(await rejection(open('a', true))).to.include({ code: 'REFUSED', message: why });
  });

  // Killed while it waited, it took the home over in a database that had lost what it had seen
  it('is refused by a standby that was killed while it waited', async () => {
    const { owner, goBack } = await openWithOne('a');
    await add(owner, 'two');
    const waiting = new AbortController();
    const standby = openPostgresStore({
      ...{ url, node: 'b', positions: positionsOf('b') },
      onOwned: () => waiting.signal,
    });
    standby.catch(() => undefined);
    while ((await positionsOf('b').read())?.seq !== 2) await new Promise(setImmediate);
    // As after a kill: what it keeps at its end comes too late
    const kept = await readFile(join(folder, 'b'));
    waiting.abort();
    await rejection(standby);
    await writeFile(join(folder, 'b'), kept);
    await owner.close();
    await goBack();
    expect(await rejection(open('b', true))).to.include({ code: 'REFUSED' });
  });

  // Nodes that share a folder: one that thawed put what was lost over what the owner had kept since
  it('is no reason to take back what another node of the folder has kept since', async () => {
    const { owner: lost, goBack } = await openWithOne('shared');
    await add(lost, 'two');
    await add(lost, 'three');
    await lost.close();
    await goBack();
    const refusal = await knownPosition(positionsOf('shared'), 'default');
    await rm(join(folder, 'shared')); // a person goes on without
    const owner = await open('shared');
    await add(owner, 'other');
    await owner.close();
    refusal.reached({ seq: 9, chain: 'of what is lost', frame: 9 });
    await refusal.keep({ isRefused: true });
    expect(await positionsOf('shared').read()).to.include({ seq: 2 });
  });

  it('is another one where the log goes on differently from the same place', async () => {
    const { owner, goBack } = await openWithOne('a');
    await add(owner, 'two');
    await owner.close();
    await goBack();
    const unaware = await open('c');
    await unaware.write({ ...groupAfter(unaware.head, 1, []), chain: 'of another history' });
    await unaware.close();
    expect((await rejection(open('a'))).message).to.match(/holds another history .* seen at 2/);
  });

  // Only where both ended at the same entry was it compared. Found under Patroni: a node that had seen more than a promoted
  // copy had went on once others had written more than that.
  it('is another one where that log has grown longer than what was seen', async () => {
    const { owner, goBack } = await openWithOne('a');
    await add(owner, 'two');
    await add(owner, 'three');
    await owner.close();
    await goBack();
    const unaware = await open('c');
    const { seq, chain } = unaware.head;
    const other = sealEntry(chain, JSON.stringify({ seq: seq + 1, note: 'another entry' }));
    await unaware.write({
      first: seq + 1,
      last: seq + 1,
      chain: other.chain,
      ops: [[keys.log(seq + 1), other.value]],
    });
    for (const name of ['x', 'y', 'z']) await add(unaware, name);
    await unaware.close();
    expect((await rejection(open('a', true))).message).to.match(/holds another history .* seen at 3/);
    await (await open('c')).close();
  });

  // A node that was led to a copy that follows the primary from afar ended, and invited its operator to accept a loss
  // that was none.
  it('is none where it has not caught up yet: a standby that is not promoted is waited for', async () => {
    const { owner, goBack } = await openWithOne('b');
    await add(owner, 'two');
    const sql = postgres(placeOf(url).url, { max: 1, onnotice: () => undefined });
    await sql.unsafe(`
      create schema pretended;
      create table pretended.recovery as select false as now;
      create function pretended.pg_is_in_recovery() returns boolean language sql as 'select now from pretended.recovery';
      create table kept_home as table troupe_home;
      create table kept_row as table troupe_row;
      alter database "${new URL(url).pathname.slice(1)}" set search_path = pretended, pg_catalog, public`);
    const waiting = open('a', true);
    let refused: Error | undefined;
    waiting.catch((error: Error) => (refused = error));
    while ((await sql`select from troupe_node where node = 'a'`).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await sql`update pretended.recovery set now = true`;
    await owner.close();
    await goBack(); // which ends its connections: the next ones see the pretence
    expect((await rejection(open('c'))).code).to.equal('STORE_UNAVAILABLE');
    const looks = async (): Promise<number> => {
      const [row] =
        await sql`select xact_commit as n from pg_stat_database where datname = current_database()`;
      return Number(row?.['n']);
    };
    for (const before = await looks(); refused === undefined && (await looks()) < before + 5;)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(refused).to.equal(undefined);
    // it catches up, and is promoted
    await sql.unsafe(`
      delete from troupe_row; insert into troupe_row table kept_row;
      update troupe_home h set frame = o.frame, seq = o.seq, chain = o.chain from kept_home o where o.id = h.id;
      update pretended.recovery set now = false`);
    await sql.end();
    expect((await waiting).head.seq).to.equal(2);
  });
});
