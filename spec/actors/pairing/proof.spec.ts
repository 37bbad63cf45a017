import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, link, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearingEffect, proofEffect, proofPath } from '../../../actors/pairing/proof.js';
import type { EffectContext } from '../../../actors/contracts.js';

/** Real files, of every sort that someone might put there. */
describe('the look at a proof', () => {
  const nonce = 'n'.repeat(43);
  const nonceHash = createHash('sha256').update(nonce).digest('hex');
  let home: string;
  let path: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'proof-'));
    path = proofPath(home, 'c1');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const look = async (): Promise<boolean> =>
    // The hand needs nothing of the kernel
    (await proofEffect({ home }).run({ challengeId: 'c1', nonceHash }, {} as EffectContext)).proven;
  const isThere = (): Promise<boolean> =>
    lstat(path).then(
      () => true,
      () => false,
    );

  it('accepts the nonce in a private file of ours, once: the file is gone', async () => {
    await writeFile(path, nonce, { mode: 0o600 });
    expect(await look()).to.equal(true);
    expect(await isThere()).to.equal(false);
    expect(await look()).to.equal(false);
  });

  const plants: Record<string, () => Promise<unknown>> = {
    'another nonce': () => writeFile(path, 'm'.repeat(43), { mode: 0o600 }),
    'a nonce with a line end': () => writeFile(path, `${nonce}\n`, { mode: 0o600 }),
    'a part of it': () => writeFile(path, nonce.slice(1), { mode: 0o600 }),
    'an empty file': () => writeFile(path, '', { mode: 0o600 }),
    'a file that a group may read': async () => {
      await writeFile(path, nonce);
      await chmod(path, 0o640);
    },
    'a file that all may write': async () => {
      await writeFile(path, nonce);
      await chmod(path, 0o602);
    },
    'a read-only file': () => writeFile(path, nonce, { mode: 0o400 }),
    'a set-uid file': async () => {
      await writeFile(path, nonce);
      await chmod(path, 0o4600);
    },
    'a link to a right file': async () => {
      await writeFile(join(home, 'right'), nonce, { mode: 0o600 });
      await symlink(join(home, 'right'), path);
    },
    'a dangling link': () => symlink(join(home, 'nowhere'), path),
    'a second name of a right file': async () => {
      await writeFile(join(home, 'right'), nonce, { mode: 0o600 });
      await link(join(home, 'right'), path);
    },
    'a pipe, which would hold an opening for ever': async () => execFileSync('mkfifo', ['-m', '600', path]),
    'a file as large as a disk': () => writeFile(path, 'n'.repeat(1_000_000), { mode: 0o600 }),
  };
  for (const [name, plant] of Object.entries(plants)) {
    it(`is not taken in by ${name}, and removes it`, async () => {
      await plant();
      expect(await look()).to.equal(false);
      expect(await isThere()).to.equal(false);
    });
  }

  it('leaves what a link pointed to alone', async () => {
    await writeFile(join(home, 'right'), nonce, { mode: 0o600 });
    await symlink(join(home, 'right'), path);
    await look();
    expect((await lstat(join(home, 'right'))).size).to.equal(43);
  });

  it('says no to a folder and to a home that is gone', async () => {
    await mkdir(path);
    expect(await look()).to.equal(false);
    await rm(home, { recursive: true });
    expect(await look()).to.equal(false);
  });

  it('clears away what no one redeemed', async () => {
    await writeFile(path, nonce, { mode: 0o600 });
    await clearingEffect({ home }).run({ challengeId: 'c1', nonceHash }, {} as EffectContext);
    expect(await isThere()).to.equal(false);
  });
});
