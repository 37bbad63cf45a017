import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEngine } from '../../../actors/engines/engine.js';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { makeClient, poll, type Client } from './fixture.js';

/** What an agent changed in a repository, as its session and its work item keep it: real git, a real gateway. */
describe('what a turn changes in a repository', () => {
  let folder: string;
  let repository: string;
  let instance: Instance;
  let client: Client;
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], {
      cwd: repository,
      encoding: 'utf8',
    });
  const gardener = defineEngine({
    name: 'gardener',
    effortMechanism: 'none',
    isInProcess: true,
    discover: async () => ({ available: true, defaultModel: null, models: [] }),
    async turn({ prompt }) {
      if (prompt.includes('rest')) return { outcome: 'succeeded', text: 'rested' };
      await writeFile(join(repository, 'plum.txt'), 'a ripe plum\n');
      git('commit', '--quiet', '--all', '--message', 'ripen');
      await writeFile(join(repository, 'pear.txt'), 'a cut pear\n');
      await writeFile(join(repository, 'new.txt'), 'a seed\n');
      return { outcome: 'succeeded', text: 'gardened' };
    },
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'changes-'));
    repository = join(folder, 'garden');
    execFileSync('git', ['init', '--quiet', repository]);
    await writeFile(join(repository, 'plum.txt'), 'a plum\n');
    await writeFile(join(repository, 'pear.txt'), 'a pear\n');
    git('add', '.');
    git('commit', '--quiet', '--message', 'plant');
    const home = join(folder, 'home');
    execFileSync('mkdir', ['-m', '700', home]);
    const sessions = JSON.stringify({ cwd: repository, roots: [repository] });
    await writeFile(join(home, 'config.yaml'), `agents: {sandbox: off}\nsessions: ${sessions}\n`);
    instance = await startInstance({ home, port: 0, engines: [gardener] });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    client = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
  });
  afterEach(async () => {
    await instance.close();
    await rm(folder, { recursive: true, force: true });
  });

  const rested = async (id: string) =>
    (
      await poll(
        () => client.get(`/api/sessions/${id}`),
        ({ body }) => body.status === 'idle',
      )
    ).body;

  it('is a message with the statistics, committed or not, and a patch beside it', async () => {
    const { body } = await client.post('/api/sessions', { prompt: 'work', engine: 'gardener' });
    const { messages } = await rested(body.id);
    const [, changed, answer] = messages;
    expect(answer.content).to.equal('gardened');
    expect(changed).to.include({ role: 'assistant', content: 'Changed 3 files' });
    expect(changed.meta).to.deep.include({ kind: 'changes', files: ['new.txt', 'pear.txt', 'plum.txt'] });
    expect(changed.meta.stat).to.include('3 files changed');
    const patch = await client.get(changed.media[0].url);
    expect(patch.text).to.include('+a ripe plum').and.include('+a cut pear');
  });

  // a person's own unfinished work stood as the agent's, in the session and in the attempt
  it('leaves out what was changed before the turn, also in a file that the turn changes further', async () => {
    await writeFile(join(repository, 'mine.txt'), 'a note of mine\n');
    await writeFile(join(repository, 'fig tree.txt'), 'a fig\n');
    git('add', 'fig tree.txt');
    await writeFile(join(repository, 'pear.txt'), 'a pear\nand a line of mine\n');
    const index = await readFile(join(repository, '.git', 'index'));
    const objects = git('count-objects');
    const first = await client.post('/api/sessions', { prompt: 'rest', engine: 'gardener' });
    expect((await rested(first.body.id)).messages).to.have.length(2);
    expect(await readFile(join(repository, '.git', 'index'))).to.deep.equal(index);
    expect(git('count-objects'), 'the repository was only read').to.equal(objects);
    const { body } = await client.post('/api/sessions', { prompt: 'work', engine: 'gardener' });
    const { messages } = await rested(body.id);
    expect(messages[1].meta.files).to.deep.equal(['new.txt', 'pear.txt', 'plum.txt']);
    const patch = await client.get(messages[1].media[0].url);
    expect(patch.text).to.include('-and a line of mine').and.include('+a cut pear').and.include('+a seed');
    expect(patch.text).not.to.include('a note of mine').and.not.include('a fig');
    expect(await readdir(join(folder, 'home', 'tmp'))).to.deep.equal(['uploads']);
  });

  it('is a part of the attempt at a work item', async () => {
    const { body } = await client.post('/api/delegations', { task: 'work', engine: 'gardener' });
    await rested(body.sessionId);
    const { body: attempts } = await poll(
      () => client.get(`/api/work-items/${body.workItemId}/attempts`),
      (answer) => JSON.stringify(answer.body).includes('"outcome":"succeeded"'),
    );
    expect(JSON.stringify(attempts)).to.include('"changedFiles":["new.txt","pear.txt","plum.txt"]');
  });

  // git starts itself again within a submodule, and filters that only the submodule names are not switched off there
  it('runs nothing that a submodule names', async () => {
    const nested = join(repository, 'nested');
    execFileSync('git', ['init', '--quiet', nested]);
    await writeFile(join(nested, 'seed.txt'), 'a seed\n');
    git('-C', nested, 'add', '.');
    git('-C', nested, 'commit', '--quiet', '--message', 'sow');
    git('-c', 'advice.addEmbeddedRepo=false', 'add', 'nested');
    git('commit', '--quiet', '--message', 'nest');
    git('config', 'diff.submodule', 'diff');
    git('-C', nested, 'config', 'filter.evil.clean', `touch ${folder}/ran; cat`);
    await writeFile(join(nested, '.gitattributes'), '* filter=evil\n');
    await writeFile(join(nested, 'seed.txt'), 'a sprout\n');
    const { body } = await client.post('/api/sessions', { prompt: 'work', engine: 'gardener' });
    const { messages } = await rested(body.id);
    expect(messages[1].meta.files).to.deep.equal(['new.txt', 'pear.txt', 'plum.txt']);
    expect(existsSync(join(folder, 'ran'))).to.equal(false);
  });

  it('is nothing where nothing was changed', async () => {
    const { body } = await client.post('/api/sessions', { prompt: 'rest', engine: 'gardener' });
    expect((await rested(body.id)).messages).to.have.length(2);
  });
});
