import { expect } from 'chai';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { folderOf, readRecord, writeRecord } from '../../../lib/home/backups/record.js';
import { defaultConfig } from '../../../lib/home/config.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { homeSandbox } from '../../../lib/home/sandbox.js';

describe('the sandbox of a home', () => {
  // A backup holds the operator's token, and its file of keys all backups; both lay open to agents in a sandbox
  it('hides its backups and the keys of those, wherever they lie, and nothing around them', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'home-sandbox-')));
    try {
      const layout = layoutOf({ home: join(folder, 'home') });
      const [to, cwd, secretsFile] = ['kept', 'kept/project', 'keys.env'].map((name) => join(folder, name));
      await mkdir(layout.home);
      // On another disk, the store and what work items attach lay open to agents
      const [store, org] = ['disk/store', 'disk/org'].map((name) => join(folder, name));
      for (const path of [store!, org!]) {
        await mkdir(path, { recursive: true });
        await symlink(path, join(layout.home, basename(path)));
      }
      await mkdir(cwd!, { recursive: true });
      await writeFile(secretsFile!, '');
      const record = await readRecord(layout);
      await writeRecord(layout, record);
      const backups = join(to!, folderOf(layout, record));
      await mkdir(backups);
      const config = defaultConfig();
      const { port } = homeSandbox({
        layout,
        config: () => ({ ...config, backup: { ...config.backup, to: to!, secretsFile: secretsFile! } }),
        tool: async () => ({
          name: 'bubblewrap',
          path: '/usr/bin/bwrap',
          env: undefined,
          prlimit: undefined,
          countsProcesses: false,
          stat: undefined,
          scope: undefined,
        }),
      });
      const { PATH = '' } = process.env;
      const { mounts } = await port.confine({ program: 'sh', args: [], cwd: cwd!, env: { PATH } }, 'home');
      const hidden = mounts.filter(({ access }) => access === 'hidden').map(({ path }) => path);
      expect(hidden).to.include.members([layout.home, store, backups, secretsFile]);
      expect(hidden).to.not.include.members([to]).and.not.include.members([org]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
