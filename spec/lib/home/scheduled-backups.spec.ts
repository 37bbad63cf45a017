import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecord } from '../../../lib/home/backups/record.js';
import { nameAt } from '../../../lib/home/backups/repository.js';
import type { BackupJob, BackupMade } from '../../../lib/home/backups/job.js';
import { stageStore } from '../../../lib/home/backups/stage-store.js';
import { defaultConfig, type Config } from '../../../lib/home/config.js';
import { layoutOf, type Layout } from '../../../lib/home/layout.js';
import { runApart, scheduleBackups, type ScheduledBackups } from '../../../lib/home/scheduled-backups.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { groupFor } from '../store/killed-writer.js';
import { testEnvironment, type TestEnvironment } from '../../../lib/testing/test-environment.js';

const hour = 3_600_000;

/** What jobs do is the business of backups/; here is when they are begun, and what is noted of them. */
describe('backups by schedule', () => {
  let folder: string;
  let layout: Layout;
  let environment: TestEnvironment;
  let settings: Config['backup'];
  let backups: ScheduledBackups;
  let jobs: BackupJob[];
  let fault: Error | undefined;
  let told: string[];
  /** In the folder for the store's copy, when it was to be filled. */
  let found: readonly string[];
  let hear: () => void;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scheduled-backups-'));
    layout = layoutOf({ home: join(folder, 'home') });
    await mkdir(layout.home);
    environment = testEnvironment();
    settings = { ...defaultConfig().backup, to: join(folder, 'kept') };
    [jobs, told, fault] = [[], [], undefined];
    open(async (job) => {
      jobs.push(job);
      if (fault !== undefined) throw fault;
      return madeBy(job);
    });
  });
  afterEach(async () => {
    await backups.close();
    await rm(folder, { recursive: true });
  });

  function open(run: typeof runApart): void {
    backups = scheduleBackups({
      clock: environment.clock,
      settings: () => settings,
      layout,
      version: '0.1.0',
      stage: async (target) => {
        await mkdir(target, { recursive: true });
        found = await readdir(target);
      },
      run,
      made: ({ target }) => tell(`made ${target.slice(-24)}`),
      failed: ({ message }) => tell(message),
      off: () => tell('off'),
    });
  }
  function tell(what: string): void {
    told.push(what);
    hear();
  }
  const madeBy = ({ source, place, folder: below }: BackupJob): BackupMade => ({
    target: `${place.to}/${below}/backups/${nameAt(source.at)}`,
    from: 0,
    seq: 1,
    files: 1,
    bytes: 1,
    newBytes: 1,
    include: [],
    removed: [],
    kept: [{ name: nameAt(source.at), from: 0, seq: 1 }],
  });
  /** Let time pass until something is told. */
  async function after(ms: number): Promise<string | undefined> {
    const heard = new Promise<void>((resolve) => (hear = resolve));
    await environment.advance(ms);
    await heard;
    await new Promise(setImmediate); // the next look is arranged
    return told.at(-1);
  }

  it('are made at once where there is none, then whenever their time has come, a restart in between or not', async () => {
    expect(await after(0)).to.equal('made 2026-01-01T00-00-00-000Z');
    await backups.close();
    const { id, kept } = await readRecord(layout);
    expect(kept.map(({ name }) => name)).to.deep.equal(['2026-01-01T00-00-00-000Z']);
    open(async (job) => (jobs.push(job), madeBy(job)));
    await environment.advance(23 * hour);
    await backups.close(); // the look that has begun is over
    expect(jobs).to.have.length(1);
    open(async (job) => (jobs.push(job), madeBy(job)));
    expect(await after(hour)).to.match(/^made 2026-01-02/);
    expect(
      jobs.map((job) => job.folder),
      'one home, one place',
    ).to.deep.equal([`default-${id}`, `default-${id}`]);
  });

  it('begin anew where they go elsewhere', async () => {
    await after(0);
    await backups.make();
    settings = { ...settings, to: 's3://backups/troupe' };
    expect(await after(60_000)).to.match(/^made/);
    expect(jobs.at(-1)?.place.to).to.equal('s3://backups/troupe');
    expect(
      jobs.map(({ isKnown }) => isKnown),
      'where there should be some already',
    ).to.deep.equal([false, true, false]);
  });

  // "Backups fail" stood among what waits for ever once backup.to was taken out
  it('that are switched off are said so once, and again after they were on', async () => {
    settings = { ...settings, to: null };
    expect(await after(60_000)).to.equal('off');
    await environment.advance(600_000);
    expect(told.filter((what) => what === 'off')).to.have.length(1);
    settings = { ...settings, to: join(folder, 'kept') };
    expect(await after(60_000)).to.match(/^made/);
    settings = { ...settings, to: null };
    expect(await after(60_000)).to.equal('off');
  });

  it('that fail are noted with the reason and tried again in an hour; what was made stays noted', async () => {
    await after(0);
    fault = new Error('the bucket is away');
    expect(await after(24 * hour)).to.equal('the bucket is away');
    const { kept, failed } = await readRecord(layout);
    expect(kept).to.have.length(1);
    expect(failed).to.deep.include({ reason: 'the bucket is away' });
    await environment.advance(hour - 120_000);
    expect(jobs).to.have.length(2);
    fault = undefined;
    expect(await after(180_000)).to.match(/^made/);
    expect((await readRecord(layout)).failed).to.equal(null);
  });

  // A clock that was ahead for one backup had one made every minute after it, and each took the place of an older one
  it('go on when the clock was set back, and not faster than they should', async () => {
    await after(0);
    await backups.close();
    const ahead = '2026-01-01T00-00-00-000Z';
    open(async (job) => {
      jobs.push(job);
      return { ...madeBy(job), kept: [{ name: ahead, from: 0, seq: 1 }] };
    });
    await environment.setWall(-40 * 24 * hour);
    await after(60_000);
    expect(jobs).to.have.length(2);
    await environment.advance(60_000);
    await backups.close(); // the look that has begun is over
    expect(jobs).to.have.length(2);
  });

  it('do not begin within the home, not by a link either: each would hold those before it', async () => {
    await after(0);
    await symlink(layout.home, join(folder, 'link'));
    for (const to of [layout.home, join(layout.home, 'files', 'kept'), join(folder, 'link', 'kept')]) {
      settings = { ...settings, to };
      expect(await backups.make().catch((error: Error) => error.message)).to.match(/inside the home/);
    }
    expect(jobs).to.have.length(1);
  });

  it('say that they fail where even that cannot be noted', async () => {
    await after(0);
    fault = new Error('no space left');
    await rm(join(layout.home, 'backups.json'));
    await mkdir(join(layout.home, 'backups.json', 'in the way'), { recursive: true });
    await backups.make().catch(() => undefined);
    expect(told).to.have.length(2);
  });

  it('begin with an empty folder, whatever one left that was killed', async () => {
    await after(0);
    const store = join(layout.temporary, 'backup-store');
    await mkdir(store, { recursive: true });
    await writeFile(join(store, 'half'), '');
    found = [];
    await backups.make();
    expect(found).to.deep.equal([]);
  });

  it('are made in a program of their own; one that is ended in the middle is no backup', async () => {
    await after(0);
    const store = await openLevelStore({ directory: layout.home, scrubEveryMs: 0 });
    await store.write(groupFor(1, store.head.chain));
    const stage = join(folder, 'stage');
    await stageStore(layout.storeCopy, stage);
    await writeFile(layout.config, 'portal: {portalName: Kept}\n');
    const job = { ...jobs[0]!, source: { ...jobs[0]!.source, store: stage } };
    const stop = new AbortController();
    const ended = runApart(job, stop.signal).catch((error: Error) => error.name);
    stop.abort();
    expect(await ended).to.equal('AbortError');
    expect(await readdir(join(folder, 'kept')).catch(() => [])).to.deep.equal([]);
    // "ENOSPC: no space left on device, write" says nothing of where
    await writeFile(join(folder, 'file'), '');
    const nowhere = { ...job, place: { ...job.place, to: join(folder, 'file') } };
    expect(await runApart(nowhere, new AbortController().signal).catch(String)).to.match(
      /The backup to \S+file failed: E\w+.*\. Fix what it says; the next try/,
    );
    const made = await runApart(job, new AbortController().signal);
    expect(made.seq).to.equal(1);
    expect((await readFile(made.target, 'utf8')).slice(64)).to.include('"config.yaml"');
    await store.close();
  });
});
