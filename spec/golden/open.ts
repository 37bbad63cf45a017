import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unpack } from './archive.js';
import { idsIn, type Marks } from './comparable.js';
import { openFarSide, type FarSide } from './far-side.js';
import { configOf, connectorNames, installPrograms, notifyAtOnce } from './furnish.js';
import { startInstance, type Instance } from './instance.js';
import { quiet } from './quiet.js';

/** A golden home, opened by this build at a time of our choice, once it has settled what it found under way. */
export interface Golden {
  readonly home: string;
  readonly instance: Instance;
  readonly far: FarSide;
  readonly marks: Marks;
  /** A clean stop and a new start, so many ms after the home was made. */
  reopen(afterMs: number): Promise<Instance>;
  close(): Promise<void>;
}

/** `folder` must be empty. `at`: when the home's last process ended; `afterMs`: how much later it is opened. */
export async function openGolden(
  packed: Buffer,
  folder: string,
  at: number,
  afterMs = 1_000,
): Promise<Golden> {
  const home = join(folder, 'home');
  await unpack(packed, home, at);
  await installPrograms(folder);
  const far = await openFarSide(true);
  const settings = join(home, 'config.yaml');
  const notifies = /^notify:/m.test(await readFile(settings, 'utf8'));
  await writeFile(
    settings,
    configOf(
      { folder, farSide: far.url, isSlow: false },
      connectorNames.filter((name) => name !== 'stopped'),
    ) + (notifies ? notifyAtOnce(0) : ''),
  );
  let instance: Instance | undefined;
  const start = async (atMs: number): Promise<Instance> => {
    instance = await startInstance(home, atMs);
    // One poll looks for a minute, once it is due: nothing waits for it
    await quiet(instance.operator, ['poll active.checking']);
    return instance;
  };
  const close = async (): Promise<void> => {
    await instance?.kill();
    await far.close();
  };
  try {
    return {
      home,
      far,
      marks: { folder, farSide: far.url, at, ids: idsIn(packed) },
      instance: await start(at + afterMs),
      async reopen(laterMs) {
        await instance?.stop();
        return start(at + laterMs);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
