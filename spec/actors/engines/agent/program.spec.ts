import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acpPreset, acpPresetNames } from '../../../../actors/engines/acp/presets.js';
import { claudeEngine } from '../../../../actors/engines/claude/engine.js';
import { codexEngine } from '../../../../actors/engines/codex/engine.js';
import { programs } from '../../../engines/programs.js';
import { programFinder } from '../../../../actors/engines/agent/program.js';

describe('the program of an engine', () => {
  // Some say it and end badly, since they are not logged in: the version was not known any more
  it('says its version, however it ends', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'program-'));
    try {
      const file = join(folder, 'agent');
      await writeFile(file, '#!/bin/sh\necho "agent 1.2.3 (test)"; exit 1\n', { mode: 0o700 });
      expect(await programFinder(file, 'Install it.')()).to.deep.include({
        available: true,
        version: '1.2.3',
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is called old by its numbers, and by nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'program-'));
    try {
      const older = async (version: string): Promise<unknown> => {
        const file = join(folder, version);
        await writeFile(file, `#!/bin/sh\necho "agent ${version}"\n`, { mode: 0o700 });
        const facts = await programFinder(file, 'Install it.', '2.1.197')();
        return facts.available && [facts.olderThan ?? null, facts.remedy ?? null];
      };
      expect(await older('2.1.9')).to.deep.equal(['2.1.197', 'Install it.']);
      expect(await older('1.99.999')).to.deep.equal(['2.1.197', 'Install it.']);
      expect(await older('2.1.197-beta')).to.deep.equal([null, null]);
      expect(await older('2.10.0')).to.deep.equal([null, null]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  // One that was never tried would be called good, or one that was tried called old
  it('is to be as new as the one that `npm run engines` tries', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'program-'));
    try {
      const bin = join(folder, 'agent');
      await writeFile(bin, '#!/bin/sh\necho "agent 0.0.1"\n', { mode: 0o700 });
      const engines = [
        claudeEngine({ bin }),
        codexEngine({ bin, models: ['one'] }),
        ...acpPresetNames.map((name) => acpPreset(name, { bin })),
      ];
      for (const engine of engines) {
        const tried = programs
          .find(({ name }) => name === engine.name)
          ?.packages[0]?.split('@')
          .at(-1);
        expect((await engine.discover()).olderThan, engine.name).to.equal(tried);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
