import { expect } from 'chai';
import { once } from 'node:events';
import { appendFile, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { BucketServer } from '../../helpers/bucket-server.js';
import { Troupe } from './troupe.js';

describe('troupe backup, restore, verify and inspect', () => {
  let troupe: Troupe;
  beforeEach(async () => {
    troupe = await Troupe.create();
  });
  afterEach(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];

  async function withTodo(): Promise<void> {
    expect((await troupe.run(...at('run', 'add "water the plants"'))).code).to.equal(0);
  }

  it('backs up a live gateway and restores it elsewhere: same todos, same token, same files', async () => {
    await mkdir(join(troupe.home(), 'knowledge'), { recursive: true });
    await writeFile(join(troupe.home(), 'knowledge', 'plants.md'), 'Twice a week.');
    await symlink('/etc/passwd', join(troupe.home(), 'knowledge', 'link.md'));
    await troupe.start();
    await withTodo();
    const target = troupe.home('backup');
    const backup = await troupe.run(...at('backup', target, '--json'));
    expect(backup).to.include({ code: 0 });
    expect((await stat(target)).mode & 0o777).to.equal(0o700);
    expect((await troupe.run(...at('run', 'add "after the backup"'))).code).to.equal(0);

    const elsewhere = troupe.home('elsewhere');
    expect(await troupe.run('restore', target, '--home', elsewhere)).to.include({ code: 0 });
    expect(await readdir(join(elsewhere, 'knowledge')), 'what a link points to is not ours').to.deep.equal([
      'plants.md',
    ]);
    await troupe.start(elsewhere);
    expect((await troupe.announcement(elsewhere)).token).to.equal((await troupe.announcement()).token);
    const todos = (await troupe.run('list', 'todos', '--home', elsewhere)).out;
    expect(todos).to.include('water the plants').and.not.include('after the backup');
  });

  it('never overwrites: not a backup, not a home, and not from within the home', async () => {
    await troupe.start();
    await withTodo();
    const target = troupe.home('backup');
    expect((await troupe.run(...at('backup', target))).code).to.equal(0);
    const again = await troupe.run(...at('backup', target));
    expect(again.code).to.equal(6);
    expect(again.err).to.match(/already exists/);
    expect((await troupe.run(...at('backup', join(troupe.home(), 'inner')))).err).to.match(/inside the home/);
    await writeFile(troupe.home('file'), 'x');
    expect((await troupe.run(...at('backup', join(troupe.home('file'), 'below')))).err).to.match(
      /^Cannot write to .*file \(ENOTDIR\)\. Choose another folder/,
    );
    const onto = await troupe.run('restore', target, '--home', troupe.home());
    expect(onto.code).to.equal(5);
    expect(onto.err).to.match(/existing files are never overwritten/);
    expect((await readdir(troupe.folder)).filter((name) => name.includes('unfinished'))).to.deep.equal([]);
  });

  // Of a mistyped home it made a good backup of nothing, with exit code 0, and the home as well.
  it('backs up and verifies nothing where no gateway ever ran, and makes nothing there', async () => {
    for (const command of [['backup', troupe.home('backup')], ['verify']]) {
      const { code, out, err } = await troupe.run(...at(...command));
      expect({ code, out }).to.deep.equal({ code: 5, out: '' });
      expect(err).to.match(/^No store in .*\. Use the home of a gateway that was started before\.\n$/);
    }
    expect(await readdir(troupe.folder)).to.deep.equal([]);
  });

  it('refuses a damaged backup and leaves nothing behind', async () => {
    await mkdir(join(troupe.home(), 'docs'), { recursive: true });
    await writeFile(join(troupe.home(), 'docs', 'a.md'), 'one');
    const gateway = await troupe.start();
    await withTodo();
    await gateway.kill('SIGTERM');
    const target = troupe.home('backup');
    expect(await troupe.run(...at('backup', target)), 'of a stopped gateway').to.include({ code: 0 });
    await writeFile(join(target, 'docs', 'a.md'), 'two');
    const elsewhere = troupe.home('elsewhere');
    expect((await troupe.run('restore', target, '--home', elsewhere)).err).to.match(
      /docs\/a\.md has changed/,
    );
    await rm(join(target, 'docs', 'a.md'));
    expect((await troupe.run('restore', target, '--home', elsewhere)).err).to.match(/docs\/a\.md is missing/);
    await writeFile(join(target, 'docs', 'a.md'), 'one');
    const [base = ''] = (await readdir(join(target, 'store-backup'))).filter((name) => name.endsWith('.seg'));
    await appendFile(join(target, 'store-backup', base), 'x');
    const cut = await troupe.run('restore', target, '--home', elsewhere);
    expect(cut.code).to.equal(5);
    expect(cut.err).to.match(
      /store-backup is not a whole backup: .*\. Use another backup; nothing was changed\.\n$/,
    );
    const packed = troupe.home('backup.tgz'); // "ENOTDIR: not a directory, open '…/repository.json'"
    await writeFile(packed, 'packed');
    expect((await troupe.run('restore', packed, '--home', elsewhere)).err).to.match(
      /backup\.tgz is not a backup/,
    );
    expect(await stat(elsewhere).catch(() => 'absent')).to.equal('absent');
    expect((await troupe.run('restore', troupe.folder, '--home', elsewhere)).err).to.match(/is not a backup/);
  });

  it('reads a closed store and refuses a held one, naming the route to ask instead', async () => {
    const gateway = await troupe.start();
    await withTodo();
    const { url } = await troupe.announcement();
    const held = await troupe.run('inspect', troupe.home());
    expect(held.code).to.equal(4);
    expect(held.err).to.include(`${url}/api/inspect/actors`);
    expect((await troupe.run(...at('verify'))).code).to.equal(4);
    await gateway.kill('SIGKILL');

    const all = await troupe.run('inspect', troupe.home());
    expect(all.out)
      .to.match(/session\s.+idle/)
      .and.match(/work-item\s+TRP-1/);
    const lines = (await troupe.run('inspect', troupe.home(), 'work-item', 'TRP-1', '--json')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event?: { type: string } });
    expect(lines.at(-1)?.event?.type).to.equal('kernel.created');
    expect((await troupe.run('inspect', troupe.home(), 'session', 'absent')).code).to.equal(1);
    expect((await troupe.run('inspect', troupe.home('nowhere'))).code).to.equal(5);
    expect(await stat(troupe.home('nowhere')).catch(() => 'absent'), 'looking makes nothing').to.equal(
      'absent',
    );
  });

  it('verifies a sound store and finds a flipped bit', async () => {
    const gateway = await troupe.start();
    await withTodo();
    await gateway.kill('SIGTERM');
    expect(await troupe.run(...at('verify'))).to.include({ code: 0 });
    const copy = join(troupe.home(), 'store-copy');
    const [segment = ''] = (await readdir(copy))
      .filter((name) => name.startsWith('segment-'))
      .sort()
      .reverse();
    const content = await readFile(join(copy, segment));
    const place = content.indexOf('water the plants');
    expect(place).to.be.greaterThan(0);
    content[place] = (content[place] ?? 0) ^ 1;
    await writeFile(join(copy, segment), content);
    const found = await troupe.run(...at('verify', '--json'));
    expect(found.code).to.equal(5);
    expect(JSON.parse(found.out)).to.include({ ok: false });
  });

  it('keeps backups in a bucket by itself: killed in the middle there is none, failing is seen, any position comes back', async () => {
    const bucket = await BucketServer.start();
    try {
      const { accessKeyId, secretAccessKey } = BucketServer.keys;
      const key = (await troupe.run('backup', 'key')).out;
      expect(key).to.match(/^TROUPE_BACKUP_KEY=AGE-SECRET-KEY-1\w+\n$/);
      const secrets = troupe.home('secrets');
      const keys = `AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretAccessKey}\n${key}`;
      await writeFile(secrets, keys, { mode: 0o600 });
      await mkdir(troupe.home());
      await writeFile(
        join(troupe.home(), 'config.yaml'),
        `backup: {to: "s3://backups/troupe", endpoint: "${bucket.url}", encrypt: true, secretsFile: ${secrets}}\n`,
      );
      const lists = (): string[] => [...bucket.objects.keys()].filter((name) => name.includes('/backups/'));
      const arrived = (wanted: RegExp): Promise<Readable> =>
        new Promise((resolve) => {
          bucket.onRequest = (request, connection) => {
            if (!wanted.test(request)) return undefined;
            resolve(connection);
            return new Promise((answer) => connection.once('close', answer));
          };
        });

      const writing = arrived(/^PUT .*\/objects\//);
      const killed = await troupe.start();
      const connection = await writing;
      const gone = once(connection, 'close');
      killed.child.kill('SIGKILL');
      await gone; // the program that made the backup ends with its gateway
      expect(lists()).to.deep.equal([]);

      const made = new Promise<void>((resolve) => {
        bucket.onRequest = (request) => void (/^PUT .*\/backups\//.test(request) && resolve());
      });
      await troupe.start();
      await made;
      await withTodo();
      const now = JSON.parse((await troupe.run(...at('backup', '--json'))).out) as { seq: number };
      const foreign = lists()[0]!.replace(/[^/]+$/, '2025-01-01T00-00-00-000Z');
      bucket.objects.set(foreign, Buffer.from('sealed with an earlier key'));
      const listed = await troupe.run(...at('backup', 'list', '--json'));
      const all = await troupe.run(...at('backup', 'verify', '--all'));
      const others = new Map(
        [...bucket.objects].filter(([name]) => name.includes('/backups/') && name !== foreign),
      );
      for (const name of others.keys()) bucket.objects.delete(name);
      const none = await troupe.run(...at('backup', 'list'));
      expect([none.code, none.out], 'there is one').to.deep.equal([5, 'No backup can be read.\n']);
      for (const [name, bytes] of others) bucket.objects.set(name, bytes);
      bucket.objects.delete(foreign);
      expect(all.code, 'one that is damaged hides nothing of the others').to.equal(5);
      expect(all.out).to.match(
        /2025-.* cannot be opened with this key[^]*restored on trial, no damage found/,
      );
      expect(all.err).to.match(/1 of \d cannot be restored/);
      expect(listed.err, 'one that cannot be read hides none').to.match(
        /2025-.* cannot be opened with this key/,
      );
      const rows = JSON.parse(listed.out) as { seq: number }[];
      expect(rows.at(-1)).to.deep.include({ seq: now.seq, encrypted: true, from: 0 });
      expect(await troupe.run(...at('backup', 'verify'))).to.include({ code: 0 });

      bucket.fail = { status: 403, times: 1 };
      expect((await troupe.run(...at('backup'))).err).to.match(/answered 403/);
      expect((await troupe.run(...at('waiting'))).out).to.match(/backup +you .*Backups fail: Bucket backups/);
      expect((await troupe.run(...at('doctor'))).out).to.match(/FIX +backups .*the last try failed: Bucket/);
      expect(await troupe.run(...at('backup'))).to.include({ code: 0 });
      expect((await troupe.run(...at('waiting'))).out).to.include('Nothing waits');

      const place = ['s3://backups/troupe', '--endpoint', bucket.url, '--secrets', secrets];
      const before = troupe.home('before');
      const restored = await troupe.run('restore', ...place, '--at', '1', '--home', before, '--json');
      expect(JSON.parse(restored.out)).to.include({ seq: 1, target: before });
      const newest = troupe.home('newest');
      expect(await troupe.run('restore', ...place, '--home', newest)).to.include({ code: 0 });
      await rm(join(newest, 'config.yaml')); // it would go on with backups of its own
      await troupe.start(newest);
      expect((await troupe.run('list', 'todos', '--home', newest)).out).to.include('water the plants');
    } finally {
      await bucket.stop();
    }
  });
});
