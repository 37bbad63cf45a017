import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buildCommand } from '../../lib/build-command.js';
import { root } from '../house/sources.js';

/**
 * The command `troupe` as people run it: bundled, for `process.execPath`. A bundle older than what was compiled is
 * made again, so that no spec tests the code of an hour ago.
 */
export const command = join(root, 'dist/command/troupe.js');

const writtenAt = (file: string): Promise<number> =>
  stat(join(root, file)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

// the manifest is written last
if ((await writtenAt('dist/command/package.json')) < (await writtenAt('dist/.tsbuildinfo')))
  await buildCommand();
