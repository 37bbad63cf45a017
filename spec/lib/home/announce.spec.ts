import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  announce,
  announceStopped,
  isAlive,
  processStart,
  readAnnouncement,
  secretsOf,
  type Announcement,
} from '../../../lib/home/announce.js';
import { systemEnvironment } from '../../../lib/environment.js';

describe('gateway.json', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-announce-'));
    path = join(folder, 'gateway.json');
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  const environment = systemEnvironment();
  const example = async (): Promise<Announcement> => ({
    host: '127.0.0.1',
    port: 7420,
    pid: process.pid,
    pidStart: await processStart(process.pid),
    url: 'http://127.0.0.1:7420',
    instance: 'default',
    ...secretsOf(undefined, () => environment.random.secret(32)),
  });

  it('is readable by its owner only and reads back as written', async () => {
    const written = await example();
    await announce(path, written);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await readAnnouncement(path)).to.deep.equal(written);
    expect(written.token)
      .to.match(/^[\w-]{43}$/)
      .and.not.equal(written.secret);
  });

  it('keeps token and secret across a clean stop, and says that no process runs', async () => {
    const written = await example();
    await announce(path, written);
    await announceStopped(path, written);
    const read = await readAnnouncement(path);
    expect(read).to.deep.equal({ ...written, pid: null, pidStart: null });
    expect(secretsOf(read, () => expect.fail('minted anew'))).to.deep.equal({
      token: written.token,
      secret: written.secret,
    });
    expect(read && (await isAlive(read))).to.equal(false);
  });

  it('is absent before the first start', async () => {
    expect(await readAnnouncement(path)).to.equal(undefined);
  });

  it('is refused when damaged, without showing a secret', async () => {
    const good = await example();
    const damages = [
      '',
      '{',
      '[]',
      'null',
      JSON.stringify({ ...good, token: `${good.token}x` }),
      JSON.stringify({ ...good, token: undefined }),
      JSON.stringify({ ...good, secret: 7 }),
      JSON.stringify(good).slice(0, -9),
    ];
    for (const damage of damages) {
      await writeFile(path, damage);
      const error = await readAnnouncement(path).then(
        () => expect.fail(`accepted ${damage}`),
        (reason: Error) => reason,
      );
      expect(error).to.have.property('code', 'BAD_ANNOUNCEMENT');
      expect(error.message)
        .to.include(path)
        .and.not.include(good.token.slice(0, 8))
        .and.not.include(good.secret.slice(0, 8));
      expect(await readFile(path, 'utf8'), 'the file is left for its owner to judge').to.equal(damage);
    }
  });

  it('tells the gateway from a program that was given its pid later', async () => {
    const written = await example();
    expect(await isAlive(written)).to.equal(true);
    expect(await isAlive({ ...written, pidStart: 'another boot:1' })).to.equal(false);
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const gone = { ...written, pid: child.pid ?? null, pidStart: await processStart(child.pid ?? 0) };
    expect(await isAlive(gone)).to.equal(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await isAlive(gone)).to.equal(false);
  });
});
