import { expect } from 'chai';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { workingFolder } from '../../../../lib/commands/sessions/working-folder.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { openApp, type AppFixture } from '../app-fixture.js';

describe('workingFolder', () => {
  let house: AppFixture;
  let outside: string;
  before(async () => {
    outside = await mkdtemp(join(tmpdir(), 'outside-'));
    house = await openApp();
    await mkdir(join(house.home, 'roots', 'project'), { recursive: true });
    await mkdir(join(house.home, 'roots-not'));
    await symlink('/etc', join(house.home, 'roots', 'way-out'));
    await symlink('project', join(house.home, 'roots', 'way-in'));
    await writeFile(join(house.home, 'roots', 'file'), '');
  });
  after(async () => {
    await house.close();
    await rm(outside, { recursive: true });
  });

  const folder = (given: string | null, rehearsal = false) =>
    workingFolder(house.app, 's1', given, { rehearsal });

  it('makes a private folder per session where none is named, and none in a rehearsal', async () => {
    expect(await folder(null, true)).to.equal(join(house.home, 'work', 's1'));
    expect(await stat(join(house.home, 'work')).catch(() => 'absent')).to.equal('absent');
    await folder(null);
    expect((await stat(join(house.home, 'work', 's1'))).mode & 0o777).to.equal(0o700);
  });

  it('takes folders inside the roots, by their real path', async () => {
    expect(await folder(join(house.home, 'roots'))).to.be.a('string');
    expect(await folder(join(house.home, 'roots', 'way-in'))).to.match(/roots\/project$/);
  });

  for (const path of [
    'roots/way-out',
    'roots/../roots-not',
    'roots-not',
    'roots/file',
    'roots/absent',
    'roots/project\0x',
  ]) {
    it(`refuses ${JSON.stringify(path)}`, async () => {
      expect(isRefusal(await folder(`${house.home}/${path}`))).to.equal(true);
    });
  }

  // A root around the home opened the working folders of all other sessions.
  it('takes nothing of the home for inside a root that lies around the home', async () => {
    const { app } = house;
    const around = { ...app, settings: { ...app.settings, sessionRoots: [dirname(house.home)] } };
    const given = (path: string) => workingFolder(around, 's2', path, { rehearsal: false });
    expect(isRefusal(await given(join(house.home, 'work', 's1')))).to.equal(true);
    expect(isRefusal(await given(house.home))).to.equal(true);
    expect(await given(outside)).to.equal(outside);
  });

  it('takes any folder but one of the home from the one who has the token, a link into the home included', async () => {
    const anywhere = (given: string) =>
      workingFolder(house.app, 's1', given, { rehearsal: false, anywhere: true });
    expect(await anywhere('/usr')).to.equal('/usr');
    await symlink(house.home, join(outside, 'link'));
    for (const path of [
      house.home,
      join(house.home, 'roots-not'),
      join(outside, 'link'),
      'relative',
      '/usr\0x',
    ])
      expect(isRefusal(await anywhere(path)), path).to.equal(true);
  });
});
