import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { personOf } from '../../lib/records/roster/employee.js';
import { parseConfig } from '../../lib/home/read-config.js';
import { allGuides, topics } from '../../lib/docs/guides.js';
import { idOf } from '../../lib/docs/page.js';
import { parseDefinition } from '../../machines/graph/read-definition.js';
import { InstalledPackage } from '../helpers/installed.js';
import { root } from '../house/sources.js';
import { freshPage } from './made.js';
import { apiTypes, apiTypesFile } from './openapi-types.js';
import { pages, patternOf, samples, textOf, type Sample } from './samples.js';
import { Shell } from './shell.js';

/**
 * What the README and the guides promise is done here, in their order: documentation that lies is worse than
 * none. How a sample is run stands in its fence, see `samples.ts`.
 */
describe('the README and the guides', () => {
  const used = (language: string, ...uses: readonly string[]): readonly Sample[] =>
    samples.filter((sample) => sample.language === language && uses.includes(sample.use));
  const place = ({ file, line }: Sample): string => `${file}:${line}`;

  it('are one README of at most 150 lines and one guide per topic', () => {
    expect(textOf('README.md').trimEnd().split('\n').length).to.be.at.most(150);
    const files = readdirSync(join(root, 'lib/docs')).filter((name) => name.endsWith('.md'));
    expect(files).to.have.members(topics.map((topic) => `${topic}.md`));
    for (const { name, title, about } of allGuides()) {
      expect(title, name).to.match(/^\S.{2,40}$/);
      expect(about, `${name} says in its first sentence what it is for`).to.match(/^\S[^]{20,300}\.$/);
    }
  });

  it('mark every sample as run or checked, but for those that install', () => {
    const runs = new Set([
      'sh run',
      'sh run again',
      'sh run typed',
      'ts run',
      'yaml config',
      'yaml employee',
      'json definition',
    ]);
    const unmarked = samples
      .filter(({ language, use }) => language !== 'text' && !runs.has(`${language} ${use}`))
      .map(({ file, code }) => `${file}: ${code.trim()}`);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const install = `npm ci && npm pack && npm install --global ./troupe-${version}.tgz\ntroupe start`;
    const project = `mkdir counter && cd counter\nnpm init --yes && npm pkg set type=module\nnpm install ../troupe-${version}.tgz xstate typescript @types/node@20`;
    const counted = 'npx tsc --module nodenext --target es2022 --strict --types node counter.ts';
    const erased = `troupe erase 0199c4de-6d1b-7c3e-a8f0-5f2a1b9c7d11 --dry-run\ntroupe erase --before 2026-01-31\ntroupe erase --person ann`;
    expect(unmarked.map((text) => text.replace(/(counter\.ts)\n[^]*/, '$1'))).to.deep.equal([
      `README.md: ${install}`,
      `getting-started.md: ${install}`,
      `getting-started.md: ${project}`,
      `getting-started.md: ${counted}`,
      'xstate-6.md: npm install xstate@5 xstate6@npm:xstate@6.0.0-alpha.52',
      'testing.md: npx mocha my-store.spec.js',
      // What it names is erased for good; spec/lib/erase.spec.ts runs the command
      `operations.md: ${erased}`,
    ]);
  });

  it('show outputs that say something', () => {
    const empty = samples.filter(({ output }) => output !== undefined && !/[^…\s]/.test(output)).map(place);
    expect(empty).to.deep.equal([]);
  });

  it('point to files and headings that exist', () => {
    const wrong: string[] = [];
    for (const page of pages)
      for (const [, target = ''] of textOf(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        const found =
          existsSync(join(root, file)) &&
          (anchor === undefined ||
            [...textOf(file).matchAll(/^#+ (.+)$/gm)].some(([, heading = '']) => idOf(heading) === anchor));
        if (!found) wrong.push(`${page} → ${target}`);
      }
    expect(wrong).to.deep.equal([]);
  });

  it('have tables and types that are made from the code: npm run docs', async () => {
    const stale: string[] = [];
    for (const page of pages) if ((await freshPage(page)) !== textOf(page)) stale.push(page);
    if ((await apiTypes()) !== textOf(apiTypesFile)) stale.push(apiTypesFile);
    expect(stale, 'run `npm run docs`').to.deep.equal([]);
  });

  it('show settings, employees and workflows that can be used', () => {
    for (const sample of used('yaml', 'config'))
      expect(() => parseConfig(sample.code), place(sample)).not.to.throw();
    for (const sample of used('yaml', 'employee'))
      expect(
        personOf(parseYaml(sample.code), { name: 'ann', department: 'garden' }),
        place(sample),
      ).to.include({
        name: 'ann',
      });
    for (const sample of used('json', 'definition')) {
      const read = parseDefinition(JSON.parse(sample.code));
      expect(read.faults, place(sample)).to.deep.equal([]);
    }
  });

  describe('in the terminal', () => {
    let shell: Shell;
    before(async () => {
      shell = await Shell.create();
    });
    after(() => shell.clear());

    for (const sample of used('sh', 'run', 'run again', 'run typed'))
      it(`${place(sample)} does what it says`, async () => {
        const attemptsMax = sample.use === 'run again' ? 30 : 1;
        let printed = '';
        for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
          printed = await shell.paste(sample.code, sample.use === 'run typed');
          if (sample.output === undefined || patternOf(sample.output).test(printed)) return;
        }
        expect(printed).to.match(patternOf(sample.output ?? ''));
      });
  });

  // Packed and installed, in the TypeScript that it is written in: what ran as JavaScript within the package
  // once did not compile for its users.
  describe('in a program', () => {
    let project: InstalledPackage;
    const programs = used('ts', 'run');
    const nameOf = (sample: Sample): string =>
      `${sample.file.replace('.md', '').toLowerCase()}-${sample.line}`;
    before(async () => {
      project = await InstalledPackage.create();
      await project.link('xstate6'); // the copy of a host that drives machines of XState 6
    });
    after(() => project.clear());

    it('compile strictly', async () => {
      expect(
        await project.compile(Object.fromEntries(programs.map((each) => [`${nameOf(each)}.ts`, each.code]))),
      ).to.equal('');
    });

    for (const sample of programs)
      it(`${place(sample)} prints what it says`, async () => {
        const { code, said } = await project.run(`${nameOf(sample)}.js`);
        expect(code, said).to.equal(0);
        expect(said).to.match(patternOf(sample.output ?? ''));
      });
  });
});
