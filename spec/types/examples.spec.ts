import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseConfig } from '../../lib/home/read-config.js';
import {
  docstringExamples,
  entriesOfNames,
  moduleOf,
  type DocstringExample,
} from '../docs/docstring-examples.js';
import { InstalledPackage } from '../helpers/installed.js';
import { root } from '../house/sources.js';

/**
 * An editor shows an example where it is needed, and people copy it: one that does not compile is worse than none.
 * What it takes for granted (a supervisor, a machine …) stands in `examples/scene.ts`.
 */
describe('the examples of docstrings', () => {
  let project: InstalledPackage;
  let homes: Map<string, string>;
  let examples: readonly DocstringExample[];
  let scene: string;
  before(async () => {
    homes = new Map(await entriesOfNames());
    examples = docstringExamples(homes);
    scene = await readFile(join(root, 'spec/types/examples/scene.ts'), 'utf8');
    for (const [, name = ''] of scene.matchAll(/^export (?:declare )?(?:const|function) (\w+)/gm))
      homes.set(name, './scene.js');
    for (const [name, home] of Object.entries(elsewhere)) homes.set(name, home);
    project = await InstalledPackage.create();
    await project.link('xstate6'); // of a host that drives machines of XState 6
  });
  after(() => project.clear());

  it('compile strictly against the packed package, all in one program', async () => {
    const programs = examples.filter(({ isConfig }) => !isConfig);
    expect(programs.length).to.be.greaterThan(90);
    expect(await compiled(programs)).to.equal('');
  }).timeout(300_000);

  it('of config.yaml are settings that can be used', () => {
    const settings = examples.filter(({ isConfig }) => isConfig);
    expect(settings.length).to.be.greaterThan(4);
    for (const { place, code } of settings) expect(() => parseConfig(code), place).not.to.throw();
  });

  it('are named where they do not compile', async () => {
    const wrong = {
      place: 'here:1',
      code: "supervisor.ask('counter', 'c1', { type: 'ad' });",
      isConfig: false,
    };
    expect(await compiled([wrong])).to.match(/^here:1 .*Type '"ad"' is not assignable to type '"add"'/);
  });

  async function compiled(programs: readonly DocstringExample[]): Promise<string> {
    const named = programs.map(({ code }, index) => [`example-${index}.ts`, moduleOf(code, homes)] as const);
    const said = await project.compile(
      { 'scene.ts': scene, ...Object.fromEntries(named) },
      // XState's own declarations do not bear exactOptionalPropertyTypes
      { noEmit: true, exactOptionalPropertyTypes: false, verbatimModuleSyntax: false },
    );
    return said.replace(/example-(\d+)\.ts/g, (_, index) => `${programs[Number(index)]?.place} `);
  }
});

/** What hosts import from others. */
const elsewhere = {
  assign: 'xstate',
  emit: 'xstate',
  setup: 'xstate',
  SnapshotFrom: 'xstate',
  z: 'zod',
  pino: 'pino',
  createServer: 'node:http',
} as const;
