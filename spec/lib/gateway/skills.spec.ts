import { expect } from 'chai';
import { access, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openOffice, type Office } from '../records/office.js';
import { poll } from './fixture.js';

const skill = (name: string, description = 'Brews tea.', more = '') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n${more}`;

describe('/api/skills', () => {
  let office: Office;
  beforeEach(async () => {
    office = await openOffice({
      'skills/tea/SKILL.md': skill('tea'),
      'skills/tea/notes/more.md': 'more',
      'skills/ink/SKILL.md': skill('ink', '"Fills pens: all of them"'),
    });
  });
  afterEach(() => office.close());
  const put = (name: string, content: unknown) =>
    office.operator.call('PUT', `/api/skills/${name}`, { content });
  const tea = () => join(office.layout.skills, 'tea', 'SKILL.md');

  it('lists names and descriptions, and reads one', async () => {
    expect((await office.operator.get('/api/skills')).body).to.deep.equal([
      { name: 'ink', description: 'Fills pens: all of them' },
      { name: 'tea', description: 'Brews tea.' },
    ]);
    expect((await office.operator.get('/api/skills/tea')).body).to.deep.equal({
      name: 'tea',
      content: skill('tea'),
    });
    expect((await office.operator.get('/api/skills/none')).status).to.equal(404);
  });

  it('lists a skill whose frontmatter cannot be read without a description, and runs nothing in it', async () => {
    await office.put('skills/odd/SKILL.md', '---js\n{ name: process.exit(1) }\n---\n');
    await office.put(
      'skills/tag/SKILL.md',
      '---\nname: !!js/function "function () {}"\ndescription: x\n---\n',
    );
    await office.put(
      'skills/bomb/SKILL.md',
      `---\na: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map((name, place) => `${name}: &${name} [${`*${'abcdefg'[place]},`.repeat(9)}]`)
        .join('\n')}\nname: bomb\ndescription: x\n---\n`,
    );
    await office.put('skills/no-file/other.md', 'x');
    const { body } = await office.operator.get('/api/skills');
    expect(body.map(({ name }: { name: string }) => name)).to.deep.equal([
      'bomb',
      'ink',
      'odd',
      'tag',
      'tea',
    ]);
    expect(
      body.filter((row: object) => 'description' in row).map(({ name }: { name: string }) => name),
    ).to.deep.equal(['ink', 'tea']);
  });

  it('lets agents read and not write', async () => {
    const agent = await office.agent();
    expect((await agent.get('/api/skills')).status).to.equal(200);
    expect((await agent.get('/api/skills/tea')).status).to.equal(200);
    expect((await agent.call('PUT', '/api/skills/tea', { content: skill('tea') })).status).to.equal(403);
    expect((await agent.call('DELETE', '/api/skills/tea')).status).to.equal(403);
    expect((await office.client().get('/api/skills')).status).to.equal(401);
  });

  it('replaces one that exists, and tells watchers', async () => {
    const socket = await office.socket();
    const content = skill('tea', 'Brews better tea.');
    const { status, body } = await put('tea', content);
    expect([status, body]).to.deep.equal([200, { status: 'updated', name: 'tea', content }]);
    expect(await readFile(tea(), 'utf8')).to.equal(content);
    expect((await socket.until(({ event }) => event === 'skills:updated')).payload).to.deep.equal({
      name: 'tea',
    });
    await socket.until(({ event }) => event === 'skills:changed');
    expect((await office.operator.get('/api/skills')).body[1].description).to.equal('Brews better tea.');
  });

  it('creates none: an absent skill is 404, whatever the text calls itself', async () => {
    for (const name of [
      'none',
      'Tea',
      '..',
      '%2e%2e',
      '..%2Forg',
      'tea%2Fnotes',
      '__proto__',
      '.hidden',
      'a%00b',
    ]) {
      const answer = await put(name, skill('other'));
      expect(answer.status, name).to.equal(404);
    }
    expect((await readdir(office.layout.skills)).sort()).to.deep.equal(['ink', 'tea']);
  });

  const refused: Record<string, [unknown, string, number]> = {
    'a text without frontmatter': ['# Tea', 'must start with YAML frontmatter', 400],
    'frontmatter that does not end': [
      '---\nname: tea\ndescription: x\n',
      'must start with YAML frontmatter',
      400,
    ],
    'frontmatter in another language': [
      '---js\n{name: "tea", description: "x"}\n---\n',
      'must start with YAML frontmatter',
      400,
    ],
    'another name': [skill('coffee'), 'name must match skill directory "tea"', 400],
    'no name': ['---\ndescription: x\n---\n', 'name must match skill directory "tea"', 400],
    'no description': ['---\nname: tea\n---\n', 'requires a non-empty description', 400],
    'a blank description': [
      '---\nname: tea\ndescription: "  "\n---\n',
      'requires a non-empty description',
      400,
    ],
    'a description that is no text': ['---\nname: tea\ndescription: [x]\n---\n', 'description', 400],
    'torn YAML': ['---\nname: [tea\ndescription: x\n---\n', 'cannot be read', 400],
    'the same key twice': ['---\nname: tea\nname: tea\ndescription: x\n---\n', 'cannot be read', 400],
    'something else than text': [{ name: 'tea' }, 'content', 400],
    'more than 2 MiB': [skill('tea', 'x', 'x'.repeat(2 * 2 ** 20)), '2 MiB', 413],
  };
  for (const [what, [content, words, status]] of Object.entries(refused)) {
    it(`refuses ${what} and leaves the skill alone`, async () => {
      const answer = await put('tea', content);
      expect(answer.status).to.equal(status);
      expect(answer.body.error).to.include(words);
      expect(await readFile(tea(), 'utf8')).to.equal(skill('tea'));
    });
  }

  it('takes exactly 2 MiB, however it is escaped', async () => {
    const start = skill('tea');
    expect(
      (await put('tea', start + '\u0001'.repeat(2 * 2 ** 20 - Buffer.byteLength(start)))).status,
    ).to.equal(200);
  });

  it('neither reads nor writes through links', async () => {
    await office.put('config.yaml', 'canary\n');
    await rm(tea());
    await symlink(join(office.layout.home, 'config.yaml'), tea());
    await mkdir(join(office.layout.home, 'elsewhere'));
    await writeFile(join(office.layout.home, 'elsewhere', 'SKILL.md'), skill('way'));
    await symlink(join(office.layout.home, 'elsewhere'), join(office.layout.skills, 'way'));
    for (const name of ['tea', 'way']) {
      expect((await office.operator.get(`/api/skills/${name}`)).status).to.equal(404);
      expect((await put(name, skill(name))).status).to.equal(404);
      expect((await office.operator.call('DELETE', `/api/skills/${name}`)).status).to.equal(404);
    }
    expect(await readFile(join(office.layout.home, 'config.yaml'), 'utf8')).to.equal('canary\n');
    expect(
      (await office.operator.get('/api/skills')).body.map(({ name }: { name: string }) => name),
    ).to.deep.equal(['ink']);
  });

  it('notices what people and their tools do to the folder', async () => {
    const socket = await office.socket();
    // What comes while the store is still being read for the first time belongs to that first reading and is
    // no change.
    await office.operator.get('/api/skills');
    await office.put('skills/new/SKILL.md', skill('new'));
    await socket.until(({ event }) => event === 'skills:changed');
    await rm(join(office.layout.skills, 'new'), { recursive: true });
    await poll(
      () => office.operator.get('/api/skills'),
      ({ body }) => body.length === 2,
    );
  });

  describe('DELETE', () => {
    const manifests: Record<string, [before: string | undefined, after: string | undefined]> = {
      'no manifest': [undefined, undefined],
      'a list of entries': ['[{"name":"tea","from":"x"},{"name":"ink"}]', '[{"name":"ink"}]'],
      'a list of names': ['["tea","ink"]', '["ink"]'],
      'an object with a list': [
        '{"version":1,"skills":[{"name":"tea"},{"name":"ink"}]}',
        '{"version":1,"skills":[{"name":"ink"}]}',
      ],
      'an object of names': ['{"tea":{"from":"x"},"ink":{}}', '{"ink":{}}'],
      'an object with an object of names': [
        '{"skills":{"tea":{"from":"x"},"ink":{}}}',
        '{"skills":{"ink":{}}}',
      ],
      'an empty object': ['{}', '{}'],
      'a torn file': ['[{"name":"tea"', '[{"name":"tea"'],
    };
    for (const [what, [before, after]] of Object.entries(manifests)) {
      it(`removes folder and entry with ${what}`, async () => {
        const manifest = join(office.layout.home, 'skills.json');
        if (before !== undefined) await writeFile(manifest, before);
        const { status, body } = await office.operator.call('DELETE', '/api/skills/tea');
        expect([status, body]).to.deep.equal([200, { status: 'removed', name: 'tea' }]);
        expect(await readdir(office.layout.skills)).to.deep.equal(['ink']);
        if (after === undefined) expect(await access(manifest).catch(() => 'absent')).to.equal('absent');
        else if (what === 'a torn file') expect(await readFile(manifest, 'utf8')).to.equal(after);
        else expect(JSON.parse(await readFile(manifest, 'utf8'))).to.deep.equal(JSON.parse(after));
      });
    }

    it('is 404 the second time, and tells watchers the first', async () => {
      const socket = await office.socket();
      await office.operator.call('DELETE', '/api/skills/tea');
      await socket.until(({ event }) => event === 'skills:changed');
      expect((await office.operator.call('DELETE', '/api/skills/tea')).status).to.equal(404);
    });
  });
});
