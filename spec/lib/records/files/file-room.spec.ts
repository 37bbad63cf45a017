import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layoutOf } from '../../../../lib/home/layout.js';
import { openFileRoom } from '../../../../lib/records/files/file-room.js';
import { testEnvironment } from '../../../../lib/testing/test-environment.js';

describe('the sweep of files that belong to no one', () => {
  // The wall leapt, and an upload that was being written was an hour old all at once.
  it('takes nothing because the wall has leapt, and takes it when an hour has passed', async () => {
    const home = await mkdtemp(join(tmpdir(), 'files-'));
    const environment = testEnvironment();
    const layout = layoutOf({ home });
    const room = await openFileRoom({ layout, environment });
    const folder = join(layout.files, '00000000-0000-4000-8000-000000000001');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'a.txt'), 'x');
    const written = new Date(environment.clock.now());
    await utimes(folder, written, written);
    const sweep = async (): Promise<readonly string[]> => {
      await room.sweep(async () => false);
      return readdir(layout.files);
    };
    await environment.setWall(365 * 24 * 3_600_000);
    expect(await sweep()).to.have.length(1);
    await environment.setWall(-365 * 24 * 3_600_000);
    expect(await sweep()).to.have.length(1);
    await environment.sleep(3_700_000);
    expect(await sweep()).to.have.length(0);
    await rm(home, { recursive: true, force: true });
  });
});
