import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backUp, type BackupReport } from '../../../lib/home/backup.js';
import { defaultConfig } from '../../../lib/home/config.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { scheduleBackups, type ScheduledBackups } from '../../../lib/home/scheduled-backups.js';
import { openLevelStore, type LevelStore } from '../../../lib/store/level.js';
import { groupFor } from '../store/killed-writer.js';
import { testEnvironment, type TestEnvironment } from '../../../lib/testing/test-environment.js';

const hour = 3_600_000;

/** A real home, a real folder for its backups; only the clock is the test's. */
describe('backups by schedule', () => {
  let folder: string;
  let environment: TestEnvironment;
  let store: LevelStore;
  let backups: ScheduledBackups;
  /** What is told of each turn, in order: a report, or why there is none. */
  let told: (BackupReport & { readonly removed: readonly string[] }) | string | undefined;
  let hear: () => void;
  let spoil: (target: string) => Promise<void>;
  const kept = (): string => join(folder, 'backups');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scheduled-backups-'));
    environment = testEnvironment();
    const home = join(folder, 'home');
    await mkdir(home);
    await writeFile(join(home, 'config.yaml'), 'portal: {portalName: Kept}\n');
    store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
    await store.write(groupFor(1, store.head.chain));
    spoil = async () => undefined;
    open();
  });
  afterEach(async () => {
    await backups.close();
    await store.close();
    await rm(folder, { recursive: true });
  });

  function open(): void {
    const layout = layoutOf({ home: join(folder, 'home') });
    const tell = (what: typeof told): void => {
      told = what;
      hear();
    };
    backups = scheduleBackups({
      clock: environment.clock,
      settings: () => ({ ...defaultConfig().backup, folder: kept(), keep: 2 }),
      instance: layout.instance,
      async backUp(target) {
        const report = await backUp(layout, target, (place) => store.backUp(place), environment.clock.now());
        await spoil(target);
        return report;
      },
      made: tell,
      failed: ({ message }) => tell(message),
    });
  }
  /** Let time pass until something is told. */
  async function after(ms: number): Promise<typeof told> {
    const heard = new Promise<void>((resolve) => (hear = resolve));
    await environment.advance(ms);
    await heard;
    return told;
  }

  it('are made at once where there is none, then whenever their time has come, a restart in between or not', async () => {
    expect(await after(0)).to.deep.include({ removed: [] });
    expect(await readdir(kept())).to.deep.equal(['default-2026-01-01T00-00-00-000Z']);
    expect(await readFile(join(kept(), (await readdir(kept()))[0]!, 'config.yaml'), 'utf8')).to.include(
      'Kept',
    );
    await backups.close();
    open();
    await environment.advance(23 * hour);
    expect(await readdir(kept())).to.have.length(1);
    await after(hour);
    expect(await readdir(kept())).to.have.length(2);
  });

  it('remove the oldest once there are more than are kept, and nothing that is not theirs', async () => {
    await mkdir(join(kept(), 'default-of-somebody'), { recursive: true });
    await mkdir(join(kept(), 'other-2020-01-01T00-00-00-000Z'));
    await after(0);
    await after(24 * hour);
    expect(await after(24 * hour)).to.deep.include({ removed: ['default-2026-01-01T00-00-00-000Z'] });
    expect(await readdir(kept())).to.have.members([
      'default-of-somebody',
      'other-2020-01-01T00-00-00-000Z',
      'default-2026-01-02T00-00-00-000Z',
      'default-2026-01-03T00-00-00-000Z',
    ]);
  });

  // A backup that no one ever restored is a hope.
  it('are no backups, and remove none, where the trial of restoring them fails; the next try comes in an hour', async () => {
    await after(0);
    spoil = async (target) => {
      const inStore = join(target, 'store-backup');
      const image = (await readdir(inStore)).find((name) => name.endsWith('.seg')) ?? '';
      const bytes = await readFile(join(inStore, image));
      bytes[bytes.length >> 1]! ^= 1;
      await writeFile(join(inStore, image), bytes);
    };
    expect(await after(24 * hour)).to.match(/could not be restored: .*not a whole backup/);
    expect(await readdir(kept())).to.deep.equal(['default-2026-01-01T00-00-00-000Z']);
    spoil = async (target) => writeFile(join(target, 'config.yaml'), 'portal: {portalName: Changed}\n');
    expect(await after(hour)).to.match(/config\.yaml has changed/);
    spoil = async () => undefined;
    expect(await after(hour)).to.deep.include({ removed: [] });
    expect(await readdir(kept())).to.have.length(2);
  });

  it('go on when the clock was set back', async () => {
    await after(0);
    await environment.setWall(-40 * 24 * hour);
    await after(60_000);
    expect(await readdir(kept())).to.have.length(2);
  });
});
