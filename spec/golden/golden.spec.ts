import { expect } from 'chai';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { comparable } from './comparable.js';
import { startPostgres } from '../helpers/postgres-server.js';
import { startInstance, troupe, until, type Instance } from './instance.js';
import { expectationsOf, homesFolder } from './keep.js';
import { openGolden, type Golden } from './open.js';
import { census, quiet } from './quiet.js';
import { readEverything, type Reading } from './reading.js';
import { goOn } from './go-on.js';
import { censusOf01, differences, newKinds, readingOf01 } from './since.js';

/**
 * A message that was on its way fails or is sent when its gateway comes back: 0.1 may try it before its connector is
 * open again. Either is an end, and which one is a matter of milliseconds.
 */
// How often the link of a connector was opened again is a matter of its far side and of time, not of the home; and so
// is how often evidence that cannot be written was tried again, which happens each minute, and how often a decision was
// that became due while the home was closed: a gateway that still opens refuses it for a moment.
const isRace = (address: string): boolean =>
  /\/connectors?\/sending\b|^\/api\/inspect\/(?:fleet$|actors\?kind=(?:connector|held-decision)|actors\/(?:connector|held-decision)\/)/.test(
    address,
  ) || address.startsWith('/api/inspect/actors/workflow/unwritable');

const homeNames = [
  '0.1.0-clean',
  '0.1.0-killed',
  '0.1.0-57409ce-killed',
  '0.1.0-b360bf38-killed',
  '0.1.0-917ac5fd-killed',
  '0.1.0-dec4a7b7-killed',
];

/**
 * Homes of earlier builds, each opened by this one: nothing of what they hold may be lost, change its meaning or
 * stop working. README.md tells how to add one.
 */
const readingsMax = 4;

describe('golden homes', function () {
  this.timeout(300_000);
  let folder: string;
  let golden: Golden | undefined;
  const open = async (name: string, afterMs?: number): Promise<Golden> => {
    const { at } = await expectationsOf(name);
    golden = await openGolden(await readFile(join(homesFolder, `${name}.home.br`)), folder, at, afterMs);
    return golden;
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-golden-'));
  });
  afterEach(async () => {
    await golden?.close();
    golden = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  it('are all opened here', async () => {
    const files = homeNames.flatMap((name) => [`${name}.expected.br`, `${name}.home.br`]);
    expect((await readdir(homesFolder)).sort()).to.deep.equal(files.sort());
  });

  for (const name of homeNames) {
    it(`${name} shows what the build which made it showed, goes on, and keeps that over a restart`, async () => {
      let readings = 0;
      const expected = await expectationsOf(name);
      const { instance, marks, home, reopen } = await open(name);
      const wanted = censusOf01(expected.census);
      await until(
        async () => censusOf01(await census(instance.operator)),
        (seen) => isDeepStrictEqual(seen, wanted),
        `the census to be ${JSON.stringify(wanted)}`,
      );
      const added = newKinds(expected.reading);
      const shown = readingOf01(expected.reading, added);
      // A connector goes on opening after the census is as it was: what is read may be a moment early.
      const apart = await until(
        async () => {
          const reading = readingOf01(comparable(await readEverything(instance.operator), marks), added);
          expect(Object.keys(reading)).to.have.members(Object.keys(shown));
          const found = Object.entries(shown).flatMap(([address, answer]) =>
            isRace(address) ? [] : differences(answer, reading[address], address),
          );
          readings += 1;
          return found;
        },
        (found) => found.length === 0 || readings >= readingsMax,
        'the same answers',
      );
      expect(apart).to.deep.equal([]);
      const done = await goOn(instance.operator);
      await done.check(instance.operator);
      const again = await reopen(60_000);
      await done.check(again.operator);
      await again.stop();
      await troupe(home, 'verify');
      await troupe(home, 'audit', 'verify');
    });

    it(`${name} opens after ten years, and settles what is overdue`, async () => {
      const expected = await expectationsOf(name);
      const { instance, home } = await open(name, 10 * 365 * 86_400_000);
      const found = await census(instance.operator);
      // What was to run for ever, or until 2199, is as it was
      for (const lasting of [
        'session waiting',
        'session deleted',
        'workflow-run running',
        'workflow-run parked',
        'work-item approval.pending',
        'schedule scheduled',
        'poll pending',
        'trigger active',
        'file stored',
      ])
        expect(found[lasting], lasting).to.equal(expected.census[lasting]);
      // A code was good for five minutes; missed runs were caught up or recorded as missed, as each job says
      expect(found).to.not.have.property('pairing-code valid');
      expect(found['cron-fire ended']).to.be.above(expected.census['cron-fire ended'] ?? 0);
      await goOn(instance.operator);
      await instance.stop();
      await troupe(home, 'verify');
    });
  }

  // No spec read a whole home from PostgreSQL: there no list had a second page, and no workflow could be started.
  it('the newest shows from PostgreSQL what it showed, goes on there, and comes back with all of it', async () => {
    const { instance, marks, home } = await open(homeNames.at(-1)!);
    const server = await startPostgres();
    try {
      const read = async ({ operator }: Instance): Promise<Reading> =>
        comparable(await readEverything(operator), marks);
      const shown = await read(instance);
      await instance.kill();
      const done: Awaited<ReturnType<typeof goOn>>[] = [];
      for (const store of [`${await server.newDatabase()}?home=golden`, 'level']) {
        const settings = join(home, 'config.yaml');
        await troupe(home, 'home', 'move', '--to', store);
        const text = await readFile(settings, 'utf8');
        await writeFile(settings, `store: ${store}\n${text.replace(/^store: .*\n/, '')}`);
        const moved = await startInstance(home, marks.at + 2_000);
        try {
          await quiet(moved.operator, ['poll active.checking']);
          if (done.length === 0) {
            const reading = await read(moved);
            const apart = Object.entries(shown).flatMap(([address, answer]) =>
              // Whose link was opened again has a younger revision; the rest tells of the process
              isRace(address) || address === '/api/inspect/supervision'
                ? []
                : differences(answer, reading[address], address),
            );
            expect(apart).to.deep.equal([]);
            done.push(await goOn(moved.operator));
          }
          for (const each of done) await each.check(moved.operator);
          await moved.stop();
        } finally {
          await moved.kill();
        }
        await troupe(home, 'verify');
      }
    } finally {
      await server.stop();
    }
  });
});
