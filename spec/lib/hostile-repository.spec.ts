import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findSandboxTool } from '../../actors/sandbox/tool.js';
import { Troupe } from './cli/troupe.js';
import { makeClient, type Client } from './gateway/fixture.js';

const tool = await findSandboxTool();

/**
 * A smudge filter of a repository that an agent had written ran as the gateway once. Here the repository names
 * a program wherever git would run one.
 */
describe('a repository that means harm', () => {
  let troupe: Troupe;
  let repository: string;
  let client: Client;
  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: troupe.folder, GIT_CONFIG_NOSYSTEM: '1' },
    });
  const ran = (): Promise<string[]> => readdir(join(troupe.folder, 'ran'));

  beforeEach(async () => {
    troupe = await Troupe.create();
    repository = join(troupe.folder, 'project');
    await mkdir(join(troupe.folder, 'ran'), { mode: 0o777 });
    await mkdir(repository);
    git(repository, 'init', '-q');
    await writeFile(join(repository, 'a.txt'), 'one');
    await writeFile(join(repository, 'b.late'), 'one');
    await writeFile(join(repository, 'c.placed'), 'one');
    await writeFile(
      join(repository, '.gitattributes'),
      '* filter=evil diff=evil merge=evil\n*.late filter=late\n*.placed filter=placed\n',
    );
    git(repository, 'add', '.');
    git(repository, 'commit', '-qm', 'one');
    await arm();
  });
  afterEach(() => troupe.clear());

  async function arm(): Promise<void> {
    const harm = (name: string): string => `touch ${troupe.folder}/ran/${name}; cat`;
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-auto-gc'])
      await writeFile(join(repository, '.git/hooks', hook), `#!/bin/sh\n${harm(hook)}\n`, { mode: 0o755 });
    await mkdir(join(repository, '.git/other-hooks'));
    await writeFile(join(repository, '.git/other-hooks/post-checkout'), `#!/bin/sh\n${harm('hooksPath')}\n`, {
      mode: 0o755,
    });
    await writeFile(
      join(repository, '.git/hidden-config'),
      `[filter "evil"]\n\tprocess = ${JSON.stringify(harm('process'))}\n`,
    );
    for (const [name, program] of Object.entries({
      'core.fsmonitor': 'fsmonitor',
      'core.sshCommand': 'sshCommand',
      'core.alternateRefsCommand': 'alternates',
      'core.editor': 'editor',
      'filter.evil.smudge': 'smudge',
      'filter.evil.clean': 'clean',
      'diff.external': 'external-diff',
      'diff.evil.textconv': 'textconv',
      'merge.evil.driver': 'merge-driver',
      'uploadpack.packObjectsHook': 'pack',
      'credential.helper': 'credentials',
      'gpg.program': 'gpg',
    }))
      git(repository, 'config', name, harm(program));
    // settings that hold once there is a worktree, on a branch of ours
    for (const [name, when] of Object.entries({ late: 'onbranch:troupe/**', placed: 'gitdir:worktrees/' })) {
      await writeFile(
        join(repository, '.git', name),
        `[filter "${name}"]\n\tsmudge = ${harm(`${name}-smudge`)}\n\tclean = ${harm(`${name}-clean`)}\n`,
      );
      git(repository, 'config', `includeIf.${when}.path`, name);
    }
    git(repository, 'config', 'filter.evil.required', 'true');
    git(repository, 'config', 'core.hooksPath', join(repository, '.git/other-hooks'));
    git(repository, 'config', 'include.path', 'hidden-config');
    git(repository, 'config', 'submodule.recurse', 'true');
    git(repository, 'config', 'protocol.ext.allow', 'always');
    git(repository, 'config', 'submodule.evil.url', `ext::sh -c ${harm('submodule')}`);
    await rm(join(troupe.folder, 'ran'), { recursive: true });
    await mkdir(join(troupe.folder, 'ran'));
  }

  async function start(level: string): Promise<void> {
    await mkdir(troupe.home(), { mode: 0o700 });
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      [
        `agents: {sandbox: ${level}}`,
        `sessions: {roots: [${troupe.folder}]}`,
        'engines:',
        '  default: worker',
        '  shell: {command: [/bin/sh, -s]}',
        `  worker: {command: [/bin/sh, -c, 'git checkout -q -b work && echo two > a.txt && git -c user.name=x -c user.email=x@x commit -qam two; git log --oneline | cat; touch ${repository}/.git/touched; sh -s']}`,
      ].join('\n'),
    );
    await troupe.start();
    const { port, token } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
  }

  async function opened() {
    const { status, body, text } = await client.post('/api/sessions', {
      prompt: 'true',
      cwd: repository,
      worktree: true,
    });
    expect(status, text).to.equal(201);
    return (await settled(body.id)).body;
  }

  async function settled(id: string) {
    for (;;) {
      const now = await client.get(`/api/sessions/${id}`);
      if (!['running', 'waiting'].includes(now.body.status)) return now;
    }
  }

  for (const level of tool.name === null ? ['off'] : ['off', 'home', 'workspace'])
    it(`runs nothing of its own for a worktree at the level ${level}`, async () => {
      await start(level);
      const { status, body, text } = await client.post('/api/sessions', {
        prompt: 'true',
        engine: 'clerk',
        cwd: repository,
        worktree: true,
      });
      expect(status, text).to.equal(201);
      expect(await readFile(join(body.cwd, 'a.txt'), 'utf8')).to.equal('one');
      await settled(body.id);
      for (const name of ['b.late', 'c.placed']) await utimes(join(body.cwd, name), new Date(0), new Date(0)); // git reads it again to compare
      const deleted = await client.call('DELETE', `/api/sessions/${body.id}`);
      expect(deleted.status, deleted.text).to.be.lessThan(300);
      expect(await ran()).to.deep.equal([]);
      expect(await readdir(join(troupe.home(), 'work'))).to.deep.equal([]);
    });

  // What was beyond the first thousand was not switched off
  it('is not used where it names more programs than can be switched off', async () => {
    const settings = join(repository, '.git/config');
    const before = await readFile(settings, 'utf8');
    const many = Array.from({ length: 1_001 }, (_, n) => `[filter "a${n}"]\n\tsmudge = x\n`);
    await writeFile(settings, many.join('') + before);
    await start('off');
    const { status, body } = await client.post('/api/sessions', {
      prompt: 'true',
      engine: 'clerk',
      cwd: repository,
      worktree: true,
    });
    expect(await ran()).to.deep.equal([]);
    expect([status, body.error]).to.deep.equal([
      400,
      'A worktree needs a cwd inside a git repository with a commit: The settings of this repository name too ' +
        'many programs.',
    ]);
  });

  /** Git fetches what a partial clone lacks when it needs it, from where the repository says. */
  it('runs no transport for a file that a partial clone lacks', async () => {
    const blob = git(repository, 'rev-parse', 'HEAD:a.txt').trim();
    await rm(join(repository, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    for (const [name, value] of Object.entries({
      'core.repositoryFormatVersion': '1',
      'extensions.partialClone': 'evil',
      'remote.evil.promisor': 'true',
      'remote.evil.partialCloneFilter': 'blob:none',
      'remote.evil.url': `ext::sh -c touch% ${troupe.folder}/ran/lazy-fetch`,
    }))
      git(repository, 'config', name, value);
    await start('off');
    const { status } = await client.post('/api/sessions', {
      prompt: 'true',
      engine: 'clerk',
      cwd: repository,
      worktree: true,
    });
    expect(await ran()).to.deep.equal([]);
    expect(status, 'a file is missing').to.equal(400);
  });

  if (tool.name !== null)
    for (const level of ['home', 'workspace'])
      it(`shows an agent nothing else in the place of its repository at the level ${level}`, async () => {
        await start(level);
        const home = troupe.home();
        const prompt = `touch ${repository}/.git/own; cat ${home}/gateway.json; exit 0`;
        const said = async (id: string): Promise<string> => {
          const { body } = await settled(id);
          const { messages } = (await client.get(`/api/sessions/${id}/messages`)).body;
          return JSON.stringify([body.lastError, messages.slice(1)]);
        };
        const { body } = await client.post('/api/sessions', {
          prompt,
          engine: 'shell',
          cwd: repository,
          worktree: true,
        });
        expect(await said(body.id)).to.not.include('pidStart');
        // Its worktree is of that repository at home, where commits go; a clone only reads it
        expect((await readdir(join(repository, '.git'))).includes('own')).to.equal(level === 'home');
        // As any agent could that may write there
        await rename(join(repository, '.git'), join(repository, '.old'));
        await symlink(join(home, 'gateway.json'), join(repository, '.git'));
        await client.post(`/api/sessions/${body.id}/message`, { message: prompt });
        const after = await said(body.id);
        expect(after, 'gateway.json').to.not.include('pidStart');
        expect(after).to.include('was replaced');
      });

  /** What an agent may leave in its working copy, for the git of the gateway to find after its turn. */
  for (const level of tool.name === null ? ['off'] : ['off', 'workspace'])
    it(`bears branches named as options, and places that lead elsewhere, at the level ${level}`, async () => {
      await start(level);
      for (const name of ['core.hooksPath', 'core.fsmonitor', 'filter.evil.clean', 'include.path'])
        git(repository, 'config', '--unset-all', name); // the agent uses git, too
      const harm = 'touch ran-it; cat';
      const { status, body, text } = await client.post('/api/sessions', {
        engine: 'shell',
        cwd: repository,
        worktree: true,
        prompt: `git -c user.name=x -c user.email=x@x commit -q --allow-empty -m two
          for name in --upload-pack=ran-it -oran-it --exec=ran-it --output=ran-it; do
            git update-ref "refs/heads/$name" HEAD
          done
          git symbolic-ref HEAD refs/heads/--output=ran-it
          objects=$(git rev-parse --git-path objects)
          printf '%s\\n' "$(cat $objects/info/alternates)" ${troupe.home()}/store /dev/zero ext::x > $objects/info/alternates
          git update-index --index-version 4; git config index.sparse true; git config core.sparseCheckout true
          git config core.hooksPath "$PWD"; printf '#!/bin/sh\\n${harm}\\n' > reference-transaction; chmod +x reference-transaction
          git config core.fsmonitor '${harm}'; git config filter.evil.clean '${harm}'; git config core.worktree ${troupe.folder}
          echo done`,
      });
      expect(status, text).to.equal(201);
      const before = await readdir(troupe.folder);
      const { body: rested } = await settled(body.id);
      expect(rested.lastError).to.equal(null);
      const at = `/api/sessions/${body.id}/changes`;
      const { version = '' } = (await client.get(at)).body;
      await client.post(`${at}/discard`, { version });
      const branches = git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads')
        .trim()
        .split('\n');
      const brought = level === 'off' ? 'refs/heads/' : `refs/heads/troupe/${body.id}/`;
      expect(branches).to.include.members([`${brought}--upload-pack=ran-it`, `${brought}--output=ran-it`]);
      await client.call('DELETE', `/api/sessions/${body.id}`);
      expect(await readdir(troupe.folder)).to.deep.equal(before);
      expect(await readdir(body.cwd).catch(() => [])).to.not.include('ran-it');
    });

  if (tool.name !== null)
    it('is not written by an agent at workspace, and gets its branch afterwards', async () => {
      await start('workspace');
      const session = await opened();
      expect(session.sandbox).to.deep.include({ level: 'workspace' });
      expect(await readFile(join(session.cwd, '.git/objects/info/alternates'), 'utf8')).to.include(
        dirname(join(repository, '.git/x')),
      );
      expect(await readdir(join(repository, '.git'))).to.not.include('touched');
      expect(
        git(
          repository,
          '--no-pager',
          '-c',
          'core.fsmonitor=false',
          'show',
          `troupe/${session.id}/work:a.txt`,
        ),
      ).to.equal('two\n');
      expect((await ran()).filter((name) => !['textconv', 'alternates'].includes(name))).to.deep.equal([]);
    });

  if (tool.name !== null)
    it('leaves no clone and no conversation behind a deleted session, but what is in no commit', async () => {
      await start('workspace');
      const left = async (...path: string[]): Promise<readonly string[]> =>
        readdir(join(troupe.home(), ...path)).catch(() => []);
      const clean = await opened();
      const changed = await opened();
      await writeFile(join(changed.cwd, 'draft.txt'), 'in no commit');
      for (const { id } of [clean, changed]) {
        await mkdir(join(troupe.home(), 'engines/codex/of', id), { recursive: true });
        const { status, text } = await client.call('DELETE', `/api/sessions/${id}`);
        expect(status, text).to.be.lessThan(300);
      }
      expect(await left('work')).to.deep.equal([changed.id]);
      expect(await left('clones')).to.deep.equal([`${changed.id}.json`]);
      expect(await left('engines/codex/of')).to.deep.equal([]);
      expect(git(repository, '--no-pager', 'show', `troupe/${clean.id}/work:a.txt`)).to.equal('two\n');
    });
});
