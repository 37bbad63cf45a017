import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres, type PostgresServer } from '../../helpers/postgres-server.js';
import { Troupe, type Running } from './troupe.js';

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

  it('is handed over where an operator drains its owner, which then waits itself', async () => {
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
  });

  it('ends the owner that was fenced: another one owns the home', async () => {
    const [one, two] = [await settings('one', url), await settings('two', url)];
    const first = begin(one, 'one');
    await first.seen(/Troupe runs at/);
    const second = begin(two, 'two');
    await second.seen(/Standby: node one/);
    expect(await troupe.run('node', 'fence', '--home', two)).to.include({ code: 0 });
    await first.seen(/The home has another owner/);
    await second.seen(/Troupe runs at/);
    expect(await add(two, 'feed the cat')).to.equal(0);
  });

  it('starts neither an empty store beside the one it moved from, nor a database instead of a restored one', async () => {
    const home = await settings('home', 'level');
    const before = begin(home, 'one');
    await before.seen(/Troupe runs at/);
    expect(await add(home, 'water the plants')).to.equal(0);
    await troupe.run('stop', '--home', home);
    expect(await troupe.run('home', 'move', '--to', url, '--home', home)).to.include({ code: 0 });
    const forgotten = await troupe.run('start', '--home', home, '--port', '0');
    expect(forgotten.code, 'config.yaml still says "level"').to.equal(5);
    expect(forgotten.err).to.include('was moved into PostgreSQL');

    await settings('home', url);
    const doctor = await troupe.run('doctor', '--home', home);
    expect(doctor.out).to.include('in PostgreSQL, last commit');
    const saved = troupe.home('saved');
    const copy = troupe.home('copy');
    expect(await troupe.run('backup', saved, '--home', home)).to.include({ code: 0 });
    expect(await troupe.run('restore', saved, '--home', copy)).to.include({ code: 0 });
    const live = await troupe.run('start', '--home', copy, '--port', '0');
    expect(live.code, 'config.yaml of the backup names the database').to.equal(5);
    expect(live.err).to.include('holds a store too');
    await settings('copy', 'level');
    const restored = begin(copy, 'one');
    await restored.seen(/Troupe runs at/);
    expect(await todos(copy)).to.include('water the plants');
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
