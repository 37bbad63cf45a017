import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { StoreError, StoreState } from '../../../../lib/store/contract.js';
import { storePorts } from '../../../../lib/store/ports.js';
import { drainHome, fenceHome } from '../../../../lib/store/postgres/nodes.js';
import { leavePostgres } from '../../../../lib/store/postgres/copies.js';
import { readsOf, walkHome } from '../../../../lib/store/postgres/reads.js';
import { openPostgresStore, type PostgresStore } from '../../../../lib/store/postgres/postgres.js';
import { groupAfter, rejection } from '../../../../lib/testing/store-contract.js';
import { startPostgres, type PostgresServer } from '../../../helpers/postgres-server.js';
import { lossyProxy, type LossyProxy } from '../../../helpers/lossy-proxy.js';

/** Resolves at the first state that is wanted, however long ago it came. */
const reached = (store: PostgresStore, wanted: StoreState['state']): Promise<void> =>
  new Promise((resolve) => {
    if (store.state.state === wanted) return resolve();
    const ignore = store.onState(({ state }) => {
      if (state !== wanted) return;
      ignore();
      resolve();
    });
  });

/** Asked for again until it is so. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

const next = (store: PostgresStore, name: string) => groupAfter(store.head, 1, [[`a/x/${name}`, '1']]);

describe('a home in PostgreSQL', function () {
  this.timeout(180_000);
  let server: PostgresServer;
  let url: string;
  const opened: PostgresStore[] = [];
  const proxies: LossyProxy[] = [];
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    url = await server.newDatabase();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  });

  async function open(given: Partial<Parameters<typeof openPostgresStore>[0]> = {}): Promise<PostgresStore> {
    const store = await openPostgresStore({ url: `${url}?lease=1`, node: 'n', ...given });
    opened.push(store);
    return store;
  }

  /** Wait for it as its standby. */
  const standBy = (): Promise<PostgresStore> => open({ onOwned: () => new AbortController().signal });

  async function behindProxy(): Promise<{ readonly store: PostgresStore; readonly proxy: LossyProxy }> {
    const proxy = await lossyProxy(server.port);
    proxies.push(proxy);
    const through = url.replace(`:${server.port}`, `:${proxy.port}`);
    return { proxy, store: await open({ url: `${through}?lease=1` }) };
  }

  it('has one owner: another one is refused, and told who it is', async () => {
    await open({ node: 'first' });
    const refused = await rejection(openPostgresStore({ url, node: 'second' }));
    expect(refused).to.include({ code: 'LOCKED' });
    expect(refused.message).to.contain('node first');
  });

  it('keeps homes of one database apart', async () => {
    const one = await open({ url: `${url}?home=one` });
    const two = await open({ url: `${url}?home=two` });
    await one.write(next(one, 'only'));
    expect(await two.get('a/x/only')).to.equal(undefined);
    expect(two.head.seq).to.equal(0);
  });

  it('goes over at once where it is given back, with everything that was acknowledged and a greater epoch', async () => {
    const first = await open();
    await first.write(next(first, 'kept'));
    const { head, epoch } = first;
    await first.close();
    const second = await open();
    expect(await second.get('a/x/kept')).to.equal('1');
    expect(second.head).to.deep.equal(head);
    expect(second.epoch).to.equal(epoch + 1);
  });

  it('is taken over by its standby when the lease ends; its former owner writes and acknowledges nothing more', async () => {
    const { store: former, proxy } = await behindProxy();
    await former.write(next(former, 'before'));
    const waiting = standBy();
    proxy.hold(); // the former owner is cut off, and does not know it
    const lost = former.write(next(former, 'during')).catch((error: StoreError) => error.code);
    const owner = await waiting;
    expect(former.authority()).to.equal(false);
    await owner.write(next(owner, 'after'));
    proxy.pass();
    await reached(former, 'lost');
    // Its answer never came, so no one can say that it was not written
    expect(await lost).to.equal('OUTCOME_UNKNOWN');
    expect((await rejection(former.write(next(former, 'late')))).code).to.equal('LOST');
    expect(await owner.getMany(['a/x/before', 'a/x/during', 'a/x/after', 'a/x/late'])).to.deep.equal([
      '1',
      undefined,
      '1',
      undefined,
    ]);
  });

  // No one is answered between an owner and the next: a look in ten per second was a quarter of that time
  it('is looked at oftener by its standby while its owner hands it over', async () => {
    const first = await open();
    const { clock } = storePorts({});
    const pauses = new Set<number>();
    const waiting = open({
      onOwned: () => new AbortController().signal,
      ports: {
        clock: {
          ...clock,
          wait(ms, given) {
            pauses.add(ms);
            return clock.wait(ms, given);
          },
        },
      },
    });
    await until(async () => pauses.has(100));
    expect([...pauses].filter((ms) => ms < 100)).to.deep.equal([]);
    await drainHome(url);
    await until(async () => pauses.has(20));
    await first.close();
    expect((await waiting).epoch).to.equal(first.epoch + 1);
  });

  // the next one owned it while agents of the fenced one, which had not heard of it, still acted for a second
  it('has no owner after a fence until the lease of the fenced one, who cannot hear of it, has ended', async () => {
    const { store: former, proxy } = await behindProxy();
    await former.write(next(former, 'before'));
    const waiting = standBy();
    proxy.hold();
    await fenceHome(`${url}?lease=1`);
    const owner = await waiting;
    expect(former.authority()).to.equal(false);
    expect(owner.epoch).to.equal(former.epoch + 2);
    proxy.pass();
    await reached(former, 'lost');
  });

  it('loses and doubles nothing where connections break in the middle of commits', async () => {
    const { store, proxy } = await behindProxy();
    let written = 0;
    for (let round = 0; round < 12; round += 1) {
      // On the way there, and on the way back: the latter is in, and its answer is lost
      if (round % 3 === 1) proxy.cutAfter('request');
      if (round % 3 === 2) proxy.cutAfter('answer');
      const group = next(store, String(round));
      await store.write(group);
      written += 1;
      await reached(store, 'ready');
    }
    expect(store.head.seq).to.equal(written);
    expect(await store.count({ gte: 'a/x/', lt: 'a/x0' })).to.equal(written);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('goes on where the server was killed and started again', async () => {
    const store = await open({ url: `${url}?lease=3` });
    await store.write(next(store, 'before'));
    await server.kill();
    const during = store.write(next(store, 'during')).then(
      () => 'written',
      (error: StoreError) => error.code,
    );
    await server.start();
    await reached(store, 'ready');
    expect(await during).to.be.oneOf(['written', 'STORE_UNAVAILABLE']);
    await store.write(next(store, 'after'));
    expect(await store.get('a/x/before')).to.equal('1');
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('reads what is new where a copy was given up half-way', async () => {
    const store = await open();
    await store.write(next(store, 'before'));
    const sql = postgres(url, { max: 1 });
    const [home] = await sql`select id from troupe_home`;
    const { get } = readsOf(() => sql, Number(home?.['id']));
    for await (const _ of walkHome(sql, Number(home?.['id']))) break; // the disk of the backup is full
    await store.write(next(store, 'after'));
    expect(await get('a/x/after')).to.equal('1');
    await sql.end();
  });

  // A former primary that lives on answers the connections that it has: what was acknowledged elsewhere was read as it
  // had been there.
  it('reads by new connections, too, once one to the database has broken', async () => {
    const store = await open();
    await store.write(next(store, 'one'));
    await Promise.all(Array.from({ length: 8 }, () => store.page({ gte: 'a/', lt: 'b' })));
    const sql = postgres(url, { max: 1, fetch_types: false });
    const connections = async (): Promise<number[]> => {
      const rows = await sql`select pid from pg_stat_activity where application_name = 'troupe'
        and datname = current_database()`;
      return rows.map(({ pid }) => Number(pid));
    };
    const former = await connections();
    expect(former.length).to.be.greaterThan(1);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'troupe'
      and datname = current_database() and query ~ 'troupe_commit|lease_until'`;
    // the driver connects again by itself, and no one hears of it
    await until(async () => !(await connections()).some((pid) => former.includes(pid)));
    expect(await store.page({ gte: 'a/', lt: 'b' })).to.deep.equal([['a/x/one', '1']]);
    await sql.end();
  });

  it('keeps what it acknowledged through a crash, whatever the default of the server is', async () => {
    const sql = postgres(url, { max: 1 });
    const { pathname } = new URL(url);
    await sql.unsafe(`alter database ${pathname.slice(1)} set synchronous_commit = off`);
    await sql`alter system set wal_writer_delay = '10s'`; // which else writes soon by itself
    await sql`select pg_reload_conf()`;
    await sql.end();
    const store = await open({ url: `${url}?lease=3` });
    for (let round = 0; round < 20; round += 1) await store.write(next(store, String(round)));
    await server.kill();
    await server.start();
    await reached(store, 'ready');
    expect(await store.count({ gte: 'a/x/', lt: 'a/x0' })).to.equal(20);
  });

  // The driver takes the first of several that answers, also where that is a standby, and tries a dead first one for ever
  it('refuses several addresses, and names what leads to the primary', async () => {
    for (const bad of [
      'postgres://troupe@db1,db2/troupe',
      'postgres://troupe@db1:5432,db2:5432/troupe',
      'postgres://troupe@db1/troupe?target_session_attrs=read-write',
    ])
      expect((await rejection(openPostgresStore({ url: bad }))).message).to.match(/one address: .* a proxy/);
  });

  it('refuses an address that turns durability off, or shows a password', async () => {
    for (const more of ['synchronous_commit=off', 'password=hunter2', 'options=-csynchronous_commit%3Doff'])
      expect(await rejection(openPostgresStore({ url: `${url}?${more}` }))).to.include({ code: 'REFUSED' });
  });

  it('is not opened by a standby that waited while it moved away', async () => {
    const first = await open();
    const sql = postgres(url, { max: 1 });
    const waits = rejection(standBy());
    await until(async () => (await sql`select 1 from troupe_node`).length > 0);
    await sql`update troupe_home set moved_to = 'the home of another machine'`;
    await first.close();
    expect(await waits).to.include({ code: 'REFUSED' });
    await sql.end();
  });

  // It was marked first: who was killed while the store was made of the copy had neither
  it('is marked as moved once something was made of the copy, not before', async () => {
    const first = await open();
    await first.write(next(first, 'copied'));
    await first.close();
    const sql = postgres(url, { max: 1 });
    const folder = await mkdtemp(join(tmpdir(), 'troupe-move-'));
    const leave = (name: string, ready: () => Promise<void>): Promise<void> =>
      leavePostgres(url, { target: join(folder, name), movedTo: 'elsewhere', ready });
    const failing = leave('one', async () => {
      expect((await rejection(leave('two', async () => undefined))).message).to.match(
        /another "troupe home move" holds the home "default"; one that has died holds it for up to 15 seconds/,
      );
      throw new Error('no space left');
    });
    expect(await failing.catch(String)).to.include('no space left');
    expect((await sql`select moved_to from troupe_home`)[0]).to.include({ moved_to: null });
    await sql.end();
    await rm(folder, { recursive: true });
  });

  it('does not move away where a gateway took it over during the copy', async () => {
    const first = await open();
    await first.write(next(first, 'copied'));
    await first.close();
    const sql = postgres(url, { max: 1 });
    const folder = await mkdtemp(join(tmpdir(), 'troupe-move-'));
    let left: Promise<StoreError> | undefined;
    await sql.begin(async (tx) => {
      await tx`lock table troupe_row in access exclusive mode`; // a copy that takes its time
      left = rejection(
        leavePostgres(url, {
          target: join(folder, 'copy'),
          movedTo: 'elsewhere',
          ready: async () => undefined,
        }),
      );
      await until(async () => {
        const [row] =
          await tx`select 1 from pg_locks where not granted and relation = 'troupe_row'::regclass`;
        return row !== undefined;
      });
      await tx`update troupe_home set lease_until = '-infinity', epoch = epoch + 1`; // it ended, another took it
    });
    expect(await left).to.include({ code: 'LOCKED' });
    expect((await sql`select moved_to from troupe_home`)[0]).to.include({ moved_to: null });
    await sql.end();
    await rm(folder, { recursive: true });
  });

  // the driver asked for types by itself; a connection that broke meanwhile ended the whole gateway
  it('asks the database for nothing whose failure no one would hear', async () => {
    const asked: string[] = [];
    const spy = createServer((client) => {
      const upstream = connect(server.port, '127.0.0.1');
      client.on('data', (bytes: Buffer) => void asked.push(bytes.toString('latin1')));
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(spy, 'listening');
    const { port } = spy.address() as AddressInfo;
    const store = await open({ url: `${url.replace(`:${server.port}`, `:${port}`)}?lease=1` });
    await store.write(groupAfter(store.head, 1, [['a/x/"odd\\one', '{"a":"b\\\\c,d}"}']]));
    expect(await store.getMany(['a/x/"odd\\one'])).to.deep.equal(['{"a":"b\\\\c,d}"}']);
    await store.close();
    spy.close();
    expect(asked.join('')).to.include('troupe_commit').and.not.include('pg_type');
  });

  it('refuses a password in its address', async () => {
    const told = await rejection(openPostgresStore({ url: 'postgres://troupe:hunter2@127.0.0.1/x' }));
    expect(told).to.include({ code: 'REFUSED' });
    expect(told.message).not.to.contain('hunter2');
  });
});
