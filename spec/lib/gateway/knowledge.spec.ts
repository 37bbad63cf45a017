import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { link, mkdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { openOffice, type Office } from '../records/office.js';
import { poll, type Client } from './fixture.js';

const house = {
  'knowledge/tea.md': '# Tea\n\nGreen tea is brewed at 80 degrees. Tea from a teapot.\n',
  'knowledge/drinks/hot/coffee.md': '---\nx: y\n---\n## Coffee ##\n\nGreen beans are roasted.\n',
  'knowledge/drinks/untitled.MD': 'green lemonade with a canary',
  'docs/manual.markdown': "# Manual\n\nThe green button: don't press.\n",
  'knowledge/notes.txt': 'green canary text',
  'knowledge/.hidden.md': 'green canary',
  'knowledge/.git/x.md': 'green canary',
  'secrets/key.md': 'green canary',
  'config.yaml': 'canary: green\n',
  'top.md': 'green canary',
};

describe('/api/knowledge', () => {
  let office: Office;
  beforeEach(async () => {
    office = await openOffice(house);
  });
  afterEach(() => office.close());
  const search = (q: string) => office.operator.get(`/api/knowledge/search?q=${encodeURIComponent(q)}`);
  const read = (path: string) => office.operator.get(`/api/knowledge/read?path=${encodeURIComponent(path)}`);
  const paths = async (q: string): Promise<string[]> =>
    (await search(q)).body.results.map(({ path }: { path: string }) => path);

  it('finds Markdown with all the words, in sub-folders too, and nothing else of the home', async () => {
    expect(await paths('green')).to.deep.equal([
      'docs/manual.markdown',
      'knowledge/drinks/hot/coffee.md',
      'knowledge/drinks/untitled.MD',
      'knowledge/tea.md',
    ]);
    expect(await paths('GREEN roast')).to.deep.equal(['knowledge/drinks/hot/coffee.md']);
    expect(await paths('canary')).to.deep.equal(['knowledge/drinks/untitled.MD']);
    expect(await paths('green milk')).to.deep.equal([]);
    expect(await paths('+++ --')).to.deep.equal([]);
  });

  it('shows path, title, snippet with marks and number of matches, the same every time', async () => {
    const { body } = await search(' tea ');
    expect(body).to.deep.equal({
      query: 'tea',
      complete: true,
      results: [
        {
          path: 'knowledge/tea.md',
          title: 'Tea',
          snippet: '# «Tea» Green «tea» is brewed at 80 degrees. «Tea» from a «tea»pot.',
          matchCount: 4,
        },
      ],
    });
    expect((await search('tea')).text).to.equal((await search('tea')).text);
    expect((await search('roasted')).body.results[0].title).to.equal('Coffee');
    expect((await search('lemonade')).body.results[0].title).to.equal('untitled');
  });

  it('keeps snippets short and hits at twenty', async () => {
    for (let n = 0; n < 25; n += 1)
      await office.put(
        `docs/many/${n}.md`,
        `${'word '.repeat(500)}needle${n} needle ${'x'.repeat(5_000)} ${'needle '.repeat(50)}`,
      );
    await office.records.knowledge.library.refresh();
    const { results } = (await search('needle')).body;
    expect(results).to.have.length(20);
    for (const { snippet } of results) {
      expect(snippet.length).to.be.at.most(300);
      expect(snippet).to.include('«needle»');
    }
  });

  // an agent that asks for everything at once must not hold up what others do
  it('answers one question after another, and sends those away who come when very many wait', async () => {
    const { knowledge } = office.records;
    const answers = await Promise.all(Array.from({ length: 80 }, () => knowledge.search('green tea')));
    expect(answers.filter((answer) => 'results' in answer && answer.results.length === 1)).to.have.length(64);
    expect(answers.filter((answer) => 'code' in answer && answer.code === 'BUSY')).to.have.length(16);
    expect(await paths('green tea')).to.deep.equal(['knowledge/tea.md']);
  });

  it('refuses questions that are none', async () => {
    expect((await office.operator.get('/api/knowledge/search')).status).to.equal(400);
    expect((await search('  ')).body.error).to.equal('q is required');
    expect((await search('x'.repeat(1_025))).body.error).to.equal('q is too long (1025 chars, max 1024)');
    expect((await search(Array.from({ length: 40 }, (_, n) => `w${n}`).join(' '))).status).to.equal(400);
    for (const odd of ['(((((', '[a-z]*+', '(a+)+$', '\\', '%00', '__proto__', 'constructor', '«»', '🍵'])
      expect((await search(odd)).status, odd).to.equal(200);
  });

  it('follows the files: new, changed, renamed with their folder, gone', async () => {
    await office.put('knowledge/new/deep/first.md', 'zebra');
    await poll(
      () => search('zebra'),
      ({ body }) => body.results.length === 1,
    );
    await office.put('knowledge/new/deep/first.md', 'giraffe');
    await poll(
      () => search('giraffe'),
      ({ body }) => body.results.length === 1,
    );
    expect(await paths('zebra')).to.deep.equal([]);
    await rename(join(office.layout.knowledge, 'new'), join(office.layout.docs, 'moved'));
    await poll(
      () => search('giraffe'),
      ({ body }) => body.results.length === 1 && body.results[0].path === 'docs/moved/deep/first.md',
    );
    await rm(join(office.layout.docs, 'moved'), { recursive: true });
    await poll(
      () => search('giraffe'),
      ({ body }) => body.results.length === 0,
    );
  });

  // what there is could only be found by words that one had to know
  it('lists what there is, last changed first, a page at a time, and who wrote it here', async () => {
    const names = ['knowledge/tea.md', 'docs/manual.markdown', 'knowledge/drinks/hot/coffee.md'];
    for (const [hour, name] of names.entries()) {
      const at = new Date(Date.UTC(2026, 0, 1, hour));
      await utimes(join(office.layout.home, name), at, at);
    }
    const old = new Date(Date.UTC(2025, 0, 1));
    await utimes(join(office.layout.home, 'knowledge/drinks/untitled.MD'), old, old);
    await office.records.knowledge.library.refresh();
    const list = (query = '', client: Client = office.operator) => client.get(`/api/knowledge${query}`);
    const first = (await list('?limit=2')).body;
    expect(first.documents).to.deep.equal([
      {
        path: 'knowledge/drinks/hot/coffee.md',
        title: 'Coffee',
        bytes: 52,
        changedAt: '2026-01-01T02:00:00.000Z',
        changedBy: null,
      },
      {
        path: 'docs/manual.markdown',
        title: 'Manual',
        bytes: 41,
        changedAt: '2026-01-01T01:00:00.000Z',
        changedBy: null,
      },
    ]);
    const bundle = JSON.stringify({ troupe: 1, title: 'x', files: { 'knowledge/tea.md': '# Black tea' } });
    const done = await office.operator.post('/api/import', { bundle, apply: true, replace: true });
    expect(done.status, done.text).to.equal(200);
    const rest = (await list(`?cursor=${first.nextCursor}`)).body;
    expect(rest.documents.map(({ path }: { path: string }) => path)).to.deep.equal([
      'knowledge/drinks/untitled.MD', // tea has moved to the top meanwhile
    ]);
    expect(rest.nextCursor).to.equal(null);
    const [newest] = (await list()).body.documents;
    expect(newest).to.deep.include({ path: 'knowledge/tea.md', title: 'Black tea', changedBy: 'operator' });
    await office.put('knowledge/tea.md', '# White tea');
    await office.records.knowledge.library.refresh();
    expect((await list('?limit=1')).body.documents[0], 'changed in the folder').to.deep.include({
      title: 'White tea',
      changedBy: null,
    });
    for (const query of ['?limit=0', '?limit=x', '?cursor=x'])
      expect((await list(query)).status, query).to.equal(400);
    expect((await list('', await office.agent())).body.documents).to.have.length(4);
    expect((await list('', office.client())).status).to.equal(401);
    expect((await list()).text).not.to.include('secrets');
  });

  it('never shows what lies behind links, pipes and second names', async () => {
    const { knowledge, home } = office.layout;
    await symlink(join(home, 'config.yaml'), join(knowledge, 'link.md'));
    await symlink(home, join(knowledge, 'out'));
    await link(join(home, 'config.yaml'), join(knowledge, 'twin.md'));
    execFileSync('mkfifo', [join(knowledge, 'pipe.md')]);
    await mkdir(join(knowledge, 'folder.md'));
    await office.records.knowledge.library.refresh();
    expect(await paths('canary')).to.deep.equal(['knowledge/drinks/untitled.MD']);
    for (const path of [
      'knowledge/link.md',
      'knowledge/out/top.md',
      'knowledge/twin.md',
      'knowledge/pipe.md',
      'knowledge/folder.md',
      'knowledge/out/secrets/key.md',
    ]) {
      const answer = await read(path);
      expect(answer.status, path).to.equal(403);
      expect(answer.text).not.to.include('canary');
    }
  });

  describe('read', () => {
    it('shows a document that the search named', async () => {
      expect((await read('knowledge/tea.md')).body).to.deep.equal({
        path: 'knowledge/tea.md',
        title: 'Tea',
        content: house['knowledge/tea.md'],
        truncated: false,
        totalChars: 61,
      });
      for (const path of await paths('green')) expect((await read(path)).status, path).to.equal(200);
    });

    it('cuts a long one and says how long it is', async () => {
      await office.put('docs/long.md', 'ü'.repeat(30_000));
      const { body } = await read('docs/long.md');
      expect([body.content.length, body.truncated, body.totalChars]).to.deep.equal([20_000, true, 30_000]);
    });

    for (const path of [
      '../config.yaml',
      'knowledge/../config.yaml',
      'knowledge/../top.md',
      '/etc/hostname',
      '/knowledge/tea.md',
      'top.md',
      'secrets/key.md',
      'knowledge/notes.txt',
      'knowledge/.hidden.md',
      'knowledge/.git/x.md',
      'knowledge',
      'docs/',
      'knowledge//tea.md',
      'knowledge/./tea.md',
      'knowledge\\tea.md',
      'knowledge/tea.md\u0000',
      'knowledge/te\na.md',
      'knowledge/%2e%2e/top.md',
      'knowledge%2ftea.md',
      'KNOWLEDGE/tea.md',
      'store/x.md',
    ]) {
      it(`refuses ${JSON.stringify(path)}`, async () => {
        const answer = await read(path);
        expect(answer.status).to.equal(400);
        expect(answer.text).not.to.include('canary');
      });
    }

    it('is 404 where nothing is', async () => {
      expect((await read('knowledge/none.md')).status).to.equal(404);
      expect((await read('docs/none/none.md')).status).to.equal(404);
    });
  });

  it('is for agents too, and for no one without a credential', async () => {
    const agent = await office.agent();
    expect((await agent.get('/api/knowledge/search?q=tea')).body.results).to.have.length(1);
    expect((await agent.get('/api/knowledge/read?path=knowledge%2Ftea.md')).status).to.equal(200);
    for (const path of ['search?q=tea', 'read?path=knowledge/tea.md'])
      expect((await office.client().get(`/api/knowledge/${path}`)).status).to.equal(401);
  });
});
