import { expect } from 'chai';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findSystemProgram } from '../../../actors/sandbox/system-program.js';

/** The `env` around the sandbox was whatever an agent had put first on the PATH. */
describe('a program that runs before anything is confined', () => {
  const path = process.env['PATH'];
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-path-'));
    await chmod(folder, 0o777);
    for (const name of ['env', 'troupe-none'])
      await writeFile(join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
    process.env['PATH'] = `${folder}${delimiter}${path}`;
  });
  afterEach(async () => {
    process.env['PATH'] = path;
    await rm(folder, { recursive: true });
  });

  it('is of the system, whatever stands first on the PATH', async () => {
    expect(await findSystemProgram('env')).to.equal('/usr/bin/env');
  });

  it('is not found in a folder that others can write', async () => {
    expect(await findSystemProgram('troupe-none')).to.equal(undefined);
  });
});
