import { expect } from 'chai';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { selfSigned } from '../../fixtures/certificate.js';
import { Troupe } from './troupe.js';

/**
 * What a home needs is not always a plain file of it: `files` on a larger disk and `org` in a repository are links, and
 * a certificate is what `config.yaml` names. The gateway uses them all; backups left them out, said that all was well
 * (those of the schedule were even "restored on trial"), and the restored home had lost them or did not start.
 */
describe('a backup of a home with links and a certificate', () => {
  let troupe: Troupe;
  let home: string;
  beforeEach(async () => {
    troupe = await Troupe.create();
    home = troupe.home();
    await mkdir(home, { mode: 0o700 });
  });
  afterEach(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', home];

  async function link(name: string): Promise<string> {
    const place = troupe.home(`elsewhere-${name}`);
    await mkdir(place);
    await symlink(`../elsewhere-${name}`, join(home, name));
    return place;
  }
  async function withEmployee(): Promise<void> {
    const org = await link('org');
    await mkdir(join(org, 'garden'));
    await writeFile(join(org, 'garden', 'ann.yaml'), 'displayName: Ann\nrank: employee\nengine: clerk\n');
  }

  it('holds what lies behind the links of the home itself, by hand and by schedule', async () => {
    await withEmployee();
    for (const name of ['store', 'store-copy', 'work']) await link(name);
    await writeFile(join(home, 'config.yaml'), `backup: {to: ${troupe.home('kept')}, include: [work]}\n`);
    const gateway = await troupe.start();
    expect(await troupe.run(...at('run', 'add "water the plants"'))).to.include({ code: 0 });
    await mkdir(join(home, 'work', 'w'), { recursive: true });
    await writeFile(join(home, 'work', 'w', 'a.md'), 'one');
    const byHand = troupe.home('by-hand');
    expect(await troupe.run(...at('backup', byHand))).to.include({ code: 0 });
    expect(await troupe.run(...at('backup'))).to.include({ code: 0 });
    for (const from of [byHand, troupe.home('kept')]) {
      const restored = `${from}-restored`;
      expect(await troupe.run('restore', from, '--home', restored)).to.include({ code: 0 });
      expect(await readFile(join(restored, 'org', 'garden', 'ann.yaml'), 'utf8')).to.match(
        /^displayName: Ann/,
      );
    }
    expect(await readFile(join(`${troupe.home('kept')}-restored`, 'work', 'w', 'a.md'), 'utf8')).to.equal(
      'one',
    );
    await gateway.kill('SIGTERM');
    expect(await troupe.run(...at('migrate', '--check')), 'which copies the store').to.include({ code: 0 });
  });

  it('is refused where a link leads nowhere, and where it would hold itself', async () => {
    await withEmployee();
    await troupe.start();
    const inner = await troupe.run(...at('backup', troupe.home('elsewhere-org/backup')));
    expect(inner.err).to.match(
      /elsewhere-org\/backup is inside the home, or contains it\. Choose a folder elsewhere/,
    );
    await rm(troupe.home('elsewhere-org'), { recursive: true });
    const missing = await troupe.run(...at('backup', troupe.home('backup')));
    expect(missing.code).to.equal(6);
    expect(missing.err).to.match(
      /home\/org is a link that leads nowhere \(ENOENT\)\. Mount the disk that it leads to, or remove the link/,
    );
  });

  // "ENOENT: no such file or directory, stat", and doctor said that the first start creates it
  it('says that the home itself is a link that leads nowhere', async () => {
    const link = troupe.home('link');
    await symlink('not-mounted', link);
    const said =
      /link is a link that leads nowhere \(ENOENT\)\. Mount the disk that it leads to, or remove the link/;
    const start = await troupe.run('start', '--home', link);
    expect(start.err).to.match(said);
    expect(start.code).to.equal(5);
    expect((await troupe.run('doctor', '--home', link)).out).to.match(
      /FIX +home +\S+link is a link that leads nowhere/,
    );
  });

  it('makes a home that starts, with the certificate that config.yaml names below the home', async () => {
    const { cert, key } = selfSigned();
    await writeFile(join(home, 'cert.pem'), cert);
    await mkdir(join(home, 'keys'), { mode: 0o700 });
    await writeFile(join(home, 'keys', 'key.pem'), key, { mode: 0o600 });
    await writeFile(join(home, 'config.yaml'), 'gateway: {tls: {cert: cert.pem, key: keys/key.pem}}\n');
    await troupe.start();
    const backup = troupe.home('backup');
    expect(await troupe.run(...at('backup', backup))).to.include({ code: 0 });
    const restored = troupe.home('restored');
    expect(await troupe.run('restore', backup, '--home', restored)).to.include({ code: 0 });
    await troupe.start(restored);
  });
});
