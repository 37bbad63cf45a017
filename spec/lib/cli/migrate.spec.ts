import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtInKinds } from '../../../lib/cli/built-in-kinds.js';
import { contentHash } from '../../../lib/home/atomic-file.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { copyStore, putBack } from '../../../lib/home/way-back.js';
import { copyRecords, migrateRecords } from '../../../lib/supervisor/migrate-records.js';
import { StoreError } from '../../../lib/store/contract.js';
import { keys, prefix } from '../../../lib/store/keys.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { lockHome } from '../../../lib/store/lock.js';
import { storePorts } from '../../../lib/store/ports.js';
import { migrations } from '../../crash/migrations.js';
import { unpack } from '../../golden/archive.js';
import { expectationsOf, homesFolder } from '../../golden/keep.js';
import { Troupe, type Ran } from './troupe.js';

const kept = 'before-migration';
type Records = ReadonlyMap<string, string>;

/**
 * A home of an older build, migrated by this one: rehearsed, done and taken back, and killed at each step of both. It
 * holds what it held, or what it was to hold, and never a mixture.
 */
describe('troupe migrate', function () {
  this.timeout(120_000);
  let troupe: Troupe;
  let old: string;
  let original: Records;
  before(async () => {
    troupe = await Troupe.create();
    old = troupe.home('old');
    const name = '0.1.0-57409ce-killed';
    await unpack(await readFile(join(homesFolder, `${name}.home.br`)), old, (await expectationsOf(name)).at);
    original = await recordsOf(await copyOf(old, 'read'));
  });
  after(() => troupe.clear());
  const copyOf = async (home: string, name: string): Promise<string> => {
    const copy = troupe.home(name);
    await rm(copy, { recursive: true, force: true });
    await copyStore(layoutOf({ home }), copy);
    if (existsSync(join(home, kept))) await cp(join(home, kept), join(copy, kept), { recursive: true });
    return copy;
  };
  const migrate = (home: string, ...words: string[]): Promise<Ran> =>
    troupe.run('migrate', '--home', home, ...words);

  it('rehearses on a copy: says what changes, of which kind, and touches nothing', async () => {
    const home = await copyOf(old, 'checked');
    const files = await hashesOf(home);
    const { code, out } = await migrate(home, '--check', '--json');
    expect(code).to.equal(0);
    const { kinds } = JSON.parse(out) as { kinds: { kind: string; from: object; unreadableCount: number }[] };
    expect(kinds.find(({ kind }) => kind === 'session')?.from).to.not.deep.equal({});
    expect(kinds.reduce((sum, { unreadableCount }) => sum + unreadableCount, 0)).to.equal(0);
    expect(await hashesOf(home)).to.deep.equal(files);
  });

  it('migrates every actor, and takes all of it back while nothing was committed', async () => {
    const home = await copyOf(old, 'applied');
    expect((await migrate(home, '--apply')).err).to.include('To go back before work is done: troupe migrate');
    const after = await recordsOf(await copyOf(home, 'read'));
    expect(versionsIn(after)).to.deep.equal(versionsOfThisBuild([...after.keys()]));
    // An older version, started now, must refuse it whole and not actor by actor
    expect((await writtenBy(await copyOf(home, 'read'))) ?? '').to.include('"session":');
    expect((await troupe.run('verify', '--home', home)).out).to.include('No damage found.');
    expect((await migrate(home, '--check')).out).to.not.match(/ from \d/);
    expect((await migrate(home, '--undo')).code).to.equal(0);
    expect(await recordsOf(await copyOf(home, 'read'))).to.deep.equal(original);
    expect((await migrate(home, '--undo')).err).to.include('Nothing to undo');
  });

  it('holds old or new, and never both, wherever the undoing is killed; undone again it is old', async () => {
    const applied = await copyOf(old, 'applied');
    await migrate(applied, '--apply');
    const after = await recordsOf(await copyOf(applied, 'read'));
    const seen = new Set<string>();
    let steps = 0;
    for (let step = 1; ; step += 1) {
      const home = await copyOf(applied, 'killed');
      if ((await killedAt('undo', home, step)) === 'ended') break;
      steps = step;
      const found = await recordsOf(await copyOf(home, 'read')).catch((error: unknown) => {
        expect(error).to.be.instanceOf(StoreError);
        return 'refused' as const;
      });
      seen.add(found === 'refused' ? found : sameAs(found, { original, after }));
      if (existsSync(join(home, kept))) await putBack(layoutOf({ home }));
      expect(await recordsOf(home), `step ${step}`).to.deep.equal(original);
    }
    expect(steps).to.be.greaterThan(7);
    expect([...seen].sort()).to.deep.equal(['after', 'original', 'refused']);
  });

  // The way back had lost its second copy: undone once more, the home held the old store and the new copy of it
  it('keeps another way back where an undoing was killed at its end and the home is migrated again', async () => {
    const home = await copyOf(old, 'again');
    await migrate(home, '--apply');
    expect(await killedAt('undo', home, 8)).to.equal('killed');
    expect(['store', `${kept}/store-copy`].filter((name) => existsSync(join(home, name)))).to.deep.equal([]);
    expect(await migrate(home, '--apply')).to.include({ code: 0 });
    expect(await migrate(home, '--undo')).to.include({ code: 0 });
    expect((await troupe.run('verify', '--home', home)).out).to.include('No damage found.');
    expect(await recordsOf(await copyOf(home, 'read'))).to.deep.equal(original);
  });

  it('holds each actor old or new, wherever the migration is killed; applied again it is new', async () => {
    const whole = await copyOf(old, 'whole');
    await migrateAll(whole);
    const after = await recordsOf(whole);
    const states = new Set<string>();
    for (const step of [1, 3, 13]) {
      const home = await copyOf(old, 'killed');
      expect(await killedAt('apply', home, step, await copyOf(whole, 'copy'))).to.equal('killed');
      const found = await recordsOf(await copyOf(home, 'read'));
      states.add(sameAs(found, { original, after }));
      expect([...found.keys()]).to.deep.equal([...original.keys()]);
      for (const [key, text] of found) expect([original.get(key), after.get(key)], key).to.include(text);
      await migrateAll(home);
      expect(await recordsOf(home), `step ${step}`).to.deep.equal(after);
    }
    expect([...states]).to.include('a mixture');
  });

  // It kept a way back, and then found that it could not migrate
  it('holds the home while it migrates: where another process has it, nothing is begun', async () => {
    const home = await copyOf(old, 'held');
    const holder = await openLevelStore({ directory: home, scrubEveryMs: 0 });
    const { code, err } = await migrate(home, '--apply');
    await holder.close();
    expect([code, /another process is using/.test(err)]).to.deep.equal([4, true]);
    expect(existsSync(join(home, kept))).to.equal(false);
  });

  // A gateway that a service manager started again opened a store that was renamed beneath it
  it('holds the home while it undoes: where another process has it, nothing is moved', async () => {
    const home = await copyOf(old, 'undone');
    await migrate(home, '--apply');
    expect(await killedAt('undo', home, 4)).to.equal('killed');
    const files = await hashesOf(join(home, kept));
    const unlock = await lockHome(storePorts(), await realpath(home));
    const { code, err } = await migrate(home, '--undo');
    await unlock();
    expect([code, /another process is using/.test(err)]).to.deep.equal([4, true]);
    expect(await hashesOf(join(home, kept))).to.deep.equal(files);
    expect(await migrate(home, '--undo')).to.include({ code: 0 });
    expect(await recordsOf(home)).to.deep.equal(original);
  });

  it('brings no actor back that the home holds no more', async () => {
    const [whole, home] = [await copyOf(old, 'whole'), await copyOf(old, 'without')];
    await migrateAll(whole);
    const [gone = ''] = [...original.keys()];
    await write(home, gone, null);
    const [from, to] = [
      await openLevelStore({ directory: whole, scrubEveryMs: 0 }),
      await openLevelStore({ directory: home, scrubEveryMs: 0 }),
    ];
    await copyRecords(from, to);
    await Promise.all([from.close(), to.close()]);
    expect((await recordsOf(home)).has(gone)).to.equal(false);
  });

  // `npm run crash -- migrations` does this with 20,000 actors and a hundred kills
  it('loses nothing of an --apply that is killed at random moments', async () => {
    const folder = await mkdtemp(join(troupe.folder, 'kills-'));
    const { actors, violations } = await migrations({
      actors: 300,
      kills: 2,
      seed: 7,
      folder,
      say: () => {},
    });
    expect([actors, violations]).to.deep.equal([300, []]);
  });

  it('refuses a home with an actor of tomorrow, names it, and changes nothing', async () => {
    const home = await copyOf(old, 'tomorrow');
    const [key = '', text = ''] = [...original].find(([name]) => name.startsWith('a/session/')) ?? [];
    await write(home, key, text.replace(/"version":\d+/, '"version":99'));
    for (const mode of ['--check', '--apply']) {
      const { code, out, err } = await migrate(home, mode);
      expect(code).to.equal(5);
      expect(out).to.include('it was written by version 99, and this program has');
      expect(err).to.include('Nothing was changed');
    }
    expect(await stat(join(home, 'before-migration')).catch(() => 'absent')).to.equal('absent');
  });

  it('goes back only while nothing was committed; a running gateway is rehearsed, not migrated', async () => {
    const home = troupe.home('fresh');
    const gateway = await troupe.start(home);
    expect((await migrate(home, '--check')).out).to.match(/^home +1 +nothing +0/m);
    expect((await migrate(home, '--apply')).err).to.include('Stop it first');
    expect((await readdir(troupe.folder)).filter((name) => name.includes('rehearsal'))).to.deep.equal([]);
    await gateway.kill('SIGTERM');
    expect((await migrate(home, '--apply')).code).to.equal(0);
    const again = await troupe.start(home);
    await troupe.run('items', 'add', 'water the ferns', '--home', home);
    await again.kill('SIGTERM');
    const { code, err } = await migrate(home, '--undo');
    expect([code, /\d+ events were committed, which going back would lose/.test(err)]).to.deep.equal([
      6,
      true,
    ]);
  });

  it('does not start an older version on a home of a newer one, and says which can read it', async () => {
    const home = troupe.home('newer');
    await (await troupe.start(home)).kill('SIGTERM');
    await write(home, keys.meta('home/written-by'), '{"troupe":"9.9.9","kinds":{"session":99}}');
    const { code, err } = await troupe.run('start', '--home', home, '--port', '0');
    expect(code).to.equal(5);
    expect(err).to.match(
      /Troupe 9\.9\.9 has written this home in newer versions of session \(99, here \d+\)/,
    );
  });
});

async function recordsOf(home: string): Promise<Records> {
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
  try {
    return new Map(await store.page({ ...prefix('a/'), limit: 1_000 }));
  } finally {
    await store.close();
  }
}

async function writtenBy(home: string): Promise<string | undefined> {
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
  const row = await store.get(keys.meta('home/written-by'));
  await store.close();
  return row;
}

async function migrateAll(home: string): Promise<void> {
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
  await migrateRecords(store, builtInKinds(), { now: Date.now });
  await store.close();
}

async function write(home: string, key: string, value: string | null): Promise<void> {
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
  const { seq, chain } = store.head;
  await store.write({ first: seq + 1, last: seq, chain, ops: [[key, value]] });
  await store.close();
}

const versionsIn = (records: Records): readonly number[] =>
  [...records.values()].map((text) => (JSON.parse(text) as { version: number }).version);
const versionsOfThisBuild = (names: readonly string[]): readonly (number | undefined)[] =>
  names.map((name) => builtInKinds().find(({ kind }) => name.startsWith(`a/${kind}/`))?.version);

const sameAs = (found: Records, known: Readonly<Record<string, Records>>): string =>
  Object.entries(known).find(
    ([, records]) =>
      records.size === found.size && [...records].every(([key, text]) => found.get(key) === text),
  )?.[0] ?? 'a mixture';

async function hashesOf(home: string): Promise<Readonly<Record<string, string>>> {
  const found = await readdir(home, { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, contentHash(await readFile(path))] as const)),
  );
}

/** A real process that undoes or migrates, and is killed before its step of that number. */
async function killedAt(
  what: 'undo' | 'apply',
  home: string,
  step: number,
  copy = '',
): Promise<'killed' | 'ended'> {
  const program = fileURLToPath(new URL('./migrate-killed.js', import.meta.url));
  const child = spawn(process.execPath, [program, what, home, String(step), copy], { stdio: 'inherit' });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal === 'SIGKILL') return 'killed';
  expect(code).to.equal(0);
  return 'ended';
}
