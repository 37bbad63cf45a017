import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leftBehind } from '../../helpers/left-behind.js';
import { Troupe, type Running } from '../cli/troupe.js';
import { makeClient, type Client } from '../gateway/fixture.js';

/**
 * A gateway, a worker in a home of its own and a network between them that breaks: real processes. The worker's
 * engine is its own, and its folders are where it is.
 */
describe('a worker of another machine', function () {
  this.timeout(180_000);
  let troupe: Troupe;
  let gateway: Running;
  let worker: Running;
  let client: Client;
  let port: number;
  let token: string;
  let network: Network;
  /** Where its agents work. */
  let there: string;

  before(async () => {
    troupe = await Troupe.create();
    there = await mkdtemp(join(tmpdir(), 'troupe-there-'));
    const program = join(troupe.folder, 'talk.sh');
    const lines = [
      'cat > /dev/null; echo begun >> begun; echo one',
      'until [ -e go ]; do sleep 0.1; done',
      'echo two; echo "$SVC_GATEWAY_URL"',
    ];
    await writeFile(program, lines.join('\n'));
    const engines = `engines: {talk: {command: [/bin/sh, ${program}]}}\n`;
    for (const home of ['home', 'there']) await mkdir(troupe.home(home), { mode: 0o700 });
    await writeFile(join(troupe.home(), 'config.yaml'), engines);
    await writeFile(join(troupe.home('there'), 'config.yaml'), engines);
    await start();
    network = await openNetwork(port);
    const { code } = (await client.post('/api/workers', { name: 'gpu1' })).body;
    const joined = await makeClient(port, {}).post('/api/workers/join', {
      name: 'gpu1',
      code: code.toLowerCase(),
    });
    expect(joined.status, joined.text).to.equal(200);
    token = joined.body.token;
    await startWorker();
  });
  after(async () => {
    network.close();
    await troupe.run('stop', '--now', '--home', troupe.home());
    await troupe.clear();
    await rm(there, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    gateway = await troupe.start(troupe.home(), ...(port === undefined ? [] : ['--port', String(port)]));
    const announced = await troupe.announcement();
    ({ port } = announced);
    client = makeClient(port, { authorization: `Bearer ${announced.token}` });
  }
  async function startWorker(): Promise<void> {
    await writeFile(join(troupe.home('there'), 'token'), token, { mode: 0o600 });
    worker = troupe.begin(
      ...['worker', '--join', network.url, '--name', 'gpu1', '--home', troupe.home('there')],
      ...['--roots', there, '--engines', 'talk', '--slots', '4', '--labels', 'gpu,big'],
    );
    await until(async () => (await seen())?.state === 'serving');
  }
  const seen = async () =>
    (await client.get('/api/workers')).body.workers.find(({ name }: { name: string }) => name === 'gpu1');
  async function until<Value>(ask: () => Promise<Value | undefined | false>): Promise<Value> {
    for (let looks = 0; looks < 5_000; looks += 1) {
      const value = await ask();
      if (value !== undefined && value !== false) return value;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('It did not come about.');
  }
  const folderOf = async (name: string): Promise<string> => {
    const folder = join(there, name);
    await mkdir(folder);
    return folder;
  };
  const begun = async (folder: string): Promise<number> =>
    (await readFile(join(folder, 'begun'), 'utf8').catch(() => '')).split('\n').filter(Boolean).length;
  async function working(folder: string, more: object = { worker: 'gpu1' }): Promise<string> {
    const made = await client.post('/api/sessions', { prompt: 'Talk', engine: 'talk', cwd: folder, ...more });
    expect(made.status, made.text).to.equal(201);
    await until(async () => (await begun(folder)) === 1);
    return made.body.id as string;
  }
  const session = async (id: string) => (await client.get(`/api/sessions/${id}`)).body;
  const done = (id: string) => until(async () => (await session(id)).status !== 'running');
  const goOn = (folder: string): Promise<void> => writeFile(join(folder, 'go'), '');
  const answer = async (id: string): Promise<string> =>
    (await session(id)).messages
      .findLast(({ role }: { role: string }) => role === 'assistant')
      .content.trim();
  const whole = () => `one\ntwo\n${network.url}`;

  it('runs a turn in its folder, as its labels ask for it, and says so', async () => {
    const folder = await folderOf('placed');
    const id = await working(folder, { labels: ['big', 'gpu'] });
    expect(await session(id)).to.include({ worker: 'gpu1', cwd: folder });
    const { state, labels, engines, turns } = await seen();
    expect([state, labels, engines]).to.deep.equal(['serving', ['gpu', 'big'], ['talk']]);
    expect(turns[0]).to.include({ sessionId: id, engine: 'talk' });
    // Where its engines keep what is theirs: codex could not make its own in a folder that was not there
    expect((await stat(join(troupe.home('there'), 'engines'))).mode & 0o777).to.equal(0o700);
    await goOn(folder);
    await done(id);
    expect(await answer(id)).to.equal(whole());
    // The audit log promises a line for each turn; of those on workers it had none
    const { level, asked } = (await session(id)).sandbox;
    const noted = await until(async () =>
      (await readFile(join(troupe.home(), 'logs/audit/000001.jsonl'), 'utf8').catch(() => '')) // written a moment later
        .split('\n')
        .find((line) => line.includes(`"session:${id}"`) && line.includes('"method":"TURN"')),
    );
    expect(JSON.parse(noted)).to.include({
      authority: 'sandbox',
      target: level,
      verdict: 'allowed',
      ...(level !== asked && { code: 'UNCONFINED' }),
    });
  });

  it('refuses a folder outside of its roots, and labels that no worker has are no one’s', async () => {
    const made = await client.post('/api/sessions', {
      prompt: 'Talk',
      engine: 'talk',
      cwd: '/etc',
      worker: 'gpu1',
    });
    const id = made.body.id as string;
    await done(id);
    expect((await session(id)).lastError).to.include('not a folder inside the roots of this worker');
    const other = await client.post('/api/sessions', { prompt: 'Talk', engine: 'talk', labels: ['quantum'] });
    expect([other.status, other.body.error]).to.deep.equal([
      400,
      'There is no worker with the labels quantum. "troupe workers" lists them.',
    ]);
  });

  it('goes on over the death of the gateway, and everything arrives once', async () => {
    const folder = await folderOf('killed');
    const id = await working(folder);
    await gateway.kill('SIGKILL');
    await start();
    await until(async () => (await seen())?.turns.length === 1);
    await goOn(folder);
    await done(id);
    expect([await answer(id), await begun(folder), (await session(id)).status]).to.deep.equal([
      whole(),
      1,
      'idle',
    ]);
  });

  it('goes on while the network is cut, and everything arrives once', async () => {
    const folder = await folderOf('cut');
    const id = await working(folder);
    network.cut();
    await until(async () => (await seen()).state === 'away');
    await goOn(folder);
    await until(async () => (await leftBehind(id)).length === 0); // its end was heard by no one
    expect((await session(id)).status).to.equal('running');
    network.open();
    await done(id);
    expect([await answer(id), await begun(folder), (await session(id)).status]).to.deep.equal([
      whole(),
      1,
      'idle',
    ]);
  });

  it('that was killed ends what it left behind before it joins again, and its turn was interrupted', async () => {
    const folder = await folderOf('worker-killed');
    const id = await working(folder);
    await worker.kill('SIGKILL');
    await startWorker();
    await done(id);
    expect(await leftBehind(id)).to.deep.equal([]);
    const { status, lastError } = await session(id);
    expect([status, lastError]).to.deep.equal([
      'interrupted',
      'The worker gpu1 was started again while this turn was running there.',
    ]);
    expect(await begun(folder)).to.equal(1);
  });

  // the second one ended the agents of the first as what was left behind
  it('is one to a home: a second one is refused, and the turn of the first goes on', async () => {
    const folder = await folderOf('one');
    const id = await working(folder);
    const second = await troupe.run(
      ...['worker', '--join', network.url, '--name', 'gpu1', '--home', troupe.home('there')],
    );
    expect([second.code, second.err]).to.deep.equal([
      4,
      `another process is using ${troupe.home('there')}; stop it first, or choose another home\n`,
    ]);
    await goOn(folder);
    await done(id);
    expect(await answer(id)).to.equal(whole());
  });

  it('is drained: what it has goes on, and what belongs there waits for it', async () => {
    const folder = await folderOf('drained');
    const id = await working(folder);
    expect((await client.post('/api/workers/gpu1/drain')).status).to.equal(200);
    const second = await folderOf('waits');
    const made = await client.post('/api/sessions', {
      prompt: 'Talk',
      engine: 'talk',
      cwd: second,
      worker: 'gpu1',
    });
    await goOn(folder);
    await done(id);
    expect([
      (await session(id)).status,
      (await session(made.body.id)).transportState,
      await begun(second),
    ]).to.deep.equal(['idle', 'queued', 0]);
    expect((await client.post('/api/workers/gpu1/resume')).status).to.equal(200);
    await goOn(second);
    await done(made.body.id);
    expect((await session(made.body.id)).status).to.equal('idle');
  });

  // the command said that no turn went on, and this one did, without a gateway
  it('ends its turns when the gateway is stopped at once', async () => {
    const folder = await folderOf('stopped');
    const id = await working(folder);
    const { code, err } = await troupe.run('stop', '--now', '--home', troupe.home());
    expect(code, err).to.equal(0);
    await until(async () => (await leftBehind(id)).length === 0);
    await start();
    await done(id);
    expect((await session(id)).status).to.equal('interrupted');
    await until(async () => (await seen())?.state === 'serving');
  });

  it('has a token that opens nothing else', async () => {
    const thief = makeClient(port, { authorization: `Bearer ${token}` });
    for (const path of ['/api/sessions', '/api/workers', '/api/config', '/metrics', '/api/attention'])
      expect((await thief.get(path)).status, path).to.equal(401);
    expect((await thief.post('/api/sessions', { prompt: 'Hello' })).status).to.equal(401);
    expect((await thief.post('/api/workers', { name: 'mine' })).status).to.equal(401);
  });

  it('is removed at once, with its turns', async () => {
    const folder = await folderOf('removed');
    const id = await working(folder);
    const { code, err } = await troupe.run('workers', 'remove', 'gpu1', '--home', troupe.home());
    expect([code, err.trim()]).to.deep.equal([0, 'Removed the worker.']);
    await done(id);
    expect([(await session(id)).status, (await session(id)).lastError]).to.deep.equal([
      'interrupted',
      'The worker gpu1 was removed.',
    ]);
    const ended = await worker.ended;
    expect(ended.err).to.include('has removed it');
    expect(await leftBehind(id)).to.deep.equal([]);
    expect(await readdir(troupe.home('there'))).not.to.include('token');
  });
});

/** What lies between: connections through it can be cut, and then none comes through. */
interface Network {
  readonly url: string;
  cut(): void;
  open(): void;
  close(): void;
}

async function openNetwork(port: number): Promise<Network> {
  const held = new Set<Socket>();
  let isOpen = true;
  const server: Server = createServer((near) => {
    near.on('error', () => near.destroy());
    if (!isOpen) return void near.destroy();
    const far = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      held.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        held.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  const drop = (): void => held.forEach((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isOpen = false;
      drop();
    },
    open: () => void (isOpen = true),
    close() {
      drop();
      server.close();
    },
  };
}
