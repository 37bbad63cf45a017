import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres, type PostgresServer } from '../../helpers/postgres-server.js';
import { Troupe, type Running } from './troupe.js';

/** Two homes in one real database, spread over two nodes: a process for each home on each node. */
describe('troupe with several homes in one database', function () {
  this.timeout(480_000); // some twenty commands, each a process
  let server: PostgresServer;
  let troupe: Troupe;
  let database: string;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    troupe = await Troupe.create();
    database = await server.newDatabase();
  });
  afterEach(() => troupe.clear());

  async function folder(home: string, node: string): Promise<string> {
    const place = troupe.home(`${home}-${node}`);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'config.yaml'), `store: "${database}?home=${home}&lease=2"\n`);
    return place;
  }
  const begin = (place: string, node: string): Running =>
    troupe.begin({ SVC_NODE: node }, 'start', '--home', place, '--port', '0');
  const node = (place: string, ...words: string[]) => troupe.run('node', ...words, '--home', place);
  const todos = async (place: string): Promise<string> =>
    (await troupe.run('list', 'todos', '--home', place)).out;

  it('shows them in one list, and moves one by one command, apart from the other', async () => {
    const acme = { one: await folder('acme', 'one'), two: await folder('acme', 'two') };
    const beta = await folder('beta', 'two');
    const [first, other] = [begin(acme.one, 'one'), begin(beta, 'two')];
    await Promise.all([first, other].map((each) => each.seen(/Troupe runs at/)));
    expect(await troupe.run('run', 'add "water the plants"', '--home', acme.one)).to.include({ code: 0 });
    expect(await troupe.run('run', 'add "feed the cat"', '--home', beta)).to.include({ code: 0 });
    const nobody = await node(beta, 'move', 'acme', '--to', 'two');
    expect(nobody).to.include({ code: 1 });
    expect(nobody.err).to.include('Node two does not wait for the home acme.');
    const second = begin(acme.two, 'two');
    await second.seen(/Standby: node one/);
    const listed = JSON.parse((await node(beta, 'list', '--all', '--json')).out);
    expect(listed).to.have.length(2);
    expect(listed[0]).to.deep.include({
      home: 'acme',
      owner: 'one',
      epoch: 1,
      standbys: ['two'],
      movedTo: null,
    });
    expect(listed[1]).to.deep.include({ home: 'beta', owner: 'two', epoch: 1, standbys: [] });
    expect((await node(beta, 'list', '--all')).out)
      .to.match(/^acme +one +1 .*two$/m)
      .and.match(/^beta +two +1 /m);
    const moved = await node(beta, 'move', 'acme', '--to', 'two');
    expect(moved, moved.err).to.include({ code: 0 });
    expect(moved.out).to.match(/^owner +two.* \(epoch 2/m);
    await second.seen(/Troupe runs at/);
    await first.seen(/Standby: node two/);
    // Each home has its own work and no one else's, and the other one was not touched
    expect(await todos(acme.two))
      .to.include('water the plants')
      .and.not.include('cat');
    expect(await todos(beta))
      .to.include('feed the cat')
      .and.not.include('plants');
    const after = JSON.parse((await node(acme.two, 'list', '--all', '--json')).out);
    expect(after.map(({ home, owner, epoch }: Listed) => [home, owner, epoch])).to.deep.equal([
      ['acme', 'two', 2],
      ['beta', 'two', 1],
    ]);
    const third = begin(await folder('acme', 'three'), 'three');
    await third.seen(/Standby: node two/);
    const unsure = await node(beta, 'move', 'acme', '--to', 'one');
    expect(unsure).to.include({ code: 1 });
    expect(unsure.err).to.include('three would be as quick to take the home acme.');
  });
});

interface Listed {
  readonly home: string;
  readonly owner: string;
  readonly epoch: number;
}
