import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { leftBehind } from '../../helpers/left-behind.js';
import { Troupe } from './troupe.js';

describe('troupe start, status and stop', () => {
  let troupe: Troupe;
  beforeEach(async () => {
    troupe = await Troupe.create();
  });
  afterEach(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];

  it('announces itself privately, answers, and stops cleanly within ten seconds of SIGTERM', async () => {
    await mkdir(troupe.home(), { mode: 0o755 });
    const gateway = await troupe.start();
    const { url, token, pid, port } = await troupe.announcement();
    expect((await stat(join(troupe.home(), 'gateway.json'))).mode & 0o777).to.equal(0o600);
    // A home that others may enter still shows them nothing of what was said in it.
    for (const name of ['store', 'store-copy', 'logs'])
      expect((await stat(join(troupe.home(), name))).mode & 0o777, name).to.equal(0o700);
    expect(pid).to.equal(gateway.child.pid);
    expect(gateway.err).to.include(url).and.not.include(token);
    expect(new URL(url).port).to.equal(String(port));
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    expect((await fetch(`${url}/api/sessions`)).status).to.equal(401);

    const status = await troupe.run(...at('status', '--json'));
    expect(status.code).to.equal(0);
    expect(JSON.parse(status.out)).to.deep.include({ running: true, url, pid });

    const stopped = await gateway.kill('SIGTERM');
    expect(stopped.code).to.equal(0);
    expect(await troupe.announcement()).to.include({ pid: null, token });
    expect((await troupe.run(...at('status'))).code).to.equal(3);
  });

  // The one who reads gateway.json may stop it: once, a signal before the last step of a start ended it in the middle.
  it('stops cleanly at the very moment it is announced', async () => {
    const gateway = troupe.begin('start', ...at('--port', '0'));
    let announced = false;
    while (!announced && gateway.child.exitCode === null)
      announced = await troupe.announcement().then(
        () => true,
        () => false,
      );
    const stopped = await gateway.kill('SIGTERM');
    expect(stopped.err).to.match(/^Stopped\./m);
    expect(stopped.code).to.equal(0);
    expect(await troupe.announcement()).to.include({ pid: null });
  });

  it('keeps token, hook secret and everything said across restarts, kill -9 included', async () => {
    const first = await troupe.start();
    expect(await troupe.run(...at('run', 'add "water the plants"'))).to.include({
      code: 0,
      out: 'Added TRP-1: water the plants.\n',
    });
    const before = await troupe.announcement();
    await first.kill('SIGKILL');
    expect((await troupe.run(...at('status'))).err).to.match(/No gateway runs/);

    const second = await troupe.start();
    const after = await troupe.announcement();
    expect(after).to.include({ token: before.token, secret: before.secret });
    expect((await troupe.run(...at('list', 'todos'))).out).to.match(/TRP-1\s+backlog.*water the plants/);
    await second.kill('SIGINT');
  });

  it('refuses a second start on the same home at once and touches nothing of it', async () => {
    await troupe.start();
    const prints = async (): Promise<string[]> =>
      Promise.all(
        ['gateway.json', 'logs/gateway.log'].map(async (name) =>
          createHash('sha256')
            .update(await readFile(join(troupe.home(), name)).catch(() => ''))
            .digest('hex'),
        ),
      );
    const before = [await prints(), await readdir(troupe.home())];
    const second = await troupe.run('start', '--home', troupe.home(), '--port', '0');
    expect(second.code).to.equal(4);
    expect(second.err.trim().split('\n')).to.have.length(1);
    expect(second.err)
      .to.match(/already holds the home/)
      .and.include((await troupe.announcement()).url);
    expect([await prints(), await readdir(troupe.home())]).to.deep.equal(before);
    expect((await troupe.run(...at('status'))).code).to.equal(0);
  });

  it('stops a gateway from another terminal', async () => {
    const gateway = await troupe.start();
    expect(await troupe.run(...at('stop'))).to.include({ code: 0, err: 'Stopped.\n' });
    expect((await gateway.ended).code).to.equal(0);
    expect((await troupe.run(...at('stop'))).code).to.equal(3);
  });

  it('ends an agent with it where agents.worker is false, also one that ignores every polite signal', async () => {
    await mkdir(troupe.home());
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      'agents: {worker: false}\n' +
        'engines:\n  mule: {command: [sh, -c, "trap : INT TERM; echo ready; while true; do sleep 1; done"]}\n',
    );
    const gateway = await troupe.start();
    const work = troupe.begin(...at('run', '--engine', 'mule', 'x'));
    await work.seen(/^ready\n/m);
    const [session] = JSON.parse((await troupe.run(...at('list', '--json'))).out) as { id: string }[];
    const agents = (): Promise<readonly number[]> => leftBehind(session?.id ?? '');
    expect(await agents()).not.to.deep.equal([]);
    expect(await gateway.kill('SIGTERM'))
      .to.include({ code: 0 })
      .and.property('err')
      .match(/Stopped\. All state is saved/);
    expect(await agents(), 'no orphan').to.deep.equal([]);
    await troupe.start();
    expect((await troupe.run(...at('list'))).out).to.match(/interrupted, waits for you +mule/);
  });

  it('signals no one when the announced pid now belongs to another program', async () => {
    const gateway = await troupe.start();
    const announcement = await troupe.announcement();
    await gateway.kill('SIGKILL');
    // This process stands for the innocent one that was given the pid.
    await writeFile(
      join(troupe.home(), 'gateway.json'),
      JSON.stringify({ ...announcement, pid: process.pid }),
    );
    expect((await troupe.run(...at('stop'))).code).to.equal(3);
    expect((await troupe.run(...at('list'))).code).to.equal(3);
  });

  it('names line and key of a bad setting, and what stands in the way of a start, in one line', async () => {
    await mkdir(troupe.home());
    await writeFile(join(troupe.home(), 'config.yaml'), 'gateway:\n  prot: 1\n');
    const bad = await troupe.run(...at('start'));
    expect(bad.code).to.equal(5);
    expect(bad.err).to.match(/config\.yaml:2, gateway\.prot.*did you mean "port"/);
    await writeFile(join(troupe.home(), 'config.yaml'), 'engines:\n  default: nobody\n');
    expect((await troupe.run(...at('start', '--port', '0'))).err).to.match(
      /engines\.default: unknown engine "nobody"/,
    );
    expect(await troupe.run('status', '--instance', '../x'), 'what was typed is at fault').to.include({
      code: 2,
    });
    await writeFile(join(troupe.home(), 'config.yaml'), '');
    await writeFile(join(troupe.home(), 'gateway.json'), '{"token":');
    expect((await troupe.run(...at('start'))).err).to.match(/gateway\.json is damaged/);
    expect(await readdir(troupe.home()), 'nothing was made in a home that cannot be used').to.have.members([
      'config.yaml',
      'gateway.json',
    ]);
  });

  it('says what to do when the port is taken, and leaves no gateway behind', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const { port } = squatter.address() as { port: number };
    const refused = await troupe.run('start', '--home', troupe.home(), '--port', String(port));
    squatter.close();
    expect(refused.code).to.equal(1);
    expect(refused.err).to.match(new RegExp(`Another program listens on 127\\.0\\.0\\.1:${port}.*--port 0`));
    await (await troupe.start()).kill('SIGTERM');
  });

  it('examines a home with doctor, and says how to repair what it finds', async () => {
    // Not the usual port: the one who runs these specs may have a gateway of their own there.
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const { port } = squatter.address() as { port: number };
    await mkdir(troupe.home(), { mode: 0o700 });
    await writeFile(join(troupe.home(), 'config.yaml'), `gateway:\n  port: ${port}\n`);
    expect(await troupe.run(...at('doctor')))
      .to.include({ code: 5 })
      .and.property('out')
      .match(new RegExp(`FIX   port +127\\.0\\.0\\.1:${port}`));
    squatter.close();
    await once(squatter, 'close');
    expect(await troupe.run(...at('doctor'))).to.include({ code: 0 });
    const gateway = await troupe.start();
    await chmod(join(troupe.home(), 'gateway.json'), 0o644);
    await writeFile(join(troupe.home(), 'config.yaml'), 'engines:\n  ghost: {command: [no-such-program]}\n');
    await mkdir(join(troupe.home(), 'org'), { recursive: true });
    await writeFile(join(troupe.home(), 'org', 'ann.yaml'), 'rank: employee\n');
    expect((await troupe.run(...at('doctor'))).out).to.include(
      'org/ann.yaml: it is not in a department folder',
    );
    const report = await troupe.run(...at('doctor', '--json'));
    expect(report.code).to.equal(5);
    const { findings } = JSON.parse(report.out) as {
      findings: { grade: string; about: string; what: string; remedy?: string }[];
    };
    expect(findings.find(({ about }) => about === 'secrets'))
      .to.include({ grade: 'bad' })
      .and.property('remedy')
      .match(/chmod 600/);
    expect(findings.find(({ what }) => what.startsWith('ghost')))
      .to.include({ grade: 'poor' })
      .and.have.property('remedy');
    expect(findings.find(({ about }) => about === 'gateway')).to.include({ grade: 'good' });
    await gateway.kill('SIGTERM');
  });

  it('answers --version and tells a misspelt command from a missing one', async () => {
    expect((await troupe.run('--version')).out).to.match(/^\d+\.\d+\.\d+\n$/);
    expect((await troupe.run('--help')).out).to.include(
      '3 not running, 4 held, 5 bad home, 6 refused, 7 turn failed',
    );
    const misspelt = await troupe.run('strat');
    expect(misspelt.code).to.equal(2);
    expect(misspelt.err).to.match(/Did you mean start\?/);
    expect((await troupe.run('start', '--port', '70000')).code).to.equal(2);
    expect((await troupe.run('--home', troupe.home(), 'list')).err).to.match(
      /unknown option '--home'\nPut options after the command/,
    );
    expect((await troupe.run('start', '--instance', 'Bad Name')).err).to.match(/instance name/);
  });
});
