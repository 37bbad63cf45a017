import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InstalledPackage } from '../helpers/installed.js';
import { root } from '../house/sources.js';

/**
 * Programs of a host against the packed package. A line under `@ts-expect-error` must not compile, every other
 * one must: twelve of thirteen mistakes like these compiled before, and two of them wrote nonsense durably.
 * Our declarations are part of these programs: theirs may check them, and have no types but ours.
 */
describe('the types of the packed package', () => {
  const folder = join(root, 'spec/types/programs');
  const programs: Record<string, string> = {};
  let entries: Record<string, string>;
  let project: InstalledPackage;
  before(async () => {
    for (const name of await readdir(folder)) programs[name] = await readFile(join(folder, name), 'utf8');
    entries = await everyEntry();
    project = await InstalledPackage.create();
  });
  after(() => project.clear());

  const compilers = {
    'TypeScript 7': 'node_modules/typescript',
    'TypeScript 5.9': 'generators/node_modules/typescript',
  };
  const whole = {
    noEmit: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: false, // XState's own declarations do not hold under it
  };
  // Programs and entries at once: what takes the time are the declarations of the libraries, which both need checked
  for (const [name, compiler] of Object.entries(compilers))
    for (const [module, moduleResolution] of [
      ['node16', 'node16'],
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ])
      it(`carry from the definition to the call, libraries checked: ${name}, ${moduleResolution}`, async () => {
        const { 'xstate6.ts': _, ...others } = programs;
        const options = { compiler, module, moduleResolution, ...whole };
        expect(await project.compile({ ...others, ...entries }, options)).to.equal('');
      }).timeout(300_000);

  // 5.33 gave its types a parameter that ours name: a range that began below would compile for no host of it
  it('compile with the lowest XState that a host may bring', async () => {
    await project.link('xstate-lowest', 'xstate');
    try {
      expect(await project.compile(entries, whole)).to.equal('');
    } finally {
      await project.link('xstate');
    }
  });

  // The alpha's own declarations do not hold: they are not checked. From here on it is in the project
  for (const [name, compiler] of Object.entries(compilers))
    it(`carry from a machine of XState 6: ${name}`, async () => {
      await project.link('xstate6');
      const { 'xstate6.ts': six = '' } = programs;
      expect(await project.compile({ 'xstate6.ts': six }, { compiler, noEmit: true })).to.equal('');
    }).timeout(300_000);

  // Once, and without checking the libraries' own declarations, which takes the older compiler minutes
  it('take the types of events from what zod, valibot and arktype infer', async () => {
    for (const library of ['arktype', 'valibot']) await project.link(library);
    const program = await readFile(join(root, 'spec/types/libraries/schemas.ts'), 'utf8');
    expect(await project.compile({ 'schemas.ts': program }, { noEmit: true })).to.equal('');
  });

  it('complain in words of the host, not in the type of a whole machine', async () => {
    await project.link('xstate6');
    const bare = Object.entries(programs).map(([name, text]) => [
      name,
      text.replaceAll('@ts-expect-error', ''),
    ]);
    const said = await project.compile(Object.fromEntries(bare), { noEmit: true });
    const messages = said.split('\n').filter((line) => / error TS\d+: /.test(line));
    expect(messages.length, 'marked lines').to.equal(
      Object.values(programs).join('').split('@ts-expect-error').length - 1,
    );
    for (const message of [
      `Argument of type '"countr"' is not assignable to parameter of type '"counter"'.`,
      `Type '"ad"' is not assignable to type '"add" | "reset"'.`,
      `'strt' does not exist in type '{ start: number; }'.`,
      `but required in type '{ readonly input: { start: number; }; }'`,
      `Property 'totl' does not exist on type '{ state: "open"; total: number; }'.`,
      `Argument of type '"wlak"' is not assignable to parameter of type '"walk"'.`,
      "but required in type '{ readonly effects: { readonly probe: Effect<{ url: string; }, Probe, ",
      `Argument of type 'Date' is not assignable to parameter of type 'null'.`,
      `Argument of type '"probs"' is not assignable to parameter of type '"probes"'.`,
      `Type '"retri"' is not assignable to type '"retry"'.`,
      `'rings' does not exist in type `,
      `Type 'Promise<LevelStore>' is missing the following properties from type 'Store'`,
      `Type 'boolean' is not assignable to type 'Refusal<`,
      `Did you mean to write 'policy'?`,
      `Argument of type '"/api/session"' is not assignable to parameter of type '"/api/search/messages" | `,
      `not assignable to parameter of type '"no such path: the guide to the HTTP API lists them"'`,
      `not assignable to parameter of type '"/api/status has no post: it has get"'`,
      `Type 'Date' is not assignable to type '"a view answers JSON: no Date, Map, Set, bigint, function or promise"'`,
      `is not assignable to type '"a view answers JSON: null in place of undefined"'`,
      `Did you mean to write 'timeoutMs'?`,
      `Did you mean to write 'title'?`,
      `Argument of type '"mesages"' is not assignable to parameter of type `,
    ])
      expect(said).to.include(message);
  });
});

/** A program that has all that we declare in it. */
async function everyEntry(): Promise<Record<string, string>> {
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>;
  };
  const entries = Object.keys(exports).filter((name) => !name.endsWith('.json'));
  expect(entries.length).to.be.greaterThan(5);
  const lines = entries.map((name, n) => `export * as entry${n} from '${name.replace('.', 'troupe')}';`);
  return { 'entries.ts': lines.join('\n') };
}
