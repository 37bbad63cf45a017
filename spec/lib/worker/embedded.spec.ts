import { expect } from 'chai';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { endWorkers } from '../../../lib/worker/end-workers.js';
import { endsContainer } from '../../../lib/worker/home-workers.js';
import { leftBehind } from '../../helpers/left-behind.js';
import { makeClient } from '../gateway/fixture.js';

/** Its `close` left agents running for a quarter of an hour, and the home's folder with their sockets. */
describe('an instance in a program of its own', function () {
  this.timeout(60_000);
  let home: string;
  let instance: Instance;
  let sessionId: string;

  async function start(keepTurns?: true): Promise<void> {
    home = await mkdtemp(join(tmpdir(), 'embedded-'));
    const program = `cat > /dev/null; echo begun; exec sleep 600`;
    await writeFile(
      join(home, 'config.yaml'),
      `engines: {talk: {command: [/bin/sh, -c, ${JSON.stringify(program)}]}}\nagents: {sandbox: off}\n`,
    );
    instance = await startInstance({ home, port: 0, ...(keepTurns && { keepTurns }) });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    const client = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
    const made = await client.post('/api/sessions', { prompt: 'Talk', engine: 'talk' });
    expect(made.status, made.text).to.equal(201);
    sessionId = made.body.id as string;
    await until(async () => (await leftBehind(sessionId)).length > 0);
    expect((await client.get('/api/workers')).body.workers).to.have.length(1);
  }
  async function until(ask: () => Promise<boolean>): Promise<void> {
    while (!(await ask())) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const noWorker = async (): Promise<boolean> => (await readdir(join(home, 'run'))).length === 0;
  afterEach(async () => {
    await instance.close();
    await endWorkers(join(home, 'run'));
    await rm(home, { recursive: true, force: true });
  });

  it('ends its turns and their process as it is closed', async () => {
    await start();
    await instance.close();
    expect(instance.turnsLeft()).to.equal(0);
    await until(async () => (await leftBehind(sessionId)).length === 0);
    await until(noWorker);
  });

  it('leaves them to the next instance where it is asked to', async () => {
    await start(true);
    await instance.close();
    expect(instance.turnsLeft()).to.equal(1);
    expect(await leftBehind(sessionId)).not.to.deep.equal([]);
  });

  // It said that turns go on, and its end killed them with every other process of the container
  it('knows that a container ends with it', () => {
    expect(endsContainer({ pid: 1, ppid: 0 })).to.equal(true);
    expect(endsContainer({ pid: 7, ppid: 1 }, () => 'tini')).to.equal(true);
    expect(endsContainer({ pid: 700, ppid: 1 }, () => 'systemd')).to.equal(false);
    expect(endsContainer({ pid: 700, ppid: 1 }, () => '')).to.equal(false);
    expect(endsContainer({ pid: 700, ppid: 7 }, () => 'tini')).to.equal(false);
  });
});
