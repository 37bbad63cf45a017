import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
});
