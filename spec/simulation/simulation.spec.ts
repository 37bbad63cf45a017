import { expect } from 'chai';
import fc from 'fast-check';
import { audit } from './audit.js';
import { run, type Command, type Fate, type Life } from './run.js';

/**
 * Random lives of a small town on a store that dies or fails at any write, held against a plain model: nothing
 * acknowledged is lost, nothing is doubled, no commit is half there. `SIMULATION_RUNS=5000` runs more of them.
 */
const runs = Number(process.env['SIMULATION_RUNS'] ?? 120);
const minutes = 60_000;

const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('add', 'forward', 'later', 'order', 'forge', 'hatch', 'move', 'number'), who: fc.nat(1), whom: fc.nat(1) }) as fc.Arbitrary<Command> },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 1, 120, 350, 900) }) },
);
const fates: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kill: fc.integer({ min: 1, max: 30 }), when: fc.constantFrom('before' as const, 'after' as const) }) },
  { weight: 2, arbitrary: fc.record({ refuse: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.constant('stop' as const) },
);
const lives: fc.Arbitrary<Life[]> = fc.array(fc.record({ commands: fc.array(commands, { maxLength: 14 }), fate: fates }), { minLength: 1, maxLength: 5 });

const everything: readonly Command[] = [
  { do: 'add', who: 0, whom: 0 }, { do: 'forward', who: 0, whom: 1 }, { do: 'pass', ms: 1 }, { do: 'order', who: 0, whom: 0 }, { do: 'forge', who: 1, whom: 0 },
  { do: 'later', who: 0, whom: 1 }, { do: 'hatch', who: 0, whom: 0 }, { do: 'pass', ms: 120 }, { do: 'move', who: 0, whom: 1 }, { do: 'order', who: 0, whom: 0 },
  { do: 'number', who: 0, whom: 0 }, { do: 'pass', ms: 350 }, { do: 'move', who: 1, whom: 1 }, { do: 'forward', who: 1, whom: 1 }, { do: 'pass', ms: 2_000 }, { do: 'number', who: 0, whom: 0 },
];

describe('the simulation', () => {
  it('does everything when nothing fails', async () => {
    const outcome = await run([{ commands: everything, fate: 'stop' }]);
    await audit(outcome);
    expect(outcome.deeds.filter(({ knowledge }) => knowledge !== 'acknowledged')).to.deep.equal([]);
    expect(outcome.acts.size).to.equal(3);
  });

  it('loses and doubles nothing, whichever write the process dies at', async function () {
    this.timeout(minutes);
    const { writes } = await run([{ commands: everything, fate: 'stop' }]);
    expect(writes).to.be.greaterThan(20);
    for (let kill = 1; kill <= writes; kill += 1) {
      for (const when of ['before', 'after'] as const) await fails({ kill, when });
    }
  });

  it('loses and doubles nothing, whichever write fails', async function () {
    this.timeout(minutes);
    const { writes } = await run([{ commands: everything, fate: 'stop' }]);
    for (let refuse = 1; refuse <= writes; refuse += 1) await fails({ refuse });
  });

  it(`loses and doubles nothing in ${runs} random histories of several lives`, async function () {
    this.timeout(minutes * Math.max(1, runs / 100));
    await fc.assert(fc.asyncProperty(lives, async (history) => audit(await run(history))), { numRuns: runs, ...seedOf(process.env['SIMULATION_SEED']) });
  });

  it('would notice a deed that is lost, doubled, half done or refused and yet there', async () => {
    const outcome = await run([{ commands: everything, fate: 'stop' }]);
    const forged = (change: (view: Record<string, string[]>) => void) => {
      const views = new Map([...outcome.views].map(([key, view]) => [key, structuredClone(view)]));
      change(views.get('book/h0') as Record<string, string[]>);
      return audit({ ...outcome, views }).then(() => 'unnoticed', (error: Error) => error.message);
    };
    expect(await forged((book) => { book['deeds'] = book['deeds']!.filter((id) => id !== 'add0'); })).to.match(/add0 was acknowledged and is lost/);
    expect(await forged((book) => { book['deeds']!.push('add0'); })).to.match(/add0 was done 2 times/);
    expect(await forged((book) => { book['deeds'] = book['deeds']!.filter((id) => !id.startsWith('mail:')); })).to.match(/mail:/);
    outcome.deeds[0]!.knowledge = 'refused';
    expect(await forged(() => undefined)).to.match(/add0 was refused and is there/);
  });
});

async function fails(fate: Fate): Promise<void> {
  try {
    await audit(await run([{ commands: everything, fate }]));
  } catch (error) {
    throw new Error(`${JSON.stringify(fate)}: ${(error as Error).message}`, { cause: error });
  }
}

const seedOf = (seed: string | undefined): { seed?: number } => seed === undefined ? {} : { seed: Number(seed) };
