import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { leftBehind } from '../../helpers/left-behind.js';
import { Troupe, type Running } from '../cli/troupe.js';
import { makeClient, type Client } from '../gateway/fixture.js';

/**
 * Real processes: an agent in the middle of its work while its gateway is killed, stopped or started again. With
 * `agents.worker` its turn goes on, is begun once and answered once, and what it said is whole.
 */
const peer = fileURLToPath(new URL('../../fixtures/agents/acp.js', import.meta.url));

describe('a worker', function () {
  this.timeout(180_000);
  let troupe: Troupe;
  let gateway: Running;
  let client: Client;
  /** Outside of the user's home, where a confined agent may write. */
  let outside: string;

  beforeEach(async () => {
    troupe = await Troupe.create();
    outside = await mkdtemp(join(tmpdir(), 'troupe-worker-'));
    await mkdir(troupe.home(), { mode: 0o700 });
    const program = join(troupe.folder, 'talk.sh');
    await writeFile(
      program,
      [
        `cat > /dev/null; echo begun >> ${outside}/begun`,
        'echo one',
        `until [ -e ${outside}/go ]; do sleep 0.1; done`,
        // A token may begin with a dash, which \`printf\` would take for an option: once in 64 runs.
        'printf %s "$SVC_GATEWAY_TOKEN" > seed.txt',
        'echo two',
      ].join('\n'),
    );
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      [
        `sessions: {roots: [${outside}]}`,
        'engines:',
        `  talk: {command: [/bin/sh, ${program}]}`,
        `  acp: {scripted: {command: ${process.execPath}, args: [${peer}]}}`,
      ].join('\n'),
    );
    const repository = join(outside, 'repository');
    await mkdir(repository);
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=Ann', ...args]);
    git('init', '--quiet');
    await writeFile(join(repository, 'mine.txt'), 'of mine\n');
    git('-c', 'user.email=ann@example.com', 'commit', '--quiet', '--allow-empty', '--message', 'begin');
    await start();
  });
  afterEach(async () => {
    await troupe.run('stop', '--now', '--home', troupe.home());
    await troupe.clear();
    await rm(outside, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    gateway = await troupe.start();
    const { port, token } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
  }
  async function until<Value>(ask: () => Promise<Value | undefined | false>): Promise<Value> {
    for (let looks = 0; looks < 5_000; looks += 1) {
      const value = await ask();
      if (value !== undefined && value !== false) return value;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('It did not come about.');
  }
  const begun = async (): Promise<number> =>
    (await readFile(join(outside, 'begun'), 'utf8').catch(() => '')).split('\n').filter(Boolean).length;
  async function working(): Promise<string> {
    const made = await client.post('/api/sessions', {
      prompt: 'Talk',
      engine: 'talk',
      cwd: join(outside, 'repository'),
    });
    expect(made.status, made.text).to.equal(201);
    await until(async () => (await begun()) === 1);
    return made.body.id as string;
  }
  const session = async (id: string) => (await client.get(`/api/sessions/${id}`)).body;
  const answers = async (id: string): Promise<string[]> =>
    (await session(id)).messages
      .filter(({ role, meta }: Message) => role === 'assistant' && !meta?.kind)
      .map(({ content }: Message) => content.trim());
  /** The process that was started with the worker's program, by this gateway. */
  const workerPid = async (): Promise<number> => {
    const { pid } = await troupe.announcement();
    for (const child of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      // It may be gone before it is looked at
      const read = (name: string) => readFile(`/proc/${child}/${name}`, 'latin1').catch(() => '');
      const isOurs = new RegExp(`\\) \\w ${pid} `).test(await read('stat'));
      if (isOurs && /\/worker(?:\/main)?\.js/.test(await read('cmdline'))) return Number(child);
    }
    throw new Error('There is no worker.');
  };
  const goOn = (): Promise<void> => writeFile(join(outside, 'go'), '');
  const done = (id: string) => until(async () => (await session(id)).status !== 'running');

  it('carries a turn over the death of its gateway', async () => {
    const id = await working();
    await gateway.kill('SIGKILL');
    expect(await leftBehind(id)).not.to.deep.equal([]);
    await start();
    expect((await session(id)).status).to.equal('running');
    await goOn();
    await done(id);
    expect(await answers(id)).to.deep.equal(['one\ntwo']);
    expect([(await session(id)).status, await begun()]).to.deep.equal(['idle', 1]);
    await until(async () => (await leftBehind(id)).length === 0);
  });

  // it was looked at before the turn by a gateway that is gone, and the keys of its programs were known to that one
  it('says what a turn changed that was taken up, without the keys that its programs were given', async () => {
    const id = await working();
    await gateway.kill('SIGKILL');
    await start();
    await goOn();
    await done(id);
    const { messages } = await session(id);
    const changes = messages.find(({ meta }: Message) => meta?.kind === 'changes');
    expect(changes?.meta.files).to.deep.equal(['seed.txt']);
    const patch = await client.get(changes.media[0].url);
    expect(patch.text).to.match(/^\+\[secret]$/m);
    expect(await readdir(join(troupe.home(), 'tmp'))).to.deep.equal(['uploads']);
  });

  it('keeps the end of a turn that no gateway heard', async () => {
    const id = await working();
    await gateway.kill('SIGKILL');
    await goOn();
    await until(async () => (await leftBehind(id)).length === 0);
    await start();
    await done(id);
    expect(await answers(id)).to.deep.equal(['one\ntwo']);
    expect(await begun()).to.equal(1);
  });

  it('carries a turn over a planned stop, which says so', async () => {
    const id = await working();
    const { out, err } = await gateway.kill('SIGTERM');
    expect(out + err).to.include('1 turn goes on without the gateway');
    await start();
    await goOn();
    await done(id);
    expect(await answers(id)).to.deep.equal(['one\ntwo']);
    expect(await begun()).to.equal(1);
  });

  it('goes on after Ctrl-C, and ends with a second one', async () => {
    const id = await working();
    gateway.child.kill('SIGINT');
    await gateway.seen(/Ctrl-C again within/);
    await gateway.kill('SIGINT');
    expect(gateway.err).to.include('1 turn goes on').and.include('Ended the turns that went on.');
    await until(async () => (await leftBehind(id)).length === 0);
  });

  it('is shown with its turns, and ends with the last of them once it is drained', async () => {
    const id = await working();
    const shown = async () => (await client.get('/api/workers')).body;
    const { workers, slots, hosted } = await shown();
    const [{ name, state, turns, pid, memoryBytes }] = workers;
    expect([workers.length, state, slots.running]).to.deep.equal([1, 'serving', 1]);
    expect(turns[0]).to.include({ sessionId: id, engine: 'talk' });
    expect(hosted).to.include('talk').and.not.include('clerk');
    expect(memoryBytes).to.be.within(10 * 2 ** 20, 1_000 * 2 ** 20);
    const { worker } = (await client.get(`/api/inspect/actors/session/${id}/work`)).body;
    expect(worker).to.deep.include({ name, state, pid, since: Date.parse(turns[0].since) });
    expect(worker.memoryBytes).to.be.greaterThan(10 * 2 ** 20);
    const { out } = await troupe.run('workers', '--home', troupe.home());
    expect(out)
      .to.match(new RegExp(`${name} +serving .*${id} +talk`))
      .and.include('1 of');
    expect((await client.post('/api/workers/worker-ffffffff/drain')).status).to.equal(404);
    expect((await client.post(`/api/workers/${name}/drain`)).status).to.equal(200);
    expect((await shown()).workers[0].state).to.equal('draining');
    await goOn();
    await done(id);
    const second = await client.post('/api/sessions', { prompt: 'Talk', engine: 'talk' });
    await done(second.body.id);
    expect((await shown()).workers.map((worker: { name: string }) => worker.name)).not.to.deep.equal([name]);
    expect((await session(id)).status).to.equal('idle');
  });

  it('is removed with its turns', async () => {
    const id = await working();
    const { name } = (await client.get('/api/workers')).body.workers[0];
    const { code, err } = await troupe.run('workers', 'remove', name, '--home', troupe.home());
    expect([code, err.trim()]).to.deep.equal([0, 'Removed the worker.']);
    await done(id);
    expect((await session(id)).status).to.equal('interrupted');
    await until(async () => (await leftBehind(id)).length === 0);
  });

  it('ends its turns with `stop --now`, and the next start says that they were interrupted', async () => {
    const id = await working();
    const { out, err } = await troupe.run('stop', '--now', '--home', troupe.home());
    expect(out + err).to.include('Ended the turns that went on.');
    await until(async () => (await leftBehind(id)).length === 0);
    await until(async () =>
      (await readdir(join(troupe.home(), 'run'))).every((name) => !name.startsWith('worker')),
    );
    await start();
    await done(id);
    expect((await session(id)).status).to.equal('interrupted');
    expect(await begun()).to.equal(1);
  });

  it('keeps what was asked before, and writes down nothing twice', async () => {
    const prompt = '[[use {"title":"ls"}]]';
    const { body } = await client.post('/api/sessions', { prompt, engine: 'scripted' });
    const id = body.id as string;
    const asked = await until(async () => (await session(id)).pendingPermissions[0]);
    await gateway.kill('SIGKILL');
    await start();
    expect((await session(id)).pendingPermissions).to.deep.equal([asked]);
    expect(
      (await client.post(`/api/sessions/${id}/permissions/${asked.id}`, { decision: 'allow' })).status,
    ).to.equal(200);
    await done(id);
    const { messages, status } = await session(id);
    expect([status, messages.map(({ meta, role }: Message) => meta?.kind ?? role)]).to.deep.equal([
      'idle',
      ['user', 'remark', 'tool', 'permission', 'assistant'],
    ]);
  });

  it('asks by what the session allows by now, not by what it allowed when the turn began', async () => {
    const { body } = await client.post('/api/sessions', {
      prompt: '[[use {"title":"ls"}]]',
      engine: 'scripted',
    });
    const id = body.id as string;
    await until(async () => (await session(id)).pendingPermissions[0]);
    const changed = await client.call('PUT', `/api/sessions/${id}/permissions`, { mode: 'full' });
    expect(changed.status, changed.text).to.equal(200);
    await gateway.kill('SIGKILL');
    await start();
    await done(id); // no one decides
    expect((await session(id)).status).to.equal('idle');
  });

  it('that dies ends its turns, and leaves no agent behind', async () => {
    const id = await working();
    process.kill(await workerPid(), 'SIGKILL');
    await done(id);
    expect((await session(id)).status).to.equal('interrupted');
    await until(async () => (await leftBehind(id)).length === 0);
  });

  it('is stopped by a person after a restart like any other turn', async () => {
    const id = await working();
    await gateway.kill('SIGKILL');
    await start();
    expect((await client.post(`/api/sessions/${id}/stop`)).status).to.equal(200);
    await until(async () => (await leftBehind(id)).length === 0);
    await done(id);
    expect((await session(id)).status).to.equal('stopped');
  });
});

interface Message {
  readonly role: string;
  readonly content: string;
  readonly meta?: { readonly kind?: string };
}
