import { expect } from 'chai';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { Troupe, type Ran } from './troupe.js';

interface Report {
  readonly applied: boolean;
  readonly sha256: string;
  readonly error?: string;
  readonly entries: readonly { readonly name: string; readonly change: string; readonly diff: string[] }[];
}

/** Templates, export and import, from the command line to a real gateway and back: one home gives, another takes. */
describe('troupe template, export and import', function () {
  this.timeout(60_000);
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
    await Promise.all([troupe.start(), troupe.start(troupe.home('second'))]);
  });
  after(() => troupe.clear());
  const at = (home: string, ...words: string[]): Promise<Ran> =>
    troupe.run(...words, '--home', troupe.home(home));
  const call = async <Body>(home: string, path: string, body?: object): Promise<Body> => {
    const { url, token } = await troupe.announcement(troupe.home(home));
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(new URL(path, url), { headers, ...post })).json() as Promise<Body>;
  };
  const take = (home: string, bundle: object | string, options: object = { apply: true }): Promise<Report> =>
    call(home, '/api/import', {
      bundle: typeof bundle === 'string' ? bundle : JSON.stringify(bundle),
      ...options,
    });
  const company = async (home: string): Promise<string> =>
    (await call<{ bundle: string }>(home, '/api/export?what=company')).bundle;

  it('adds each team whole, and changes nothing when it is added again', async () => {
    const { templates } = await call<{ templates: { name: string }[] }>('home', '/api/templates');
    expect(templates.length).to.equal(3);
    for (const { name } of templates) {
      const add = (options: object) => call<Report>('home', `/api/templates/${name}`, options);
      const kinds = ({ entries }: Report) => [...new Set(entries.map(({ change }) => change))];
      const preview = await add({});
      expect([preview.applied, kinds(preview)]).to.deep.equal([false, ['create']]);
      expect((await add({ apply: true, sha256: preview.sha256 })).applied).to.equal(true);
      expect(kinds(await add({ apply: true })), name).to.deep.equal(['same']);
    }
    expect((await at('home', 'template', 'list')).out).to.match(
      /software-team +lead|software-team +developer/,
    );
  });

  it('refuses to overwrite what was edited here, shows the lines, and does it with --replace', async () => {
    const file = join(troupe.home(), 'org', 'software', 'reviewer.yaml');
    const before = await readFile(file, 'utf8');
    await writeFile(file, before.replace('rank: senior', 'rank: manager'));
    const refused = await at('home', 'template', 'add', 'software-team');
    expect(refused.err).to.match(/different: org\/software\/reviewer\.yaml\. Nothing was imported/);
    const { out } = await at('home', 'template', 'add', 'software-team', '--dry-run');
    expect(out).to.include('    -rank: manager\n    +rank: senior\n');
    expect((await at('home', 'template', 'add', 'software-team', '--replace')).code).to.equal(0);
    expect(await readFile(file, 'utf8')).to.equal(before);
  });

  it('carries a company to another home: a preview writes nothing, and the exports of both are the same', async () => {
    const file = join(troupe.folder, 'acme.yaml');
    expect((await at('home', 'export', 'company', '--to', file)).code).to.equal(0);
    expect((await at('home', 'export', 'company', '--to', file)).err).to.include('Nothing is overwritten');
    const empty = await company('second');
    const preview = await at('second', 'import', file);
    expect(preview.err).to.equal('');
    expect(preview.out).to.include('Nothing was changed.');
    expect(await company('second')).to.equal(empty);
    expect((await at('second', 'import', file, '--apply')).code).to.equal(0);
    expect(await company('second')).to.equal(await readFile(file, 'utf8'));
  });

  it('does what was previewed, or nothing', async () => {
    const bundle = { troupe: 1, title: 'One', files: { 'knowledge/one.md': 'one\n' } };
    const { sha256 } = await take('second', bundle, {});
    await mkdir(join(troupe.home('second'), 'knowledge'), { recursive: true });
    await writeFile(join(troupe.home('second'), 'knowledge', 'one.md'), 'two\n');
    const refused = await take('second', bundle, { apply: true, replace: true, sha256 });
    expect(refused.error).to.match(/something else by now/);
  });

  it('exports one employee and one workflow without keys', async () => {
    const secret = `sk-${'a1'.repeat(20)}`;
    await writeFile(
      join(troupe.home(), 'org', 'software', 'lead.yaml'),
      `rank: manager\npersona: Plans.\ncliFlags: ["--api-key=${'z9'.repeat(12)}"]\n# ${secret}\n`,
    );
    const { out, err } = await at('home', 'export', 'employee', 'lead');
    expect(out).to.include('persona: Plans.').and.not.include(secret).and.not.include('z9z9');
    expect(err).to.equal('2 values of the form of a key were replaced by [secret].\n');
    expect((await at('home', 'export', 'workflow', 'change')).out).to.match(
      /workflows:\n {2}- schemaVersion: 1\n {4}id: change/,
    );
    expect((await at('home', 'export', 'employee', 'nadine')).err).to.include(
      'There is no employee "nadine"',
    );
  });

  it('carries a work item to another home under a new id, without keys, and twice is once', async () => {
    const secret = `sk-${'b2'.repeat(20)}`;
    const words = { title: 'Water the ferns', body: `With ${secret}`, labels: ['garden'] };
    const made = await call<{ workItem: { id: string } }>('home', '/api/work-items', words);
    const { id } = made.workItem;
    const file = join(troupe.folder, 'item.yaml');
    expect((await at('home', 'export', 'item', id, '--to', file)).err).to.include(
      '1 values of the form of a key',
    );
    expect(await readFile(file, 'utf8'))
      .to.include('Water the ferns')
      .and.not.include(secret);
    await call('second', '/api/work-items', { title: 'Another under this id' });
    const items = async (): Promise<readonly { id: string; title: string }[]> =>
      (await call<{ workItems: { id: string; title: string }[] }>('second', '/api/work-items')).workItems;
    const before = await items();
    const preview = await at('second', 'import', file);
    expect(preview.out).to.match(/new +work item TRP-\d+ \(under a new id\)\n[^]*Water the ferns/);
    expect(await items()).to.deep.equal(before);
    await at('second', 'import', file, '--apply');
    await at('second', 'import', file, '--apply');
    const now = await items();
    expect(now).to.have.length(before.length + 1);
    const here = now.find(({ title }) => title === words.title)?.id;
    expect((await at('second', 'import', file)).out).to.include(`(here ${here}; stays as it is`);
    expect((await at('home', 'import', file, '--apply')).out, 'it never left').to.include(
      `the same  work item ${id} (stays as it is here)\n`,
    );
    expect((await at('home', 'export', 'item', 'TRP-999')).err).to.include('There is no work item TRP-999');
    // Judged by what is here, both of them would be made
    const bundle = parse(await readFile(file, 'utf8')) as { items: object[] };
    const fern = { ...bundle.items[0], id: 'TRP-4711' };
    await writeFile(file, stringify({ ...bundle, items: [fern, fern] }));
    expect((await at('second', 'import', file, '--apply')).err).to.include('TRP-4711 (under a new id) twice');
    expect(await items()).to.deep.equal(now);
  });

  const person = 'rank: employee\n';
  const refused: Readonly<Record<string, readonly [object, RegExp]>> = {
    'a path out of the home': [{ files: { 'org/../../x.yaml': person } }, /cannot be imported/],
    'a file that configures': [{ files: { 'config.yaml': 'gateway:\n  port: 1\n' } }, /cannot be imported/],
    'a program': [{ files: { 'skills/x/run.sh': 'rm -rf /' } }, /cannot be imported/],
    'a text below a text of the bundle': [
      { files: { 'knowledge/new.md': 'a', 'knowledge/new.md/b.md': 'b' } },
      /knowledge\/new.md cannot be a file and a folder/,
    ],
    'a text below a text of the home': [
      { files: { 'knowledge/new.md': 'a', 'knowledge/one.md/b.md': 'b' } },
      /knowledge\/one.md lies below a file/,
    ],
    'an employee that cannot be used': [{ files: { 'org/a/b.yaml': 'rank: boss\n' } }, /invalid rank/],
    'an employee of a name that another has': [
      { files: { 'org/a/editor.yaml': person } },
      /the name editor is taken in research/,
    ],
    'an employee whose name differs from another in large letters only': [
      { files: { 'org/a/Editor.yaml': person } },
      /the name editor is taken in research/,
    ],
    'two whose names differ in large letters only': [
      { files: { 'org/a/c.yaml': person, 'org/a/C.yaml': person } },
      /C is in this bundle twice|c is in this bundle twice/,
    ],
    'an unknown superior': [{ files: { 'org/a/b.yaml': 'reportsTo: ghost\n' } }, /reports to ghost/],
    'two that report to each other': [
      { files: { 'org/a/b.yaml': 'reportsTo: c\n', 'org/a/c.yaml': 'reportsTo: b\n' } },
      /would report to itself/,
    ],
    'an unknown engine': [{ files: { 'org/a/b.yaml': 'engine: abacus\n' } }, /abacus/],
    'a workflow with a fault': [
      {
        files: { 'org/a/b.yaml': person },
        workflows: [{ id: 'x', title: 'X', nodes: [{ id: 'a', type: 'odd' }] }],
      },
      /workflow x is unusable/,
    ],
    'a bundle of tomorrow': [{ troupe: 2 }, /newer version of Troupe/],
  };
  for (const [what, [bundle, sentence]] of Object.entries(refused))
    it(`refuses ${what}, and writes nothing`, async () => {
      const before = await company('second');
      expect((await take('second', { troupe: 1, title: 'Bad', ...bundle })).error).to.match(sentence);
      expect(await company('second')).to.equal(before);
    });

  it('follows no link out of the home', async () => {
    const outside = join(troupe.folder, 'outside');
    await mkdir(outside);
    await symlink(outside, join(troupe.home('second'), 'org', 'linked'));
    const bundle = { troupe: 1, title: 'Link', files: { 'org/linked/b.yaml': person } };
    expect((await take('second', bundle)).error).to.match(/leads out of the home|is a link/);
    expect(await readFile(join(outside, 'b.yaml'), 'utf8').catch(() => 'absent')).to.equal('absent');
    await rm(join(troupe.home('second'), 'org', 'linked'));
  });
});
