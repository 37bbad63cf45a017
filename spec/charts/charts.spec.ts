import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect } from 'chai';
import { setup } from 'xstate';
import { catalogue } from './catalogue.js';
import { draw } from './draw.js';
import { nodesOf } from './edges.js';
import { freshReadme, hashOf, pictures, readHashes, readmePath } from './pages.js';

describe('charts', () => {
  it('in machines/README.md are fresh; if not, run `npm run charts` and look at what changed', () => {
    const text = readFileSync(readmePath, 'utf8');
    expect(text === freshReadme(text), 'machines/README.md is stale').to.equal(true);
  });

  it('in machines/charts are fresh pictures of the machines, and none is left of a machine that is gone', () => {
    const fresh = pictures();
    const stale = [...fresh]
      .filter(([file, svg]) => !existsSync(file) || readFileSync(file, 'utf8') !== svg)
      .map(([file]) => basename(file));
    expect(stale, 'run `npm run charts`').to.deep.equal([]);
    expect(readdirSync(dirname([...fresh.keys()][0]!))).to.have.members(
      [...fresh.keys()].map((file) => basename(file)),
    );
  });

  it('show every state, every event and every effect of every machine', () => {
    for (const drawn of catalogue) {
      const chart = draw(drawn).replaceAll('work_item', 'work-item');
      const words = [
        ...nodesOf(drawn.machine.root).map(({ key }) => key),
        ...drawn.machine.events.filter((event) => !event.startsWith('xstate.')),
      ];
      for (const word of words) expect(chart, `${drawn.name} lacks ${word}`).to.include(word);
    }
    expect(draw(catalogue[0]!))
      .to.include('running --> waiting : turn done [rateLimited]')
      .and.include('after untilReset [queueReady]')
      .and.include('does engine-turn');
  });

  for (const drawn of catalogue) {
    it(`of ${drawn.name} have the hash of version ${drawn.version}; a change needs a new version and a migration`, () => {
      const known = readHashes()[drawn.name]?.[String(drawn.version)];
      expect(
        hashOf(drawn),
        [
          `The machine ${drawn.name} is not what version ${drawn.version} was. Stored actors of that version exist somewhere:`,
          `raise \`version\` in actors/${drawn.name}/kind.ts, add \`migrate: {${drawn.version}: …}\`, then run \`npm run charts\`.`,
          'Only if this version was never released: `node dist/spec/charts/write.js --unreleased`.',
        ].join('\n'),
      ).to.equal(known);
    });
  }

  it('hash differently when a state, an event, a guard, an action, a target or an effect differs', () => {
    const small = (changes: object) =>
      hashOf({
        name: 'small',
        version: 1,
        file: 'none',
        machine: setup({
          guards: { no: () => false, yes: () => true },
          actions: { sing: () => undefined },
          delays: { soon: 1, late: 2 },
        }).createMachine({
          initial: 'a',
          states: { a: { on: { go: { target: 'b', guard: 'yes' } } }, b: {} },
          ...changes,
        }),
      });
    const variants = [
      {},
      { initial: 'b' },
      { states: { a: { on: { go: { target: 'b', guard: 'yes' } } }, b: {}, c: {} } },
      { states: { a: { on: { run: { target: 'b', guard: 'yes' } } }, b: {} } },
      { states: { a: { on: { go: { target: 'b', guard: 'no' } } }, b: {} } },
      { states: { a: { on: { go: { target: 'a', guard: 'yes' } } }, b: {} } },
      { states: { a: { on: { go: { target: 'b', guard: 'yes', actions: 'sing' } } }, b: {} } },
      { states: { a: { on: { go: { target: 'b', guard: 'yes' } }, after: { soon: 'b' } }, b: {} } },
      { states: { a: { on: { go: { target: 'b', guard: 'yes' } }, after: { late: 'b' } }, b: {} } },
      { states: { a: { on: { go: { target: 'b', guard: 'yes' } } }, b: { entry: 'sing' } } },
    ].map(small);
    expect(new Set(variants).size).to.equal(variants.length);
    expect(small({})).to.equal(variants[0]);
  });
});
