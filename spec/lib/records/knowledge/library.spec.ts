import { expect } from 'chai';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLibrary, type Library, type LibraryOptions } from '../../../../lib/records/knowledge/library.js';
import { systemEnvironment } from '../../../../lib/environment.js';

describe('the library', () => {
  let home: string;
  let library: Library;
  const warnings: object[] = [];
  const open = async (options: Partial<LibraryOptions> = {}): Promise<void> => {
    const environment = systemEnvironment();
    const log = Object.assign(Object.create(environment.log) as typeof environment.log, {
      warn: (data: object) => void warnings.push(data),
    });
    library = openLibrary({ home, folders: ['knowledge'], environment: { ...environment, log }, ...options });
    await library.ready(60_000);
  };
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(join(home, path, '..'), { recursive: true });
    await writeFile(join(home, path), text);
  };
  const paths = async (...fragments: string[]): Promise<string[]> =>
    ((await library.find(fragments, 100)) ?? []).map(({ path }) => path);
  const found = async (fragment: string, wanted: readonly string[]): Promise<void> => {
    while ((await paths(fragment)).join() !== wanted.join())
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      }); // the runner's timeout is the bound
  };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'troupe-library-'));
    warnings.length = 0;
    await mkdir(join(home, 'knowledge'));
  });
  afterEach(async () => {
    await library.close();
    await rm(home, { recursive: true, force: true });
  });

  // a notice that is put off by every further one never comes where something is always written
  it('finds a change while other files never come to rest', async () => {
    await open();
    let busy = true;
    const noise = (async () => {
      for (let n = 0; busy; n += 1) {
        await put(`knowledge/noise-${n % 7}.md`, `noise ${n}`);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    })();
    await put('knowledge/quiet.md', 'zebra');
    await found('zebra', ['knowledge/quiet.md']);
    busy = false;
    await noise;
  });

  // struck documents were only counted at a look at everything, so a house that changed much forgot new
  // documents in the end
  it('stays small however often documents change, and finds them as they are', async () => {
    await open({ entriesMax: 20_000 });
    const names = Array.from({ length: 400 }, (_, n) => `knowledge/d${n}.md`);
    for (let round = 0; round < 12; round += 1) {
      for (const name of names) await put(name, `round${round} ${name.slice(10)} some words of no matter`);
      await library.refresh();
    }
    expect(warnings).to.deep.equal([]);
    expect(await paths('round11')).to.have.length(100);
    expect(await paths('round10')).to.deep.equal([]);
    expect(await paths('d399', 'round11')).to.deep.equal(['knowledge/d399.md']);
    expect(library.size).to.equal(400);
  });

  it('says what it leaves out when there is more than it may hold, and holds the rest', async () => {
    for (let n = 0; n < 10; n += 1) await put(`knowledge/d${n}.md`, `common only${n}`);
    await open({ documentsMax: 8, wordsMax: 6 });
    expect(library.size).to.equal(8);
    expect(await paths('common')).to.have.length(8);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ documents: 2, words: 3 });
  });

  it('enters no more folders than it may, however many someone makes', async () => {
    for (let n = 0; n < 30; n += 1) await put(`knowledge/f${n}/d.md`, 'common');
    await open({ foldersMax: 21 });
    expect(await paths('common')).to.have.length(20);
  });

  it('follows a folder that is exchanged for another of the same name', async () => {
    await put('knowledge/team/plan.md', 'otter');
    await put('spare/plan.md', 'badger');
    await open();
    await rename(join(home, 'knowledge/team'), join(home, 'gone'));
    await rename(join(home, 'spare'), join(home, 'knowledge/team'));
    await found('badger', ['knowledge/team/plan.md']);
    expect(await paths('otter')).to.deep.equal([]);
    await put('knowledge/team/new.md', 'walrus'); // the new folder is the one that is listened to
    await found('walrus', ['knowledge/team/new.md']);
  });

  it('takes in a document of very many words without leaving anything behind', async () => {
    await open();
    await put('knowledge/large.md', Array.from({ length: 120_000 }, (_, n) => `w${n}`).join(' '));
    await library.refresh();
    expect(await paths('w119999', 'w7', 'w60000')).to.deep.equal(['knowledge/large.md']);
    await rm(join(home, 'knowledge/large.md'));
    await library.refresh();
    expect(await paths('w119999')).to.deep.equal([]);
  });
});
