import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEvidence } from '../../../../lib/records/evidence/evidence.js';

describe('openEvidence', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'evidence-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const standard = () => join(folder, 'workflow-evidence');

  it("makes the home's own folder and writes below it, for its owner alone", async () => {
    const evidence = await openEvidence({ standard: standard() });
    expect(evidence).to.include({ configured: true, reason: null, root: standard() });
    await evidence.write('workflows/a/1.json', '{}');
    expect(await readFile(join(standard(), 'workflows', 'a', '1.json'), 'utf8')).to.equal('{}');
    expect((await stat(join(standard(), 'workflows', 'a', '1.json'))).mode & 0o777).to.equal(0o600);
    expect([
      await evidence.has('workflows/a/1.json'),
      await evidence.has('workflows/a/2.json'),
    ]).to.deep.equal([true, false]);
  });

  it('uses a folder that someone names, if it is there', async () => {
    await mkdir(join(folder, 'elsewhere'));
    const evidence = await openEvidence({ standard: standard(), override: join(folder, 'elsewhere') });
    expect(evidence).to.include({ configured: true, root: join(folder, 'elsewhere') });
    expect(await stat(standard()).catch(() => 'absent')).to.equal('absent');
  });

  it('says why a named folder cannot be used, and writes nothing', async () => {
    await writeFile(join(folder, 'file'), '');
    for (const [override, reason] of [
      ['relative/folder', 'which is not an absolute path.'],
      [join(folder, 'gone'), 'but no such directory exists.'],
      [join(folder, 'file'), 'which is not a directory.'],
    ] as const) {
      const evidence = await openEvidence({ standard: standard(), override });
      expect(evidence.configured).to.equal(false);
      expect(evidence.reason).to.include(reason).and.include(override);
      expect(await evidence.write('a.json', '{}').catch((error: Error) => error.message)).to.equal(
        evidence.reason,
      );
    }
  });

  it('never leaves its root: neither by a name nor by a link', async () => {
    const evidence = await openEvidence({ standard: standard() });
    for (const path of ['../a', 'a/../../b', '/etc/passwd', '', 'a//b', '.hidden', 'a\0'])
      expect(await evidence.write(path, 'x').catch((error: Error) => error.name), path).to.equal('TypeError');
    await mkdir(join(folder, 'outside'));
    await symlink(join(folder, 'outside'), join(standard(), 'workflows'));
    expect(await evidence.write('workflows/a.json', 'x').catch((error: Error) => error.message)).to.include(
      'leads outside',
    );
    expect(
      await evidence.write('workflows/deep/a.json', 'x').catch((error: Error) => error.message),
    ).to.include('leads outside');
    expect(await stat(join(folder, 'outside', 'deep')).catch(() => 'absent'), 'not even a folder').to.equal(
      'absent',
    );
    expect(await stat(join(folder, 'outside', 'a.json')).catch(() => 'absent')).to.equal('absent');
  });
});
