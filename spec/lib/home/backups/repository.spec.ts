import { expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, mkdtemp, readFile, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBucket } from '../../../../lib/home/backups/bucket.js';
import { findBackups, type FoundRepository } from '../../../../lib/home/backups/find-backups.js';
import { restoreBackup } from '../../../../lib/home/backups/restore-backup.js';
import type { BackupJob, BackupMade } from '../../../../lib/home/backups/job.js';
import { runJob } from '../../../../lib/home/backups/run-job.js';
import { newKey } from '../../../../lib/home/backups/seal.js';
import { readSecrets } from '../../../../lib/home/backups/secrets.js';
import { stageStore } from '../../../../lib/home/backups/stage-store.js';
import { layoutOf } from '../../../../lib/home/layout.js';
import { openLevelStore, type LevelStore } from '../../../../lib/store/level.js';
import { verifyStore } from '../../../../lib/store/verify.js';
import { BucketServer } from '../../../helpers/bucket-server.js';
import { groupFor } from '../../store/killed-writer.js';

/** A real store, a real folder and a bucket that checks signatures; jobs run in this process. */
describe('backups', () => {
  let folder: string;
  let store: LevelStore;
  let bucket: BucketServer;
  let secretsFile: string;
  let key: string;
  let hours: number;
  before(async () => {
    bucket = await BucketServer.start();
    key = await newKey();
  });
  after(() => bucket.stop());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backups-'));
    hours = 0;
    bucket.objects.clear();
    await mkdir(home());
    await writeFile(join(home(), 'config.yaml'), 'portal: {portalName: Kept}\n');
    await mkdir(join(home(), 'org'));
    for (let n = 0; n < 20; n += 1) await writeFile(join(home(), 'org', `${n}.yaml`), `name: e${n}\n`);
    secretsFile = join(folder, 'keys');
    const { accessKeyId, secretAccessKey } = BucketServer.keys;
    await writeFile(
      secretsFile,
      `AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretAccessKey}\nTROUPE_BACKUP_KEY=${key}\n`,
      { mode: 0o600 },
    );
    store = await openLevelStore({ directory: home(), scrubEveryMs: 0 });
    await write(40);
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  const home = (): string => join(folder, 'home');
  const kept = (...rest: string[]): string => join(folder, 'kept', ...rest);
  async function write(groups: number): Promise<void> {
    let { seq, chain } = store.head;
    const writing = Array.from({ length: groups }, () => {
      const group = groupFor((seq += 1), chain);
      chain = group.chain;
      return store.write(group); // together: each alone would wait for the disk
    });
    await Promise.all(writing);
  }
  /** An hour later each time. */
  async function backUp(change: Partial<BackupJob> = {}): Promise<BackupMade> {
    await stageStore(join(home(), 'store-copy'), join(folder, 'stage'));
    hours += 1;
    return runJob({
      source: {
        home: home(),
        store: join(folder, 'stage'),
        instance: 'default',
        version: '0.1.0',
        include: [],
        at: Date.UTC(2026, 0, 1, hours),
      },
      place: { to: kept(), endpoint: null, region: 'us-east-1' },
      folder: 'default-0a1b2c3d',
      isKnown: false,
      encrypt: false,
      secretsFile,
      keep: 2,
      scratch: join(folder, 'scratch'),
      ...change,
    });
  }
  const inBucket = (): Partial<BackupJob> => ({
    place: { to: 's3://backups/of/troupe', endpoint: bucket.url, region: 'us-east-1' },
  });
  async function found(job: Partial<BackupJob> = {}): Promise<FoundRepository> {
    const place = job.place ?? { to: kept() };
    const [one, ...more] = await findBackups(place, await readSecrets(secretsFile));
    expect(more).to.deep.equal([]);
    return one!;
  }
  async function restored(job: Partial<BackupJob> = {}, at?: number): Promise<string> {
    const target = join(folder, `restored-${Math.random()}`);
    await restoreBackup((await found(job)).repository, layoutOf({ home: target }), { at });
    return target;
  }
  const rejected = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'nothing was wrong',
      (error: Error) => error.message,
    );

  for (const [where, job] of [
    ['a folder', () => ({})],
    ['a bucket, encrypted', () => ({ ...inBucket(), encrypt: true })],
  ] as const)
    it(`restore the store and every file from ${where}`, async () => {
      const made = await backUp(job());
      expect(made).to.deep.include({ seq: 40, removed: [], files: 22 });
      const target = await restored(job());
      expect(await readFile(join(target, 'org', '7.yaml'), 'utf8')).to.equal('name: e7\n');
      expect((await stat(join(target, 'config.yaml'))).mode & 0o777).to.equal(0o644);
      const { ok, head } = await verifyStore(target);
      expect({ ok, seq: head?.seq }).to.deep.equal({ ok: true, seq: 40 });
    });

  it('hold the modules of the home, and nothing twice or of elsewhere that they name', async () => {
    await mkdir(join(home(), 'own'));
    await writeFile(join(home(), 'own', 'kinds.mjs'), 'export default {};\n');
    await writeFile(join(folder, 'away.mjs'), 'export default {};\n');
    const named = ['own/kinds.mjs', './own/more.mjs', 'org/7.yaml', 'store/CURRENT', '../away.mjs', '.'];
    await writeFile(join(home(), 'config.yaml'), `modules: ${JSON.stringify(named)}\n`);
    expect((await backUp()).files).to.equal(23);
    const target = await restored();
    expect(await readFile(join(target, 'own/kinds.mjs'), 'utf8')).to.equal('export default {};\n');
    await writeFile(join(home(), 'config.yaml'), 'modules: [own\n');
    expect((await backUp()).files, 'a broken config.yaml is no reason to keep nothing').to.equal(22);
  });

  it('write only what is new, and many small files as one object', async () => {
    await backUp();
    expect(await readdir(kept('default-0a1b2c3d', 'objects'))).to.have.length(1);
    await writeFile(join(home(), 'org', '7.yaml'), 'name: changed\n');
    const second = await backUp();
    expect(second.newBytes, 'one file of 14 bytes; the store did not change').to.equal(14);
    await write(1);
    expect((await backUp()).newBytes, 'the last piece of the log').to.be.lessThan(100_000);
  });

  it('remove the oldest and what only they need, never what a younger one needs', async () => {
    const job = inBucket();
    await backUp(job);
    await writeFile(join(home(), 'org', '7.yaml'), 'name: second\n');
    await backUp(job);
    await writeFile(join(home(), 'org', '7.yaml'), 'name: third\n');
    const third = await backUp(job);
    expect(third.removed).to.deep.equal(['2026-01-01T01-00-00-000Z']);
    const { repository } = await found(job);
    expect(await repository.names()).to.deep.equal(['2026-01-01T02-00-00-000Z', '2026-01-01T03-00-00-000Z']);
    expect(await readFile(join(await restored(job), 'org', '7.yaml'), 'utf8')).to.equal('name: third\n');
    const objects = (): string[] => [...bucket.objects.keys()].filter((name) => name.includes('/objects/'));
    expect(objects(), 'all three are needed: the first holds all other files').to.have.length(3);
    await backUp(job);
    expect(objects(), 'none needs that of the second any more').to.have.length(2);
    expect(await readFile(join(await restored(job), 'org', '3.yaml'), 'utf8')).to.equal('name: e3\n');
  });

  it('restore the store as of any position that they hold, and say which they hold', async () => {
    await backUp();
    await write(10);
    await backUp();
    for (const at of [17, 40]) {
      const { ok, head } = await verifyStore(await restored({}, at));
      expect({ ok, seq: head?.seq }).to.deep.equal({ ok: true, seq: at });
    }
    const lists = kept('default-0a1b2c3d', 'backups');
    await writeFile(join(lists, '2025-01-01T00-00-00-000Z'), 'sealed with an earlier key');
    expect((await verifyStore(await restored({}, 43))).head?.seq, 'of one that can be read').to.equal(43);
    await rm(join(lists, '2025-01-01T00-00-00-000Z'));
    expect(await rejected(restored({}, 51))).to.match(/No backup holds position 51: they hold 0 to 40 \(/);
  });

  it('go on over a compaction of the store, from whose base image they begin', async () => {
    await backUp();
    await write(5);
    await store.compact();
    const made = await backUp();
    expect(made).to.include({ from: 45, seq: 45 });
    const { head } = await verifyStore(await restored());
    expect(head?.seq).to.equal(45);
  });

  // A backup that no one ever restored is a hope; one that rests on a damaged object would fail for ever.
  // A disk that was not mounted: they were made on the one below its mount point, and all was said to be well
  it('do not begin anew where those of before are gone, unless a person says so', async () => {
    expect(await rejected(backUp({ isKnown: true }))).to.match(
      /^The backups of before are no longer in \S+kept\/default-0a1b2c3d\. Mount its disk, .* remove \S+backups\.json\.$/,
    );
    await backUp();
    expect((await backUp({ isKnown: true })).kept).to.have.length(2);
  });

  it('write everything again where an object of an earlier one is damaged', async () => {
    await backUp();
    const objects = kept('default-0a1b2c3d', 'objects');
    const [first = ''] = await readdir(objects);
    const bytes = await readFile(join(objects, first));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(join(objects, first), bytes);
    expect(await rejected(restored())).to.match(/damaged: the object .* is not as it was written/);
    await write(1);
    const second = await backUp();
    expect(second.newBytes).to.equal(second.bytes);
    expect((await verifyStore(await restored())).head?.seq).to.equal(41);
  });

  it('are none where the trial fails, and nothing is removed for them', async () => {
    await backUp();
    await backUp();
    await writeFile(join(folder, 'scratch'), 'in the way');
    expect(await rejected(backUp())).to.match(/EEXIST|ENOTDIR|not a directory/);
    expect(await (await found()).repository.names()).to.have.length(2);
  });

  it('show nothing of what is in them, not even to one who knows it, without the key', async () => {
    await writeFile(join(home(), 'config.yaml'), 'portal: {portalName: KNOWN-TEXT}\n');
    await backUp({ ...inBucket(), encrypt: true });
    for (const [name, bytes] of bucket.objects)
      if (!name.endsWith('repository.json')) {
        expect(bytes.toString('latin1', 0, 21), name).to.equal('age-encryption.org/v1');
        expect(bytes.includes('KNOWN-TEXT'), name).to.equal(false);
      }
    await writeFile(secretsFile, (await readFile(secretsFile, 'utf8')).replace(key, await newKey()));
    expect(await rejected(restored(inBucket()))).to.match(/cannot be opened with this key/);
    await writeFile(secretsFile, 'TROUPE_BACKUP_KEY=\n');
    expect(await rejected(restored())).to.match(/is not a backup, and holds none/);
  });

  // age proves to no one who encrypted a file: anyone who knows the public half of the key can make one
  it('take nothing for theirs that the key did not sign', async () => {
    const job = { ...inBucket(), encrypt: true };
    await backUp(job);
    const { repository } = await found(job);
    const [name = ''] = await repository.names();
    const manifest = await repository.read(name);
    const { Encrypter, identityToRecipient } = await import('age-encryption');
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(key));
    const forged = `${'0'.repeat(64)}\n${JSON.stringify({ ...manifest, seq: 1 })}`;
    bucket.objects.set(
      `of/troupe/default-0a1b2c3d/backups/${name}`,
      Buffer.from(await encrypter.encrypt(forged)),
    );
    expect(await rejected(restored(job))).to.match(/the list of .* is not as it was written/);
  });

  it('write nothing outside of the home that is restored, whatever a list says', async () => {
    await backUp();
    const { repository } = await found();
    const [name = ''] = await repository.names();
    const manifest = await repository.read(name);
    for (const path of ['../outside', '/etc/outside', 'org/../../outside', 'org//x']) {
      const entries = [...manifest.entries, { path, mode: 0o600, pieces: [] }];
      await repository.write(name, { ...manifest, entries });
      expect(await rejected(restored()), path).to.match(/the list of .* cannot be read/);
    }
  });

  it('make no link behind another link, which leads out of the home', async () => {
    await backUp();
    const { repository } = await found();
    const [name = ''] = await repository.names();
    const manifest = await repository.read(name);
    const outside = join(folder, 'outside');
    await mkdir(outside);
    const entries = [
      { path: 'work', mode: 0o700, folder: true as const },
      { path: 'work/out', link: outside },
      { path: 'work/out/planted', link: '/etc/passwd' },
    ];
    await repository.write(name, { ...manifest, entries: [...manifest.entries, ...entries] });
    expect(await rejected(restored())).to.match(/work\/out\/planted lies behind a link/);
    expect(await readdir(outside)).to.deep.equal([]);
  });

  // One made while the clock was ahead stayed the newest for ever, and each that followed was the next to go
  it('follow each other by name also where the clock was set back', async () => {
    await backUp();
    hours -= 2;
    await writeFile(join(home(), 'org', '7.yaml'), 'name: later\n');
    const { kept: names } = await backUp();
    expect(names.map(({ name }) => name)).to.deep.equal([
      '2026-01-01T01-00-00-000Z',
      '2026-01-01T01-00-00-001Z',
    ]);
    expect(await readFile(join(await restored(), 'org', '7.yaml'), 'utf8')).to.equal('name: later\n');
  });

  it('hold working folders with their links, and conversations, where that is chosen', async () => {
    await mkdir(join(home(), 'work', 's1', 'empty'), { recursive: true });
    await writeFile(join(home(), 'work', 's1', 'run.sh'), 'true\n', { mode: 0o755 });
    await symlink('run.sh', join(home(), 'work', 's1', 'link'));
    await mkdir(join(home(), 'engines', 'codex'), { recursive: true });
    await writeFile(join(home(), 'engines', 'codex', 'talk.jsonl'), '{}\n');
    await backUp();
    expect(await readdir(await restored())).not.to.include.members(['work', 'engines']);
    const source = { home: home(), store: join(folder, 'stage'), instance: 'default', version: '0.1.0' };
    await backUp({ source: { ...source, include: ['work', 'transcripts'], at: Date.UTC(2026, 0, 2) } });
    const target = await restored();
    expect(await readlink(join(target, 'work', 's1', 'link'))).to.equal('run.sh');
    expect((await stat(join(target, 'work', 's1', 'run.sh'))).mode & 0o777).to.equal(0o755);
    expect(await readdir(join(target, 'work', 's1', 'empty'))).to.deep.equal([]);
    expect(await readFile(join(target, 'engines', 'codex', 'talk.jsonl'), 'utf8')).to.equal('{}\n');
  });

  it('bear a bucket that is overloaded, and say what is wrong with one that refuses', async () => {
    bucket.fail = { status: 503, times: 2 };
    await backUp(inBucket());
    const place = { to: 's3://other/x', endpoint: bucket.url, region: 'us-east-1' };
    expect(await rejected(backUp({ place }))).to.match(/Bucket other at .*: it does not exist\./);
    await writeFile(secretsFile, 'AWS_ACCESS_KEY_ID=AKIDEXAMPLE\nAWS_SECRET_ACCESS_KEY=wrong\n');
    expect(await rejected(backUp(inBucket()))).to.match(/it answered 403 SignatureDoesNotMatch/);
    await writeFile(secretsFile, '');
    expect(await rejected(backUp(inBucket()))).to.match(/AWS_ACCESS_KEY_ID is not set/);
  });

  it('hold no more of what a bucket answers than fits, and turn no pages for ever', async () => {
    const server = createServer((request, response) => {
      if (request.url?.includes('list-type') === true)
        return void response.end('<NextContinuationToken>1</NextContinuationToken>');
      const more = (): void => {
        while (response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const place = { endpoint: `http://127.0.0.1:${port}`, region: 'r', bucket: 'b', prefix: '' };
    const limits = { pageBytesMax: 1_000, objectBytesMax: 1_000_000, pagesMax: 3 };
    const destination = await openBucket({ ...place, ...BucketServer.keys }, limits);
    const refused = (asked: Promise<unknown>): Promise<string> =>
      asked.then(
        () => 'answered',
        (error: Error) => error.message,
      );
    expect(await refused(destination.get('repository.json'))).to.include('more than 1000000 bytes');
    expect(await refused(destination.list('objects/'))).to.include('more than 3 pages');
    server.closeAllConnections();
    server.close();
  });

  it('refuse a file with keys that others can read', async () => {
    await rm(secretsFile);
    await writeFile(secretsFile, '', { mode: 0o644 });
    expect(await rejected(backUp())).to.match(/is open to other users/);
  });
});
