import { expect } from 'chai';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createClient, isRefusal, type Client } from '../../../lib/client/index.js';
import { startPostgres, type PostgresServer } from '../../helpers/postgres-server.js';
import { Troupe, type Running } from './troupe.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Two nodes as two processes with folders of their own, and one home in a real database. */
describe('troupe with a home in PostgreSQL', function () {
  this.timeout(240_000);
  let server: PostgresServer;
  let troupe: Troupe;
  let url: string;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    troupe = await Troupe.create();
    url = `${await server.newDatabase()}?home=acme&lease=2`;
  });
  afterEach(() => troupe.clear());

  async function settings(name: string, store: string): Promise<string> {
    const home = troupe.home(name);
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'config.yaml'), `store: ${JSON.stringify(store)}\n`);
    return home;
  }

  const begin = (home: string, node: string): Running =>
    troupe.begin({ SVC_NODE: node }, 'start', '--home', home, '--port', '0');

  const add = async (home: string, title: string): Promise<number | null> =>
    (await troupe.run('run', `add "${title}"`, '--home', home)).code;

  /** With a work item, stopped and moved into the database, while its settings still say "level". */
  async function movedHome(): Promise<string> {
    const home = await settings('home', 'level');
    const before = begin(home, 'one');
    await before.seen(/Troupe runs at/);
    expect(await add(home, 'water the plants')).to.equal(0);
    await troupe.run('stop', '--home', home);
    expect(await troupe.run('home', 'move', '--to', url, '--home', home)).to.include({ code: 0 });
    return home;
  }
  const todos = async (home: string): Promise<string> =>
    (await troupe.run('list', 'todos', '--home', home)).out;

  const owner = async (home: string): Promise<unknown> =>
    JSON.parse((await troupe.run('node', 'list', '--json', '--home', home)).out);

  it('is taken over by the standby when its owner is killed, with everything that was acknowledged', async () => {
    const [one, two] = [await settings('one', url), await settings('two', url)];
    const first = begin(one, 'one');
    await first.seen(/Troupe runs at/);
    expect(await add(one, 'water the plants')).to.equal(0);
    const second = begin(two, 'two');
    await second.seen(/Standby: node one/);
    expect(await owner(two)).to.deep.include({ home: 'acme', epoch: 1, standbys: ['two'] });
    first.child.kill('SIGKILL');
    await second.seen(/Troupe runs at/);
    expect(await todos(two)).to.include('water the plants');
    expect(await add(two, 'feed the cat')).to.equal(0);
    expect(await owner(two)).to.deep.include({ epoch: 2, standbys: [] });
    const verified = await troupe.run('verify', '--home', two);
    expect(verified, verified.err).to.include({ code: 0 });
    expect(verified.out).to.include('No damage found.');
  });

  // The option was lost on its way to the store: nothing helped but to remove the file by hand
  it('goes on without what the database has lost where a person says so', async () => {
    const home = await settings('one', url);
    const first = begin(home, 'one');
    await first.seen(/Troupe runs at/);
    expect(await add(home, 'water the plants')).to.equal(0);
    expect((await troupe.run('stop', '--home', home)).code).to.equal(0);
    await first.ended;
    const path = join(home, 'store-position.json');
    const kept = JSON.parse(await readFile(path, 'utf8')) as { seq: number };
    await writeFile(path, JSON.stringify({ ...kept, seq: kept.seq + 3, chain: 'of what is lost' }));
    const refused = await begin(home, 'one').ended;
    expect(refused.code).to.equal(5);
    expect(refused.err).to.match(/has lost at least 3 commits of the home "acme"/);
    const again = troupe.begin(
      ...[{ SVC_NODE: 'one' }, 'start', '--home', home, '--port', '0', '--accept-loss'],
    );
    await again.seen(/Troupe runs at/);
    expect(await todos(home)).to.include('water the plants');
  });

  // In a failover it read as if everything were gone: the database "has no home"
  it('says why a database cannot be read that is to be verified', async () => {
    const home = await settings('one', url.replace(/[^/]+\?/, 'nowhere?'));
    const { code, err } = await troupe.run('verify', '--home', home);
    expect(code).to.equal(5);
    expect(err).to.match(/the database cannot be used: .*"nowhere" does not exist/);
  });

  /** An owner and its standby, with the token that is the home's. */
  async function pair() {
    const homes = [await settings('one', url), await settings('two', url)] as const;
    const first = begin(homes[0], 'one');
    await first.seen(/Troupe runs at/);
    const announced = await troupe.announcement(homes[0]);
    // What is a home's is the same on each node
    const port = await freePort();
    const there = { ...announced, pid: null, pidStart: null, port, url: `http://127.0.0.1:${port}` };
    await writeFile(join(homes[1], 'gateway.json'), JSON.stringify(there), { mode: 0o600 });
    const second = troupe.begin(
      { SVC_NODE: 'two' },
      ...['start', '--home', homes[1], '--port', String(port)],
    );
    await second.seen(/Standby: node one/);
    return { first, second, announced, there };
  }

  /** Adds twenty work items, one while `strike` happens, and follows the feed: no gap, and each of them once. */
  async function workThrough(client: Client, strike: () => void): Promise<void> {
    const created: unknown[] = [];
    const positions: number[] = [];
    const feed = client.events({
      since: 0,
      kinds: ['work-item'],
      onPosition: (at) => void positions.push(at),
    });
    const followed = (async () => {
      for await (const { event, payload } of feed) {
        const { entity, action, value } = payload as {
          readonly [member: string]: unknown;
          readonly value?: { readonly title: string };
        };
        if (event === 'company:changed' && entity === 'todo' && action === 'created')
          created.push(value?.title);
        if (created.at(-1) === 'task 19') return;
      }
    })();
    const titles = Array.from({ length: 20 }, (_, n) => `task ${n}`);
    for (const title of titles) {
      const made = client.post('/api/work-items', { body: { title } });
      if (title === 'task 9') strike(); // with this one under way
      expect(await made, title).not.to.satisfy(isRefusal);
    }
    await followed;
    expect(created).to.deep.equal(titles);
    expect(positions).to.deep.equal([...positions].sort((a, b) => a - b));
    const list = await client.get('/api/work-items');
    if (isRefusal(list)) throw new Error(list.message);
    expect(
      JSON.stringify(list)
        .match(/"task \d+"/g)
        ?.sort(),
    ).to.deep.equal(titles.map((title) => `"${title}"`).sort());
  }

  it('is served to a client with both addresses over the death of its owner: no gap, no second act', async () => {
    const { first, announced, there } = await pair();
    const client = createClient({ url: [announced.url, there.url], token: announced.token });
    await workThrough(client, () => first.child.kill('SIGKILL'));
    expect(client.url).to.equal(there.url);
  });

  // A frozen owner keeps the connections that the standby has forwarded to it
  it('is read, written and followed at its standby, also while its owner is frozen and another one takes over', async () => {
    const { first, second, announced, there } = await pair();
    const health = async (): Promise<string> => (await fetch(`${there.url}/healthz`)).text();
    const listed = await troupe.run('node', 'list', '--home', troupe.home('two'));
    expect(listed.out).to.contain(`owner     one at ${announced.url} (epoch 1,`);
    expect(await health()).to.contain(`owner one ${announced.url} (epoch 1)\nreached yes`);
    const client = createClient({ url: [there.url, announced.url], token: announced.token });
    await workThrough(client, () => {
      expect(client.url).to.equal(there.url);
      first.child.kill('SIGSTOP');
    });
    await second.seen(/Troupe runs at/);
    expect(await health()).to.equal('ok');
    first.child.kill('SIGCONT');
    await first.seen(/Standby: node two/);
  });

  // After a power cut the gateway may be up before its database; it ended, with a code after which no service manager
  // tries again.
  it('is waited for where its database is away, and not where it says no', async () => {
    const port = await freePort();
    const home = await settings('one', url.replace(/:\d+\//, `:${port}/`));
    const started = begin(home, 'one');
    await started.seen(/Trying again until the database is back/);
    const way = createServer((socket) => {
      const on = connect(server.port, '127.0.0.1');
      socket.on('error', () => on.destroy()).pipe(on);
      on.on('error', () => socket.destroy()).pipe(socket);
    }).listen(port, '127.0.0.1');
    await started.seen(/Troupe runs at/);
    expect(await add(home, 'water the plants')).to.equal(0);
    started.child.kill('SIGTERM');
    await once(started.child, 'exit');
    way.close();
    const refused = await settings('two', url.replace('home=acme', 'home=no%20name'));
    expect((await troupe.run('start', '--home', refused, '--port', '0')).code).to.equal(5);
  });

  it('is handed over where an operator drains its owner, which then waits itself, or fences it', async () => {
    const [one, two] = [await settings('one', url), await settings('two', url)];
    const first = begin(one, 'one');
    await first.seen(/Troupe runs at/);
    expect(await add(one, 'water the plants')).to.equal(0);
    const second = begin(two, 'two');
    await second.seen(/Standby: node one/);
    expect(await troupe.run('node', 'drain', '--home', two)).to.include({ code: 0 });
    await second.seen(/Troupe runs at/);
    await first.seen(/Standby: node two/);
    expect(await todos(two)).to.include('water the plants');
    expect(await troupe.run('node', 'fence', '--home', one)).to.include({ code: 0 });
    await second.seen(/This node owns the home no more/);
    // Both wait for it now
    await Promise.race([first, second].map((each) => each.seen(/Troupe runs at[^]*Troupe runs at/)));
  });

  // the fenced one came back as a standby, and was first as often as not
  it('ends the owner that was fenced: another one owns the home', async () => {
    const [one, two] = [await settings('one', url), await settings('two', url)];
    const first = begin(one, 'one');
    await first.seen(/Troupe runs at/);
    const second = begin(two, 'two');
    await second.seen(/Standby: node one/);
    expect(await troupe.run('node', 'fence', '--home', two)).to.include({ code: 0 });
    await first.seen(/This node owns the home no more/);
    await second.seen(/Troupe runs at/);
    expect(await add(two, 'feed the cat')).to.equal(0);
  });

  it('starts neither an empty store beside the one it moved from, nor a database instead of a restored one', async () => {
    const home = await movedHome();
    const forgotten = await troupe.run('start', '--home', home, '--port', '0');
    expect(forgotten.code, 'config.yaml still says "level"').to.equal(5);
    expect(forgotten.err).to.include('was moved into PostgreSQL');
    // They spoke of a home that was never started, and doctor found no problem
    for (const words of [['verify'], ['backup', troupe.home('none')], ['home', 'move', '--to', url]])
      expect((await troupe.run(...words, '--home', home)).err).to.include('was moved into PostgreSQL');
    expect((await troupe.run('doctor', '--home', home)).out).to.match(
      /FIX +store +The store of .* was moved into/,
    );

    await settings('home', url);
    const doctor = await troupe.run('doctor', '--home', home);
    expect(doctor.out).to.include('in PostgreSQL, last commit');
    const saved = troupe.home('saved');
    const copy = troupe.home('copy');
    expect(await troupe.run('backup', saved, '--home', home)).to.include({ code: 0 });
    // config.yaml of the backup names the database, where another node may be at work
    const back = await troupe.run('restore', saved, '--home', copy);
    expect(back.code).to.equal(0);
    expect(back.err).to.match(/It lay in postgres:\/\/.*"store" in its config\.yaml is "level" now/);
    expect(await readFile(join(copy, 'config.yaml'), 'utf8')).to.match(/^store: "?level"?$/m);
    const restored = begin(copy, 'one');
    await restored.seen(/Troupe runs at/);
    expect(await todos(copy)).to.include('water the plants');
  });

  // A command that moved it back and died between the mark in the database and the store in its folder had a home that nothing
  // opened and nothing moved any more. And what was left in the database was verified and backed up as if it were in use.
  it('is moved again where the command that moved it died, and is for all others where it was moved to', async () => {
    const home = await movedHome();
    await settings('home', url);
    for (const folder of ['store', 'store-copy']) {
      expect(await troupe.run('home', 'move', '--to', 'level', '--home', home), folder).to.include({
        code: 0,
      });
      for (const lost of ['store', 'store-copy']) await rm(join(home, lost), { recursive: true });
    }
    const other = await settings('other', url);
    const moved = /the home "acme" was moved to the home \S+home on \S+; change "store" there/;
    for (const words of [
      ['home', 'move', '--to', 'level'],
      ['verify'],
      ['backup', troupe.home('stale')],
      ['start'],
    ]) {
      const ran = await troupe.run(...words, '--home', other);
      expect(ran.code, words.join(' ')).to.equal(5);
      expect(ran.err, words.join(' ')).to.match(moved);
    }
    expect((await troupe.run('doctor', '--home', other)).out).to.match(
      /FIX +store +the home "acme" was moved to/,
    );
    expect((await troupe.run('node', 'list', '--home', other)).out).to.match(
      /owner +none; it was moved to the home/,
    );
    expect(await troupe.run('home', 'move', '--to', 'level', '--home', home)).to.include({ code: 0 });
    await settings('home', 'level');
    const after = begin(home, 'one');
    await after.seen(/Troupe runs at/);
    expect(await todos(home)).to.include('water the plants');
  });

  it('moves no home that is not there', async () => {
    const home = troupe.home('mistyped');
    const moved = await troupe.run('home', 'move', '--to', url, '--home', home);
    expect(moved.code).to.equal(5);
    expect(existsSync(home)).to.equal(false);
  });

  it('moves there from LevelDB, and back, with nothing lost', async () => {
    const home = await settings('home', 'level');
    const before = begin(home, 'one');
    await before.seen(/Troupe runs at/);
    expect(await add(home, 'water the plants')).to.equal(0);
    await troupe.run('stop', '--home', home);
    const there = await troupe.run('home', 'move', '--to', url, '--home', home);
    expect(there, there.err).to.include({ code: 0 });

    await settings('home', url);
    const moved = begin(home, 'one');
    await moved.seen(/Troupe runs at/);
    expect(await todos(home)).to.include('water the plants');
    expect(await add(home, 'feed the cat')).to.equal(0);
    const held = await troupe.run('home', 'move', '--to', 'level', '--home', home);
    expect(held.code).to.equal(4);
    await troupe.run('stop', '--home', home);
    const back = await troupe.run('home', 'move', '--to', 'level', '--home', home);
    expect(back, back.err).to.include({ code: 0 });

    const left = await troupe.run('start', '--home', home, '--port', '0');
    expect(left.code, 'the database is not opened any more').to.equal(5);
    expect(left.err).to.include('holds a store too');
    await settings('home', 'level');
    const after = begin(home, 'one');
    await after.seen(/Troupe runs at/);
    expect(await todos(home))
      .to.include('water the plants')
      .and.include('feed the cat');
    await troupe.run('stop', '--home', home);
    expect(await troupe.run('verify', '--home', home)).to.include({ code: 0 });
  });
});
