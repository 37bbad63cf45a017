import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { findSandboxTool } from '../../actors/sandbox/tool.js';
import { dropRested } from '../../lib/commands/sessions/clean-work.js';
import { Troupe } from './cli/troupe.js';
import { makeClient, type Client } from './gateway/fixture.js';
import { openApp } from './commands/app-fixture.js';
import { openSession } from '../../lib/commands/sessions/open-session.js';
import { isRefusal } from '../../machines/refusals.js';

const tool = await findSandboxTool();

/** The work of an agent was left uncommitted on no branch, in a folder that nothing ever took away. */
describe('a branch of a session', () => {
  let troupe: Troupe;
  let repository: string;
  let client: Client;
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      encoding: 'utf8',
    });
  const isThere = (path: string): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );

  beforeEach(async () => {
    troupe = await Troupe.create();
    repository = join(troupe.folder, 'project');
    await mkdir(repository);
    git('init', '-q', '-b', 'main');
    await writeFile(join(repository, 'a.txt'), 'one\n');
    git('add', '.');
    git('commit', '-qm', 'one');
  });
  afterEach(() => troupe.clear());

  async function start(level: string): Promise<void> {
    await mkdir(troupe.home(), { mode: 0o700 });
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      `agents: {sandbox: ${level}}\nengines:\n  default: sh\n  sh: {command: [/bin/sh, -c, 'sh -s; echo done; cat a.txt']}\n`,
    );
    await troupe.start();
    const { port, token } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
  }
  const run = (script: string, ...more: string[]) =>
    troupe.run('run', '--home', troupe.home(), '--cwd', repository, ...more, script);
  const idIn = (err: string): string => /session ([\w-]{36})/.exec(err)?.[1] ?? expect.fail(err);

  for (const level of tool.name === null ? ['off'] : ['off', 'home', 'workspace'])
    it(`gets what a turn leaves uncommitted, and is merged by its name, at the level ${level}`, async () => {
      await start(level);
      const { code, err } = await run('echo two > a.txt; echo new > b.txt', '--worktree');
      expect(code, err).to.equal(0);
      const id = idIn(err);
      const branch = `troupe/${id.slice(0, 8)}`;
      expect(err).to.include(`git merge ${branch}`);
      expect(err).to.match(
        /review it with: troupe changes --home \S+ [0-9a-f]{8} --patch; .*: troupe merge /,
      );
      expect(git('branch', '--format=%(refname:short)').trim().split('\n')).to.have.members(['main', branch]);
      git('merge', '-q', branch);
      expect(git('show', 'HEAD:a.txt')).to.equal('two\n');
      expect(git('log', '-1', '--format=%an %s')).to.equal(`Troupe Changes of session ${id.slice(0, 8)}\n`);
      expect((await troupe.run('show', '--home', troupe.home(), id)).out).to.include(`branch ${branch}`);

      const { status, text } = await client.call('DELETE', `/api/sessions/${id}`);
      expect(status, text).to.equal(200);
      expect(await readdir(join(troupe.home(), 'work'))).to.deep.equal([]);
      expect(git('branch', '--format=%(refname:short)')).to.equal('main\n');
      expect(git('worktree', 'list').trim().split('\n')).to.have.length(1);
    });

  for (const level of tool.name === null ? ['off'] : ['off', 'workspace'])
    it(`is shown, taken back in part and merged by command at the level ${level}`, async () => {
      await start(level);
      const id = idIn((await run('echo two > a.txt; echo new > b.txt', '--worktree')).err).slice(0, 8);
      const troupeOf = async (...words: string[]) => {
        const ran = await troupe.run(words[0] ?? '', '--home', troupe.home(), ...words.slice(1));
        expect(ran.code, ran.err).to.equal(0);
        return ran.out;
      };
      const shown = await troupeOf('changes', id, '--patch');
      expect(shown).to.match(/changed +\+1 -1 +a\.txt\n +added +\+1 -0 +b\.txt\n/);
      expect(shown).to.include('-one\n+two\n');
      expect(shown).to.include('can be merged into main');
      expect(await troupeOf('changes', id, '--discard', 'b.txt')).to.match(
        /Discarded 1 file, kept as refs\/troupe/,
      );
      expect(await troupeOf('merge', id, '--squash', '-m', 'Say two')).to.match(
        /^Merged into main: \w{8}\n$/,
      );
      expect(git('log', '--format=%s')).to.equal('Say two\none\n');
      expect(git('show', '--format=', '--name-only', 'HEAD')).to.equal('a.txt\n');
      expect(git('status', '--porcelain')).to.equal('');
      const again = await troupe.run('merge', '--home', troupe.home(), id);
      expect([again.code, again.err]).to.deep.equal([
        6,
        'main has all changes of this session already. (CONFLICT)\n',
      ]);
    });

  it('stays where it has commits that are merged nowhere', async () => {
    await start('off');
    const id = idIn((await run('echo two > a.txt', '--worktree')).err);
    await client.call('DELETE', `/api/sessions/${id}`);
    expect(git('show', `troupe/${id.slice(0, 8)}:a.txt`)).to.equal('two\n');
    expect(await readdir(join(troupe.home(), 'work'))).to.deep.equal([]);
  });

  it('gets nothing of a turn that left the branch, or that left conflicts', async () => {
    await start('off');
    const away = idIn((await run('git checkout -q -b other; echo two > a.txt', '--worktree')).err);
    expect(git('log', '--format=%s', `troupe/${away.slice(0, 8)}`)).to.equal('one\n');
    expect(git('-C', join(troupe.home(), 'work', away), 'status', '--porcelain')).to.equal(' M a.txt\n');
    const commit = 'git -c user.name=x -c user.email=x@x';
    const { err } = await run(
      `echo two > a.txt; ${commit} commit -qam two; git checkout -q -b side HEAD~1; echo three > a.txt; ` +
        `${commit} commit -qam three; git checkout -q -; ${commit} merge -q side || true`,
      '--worktree',
    );
    const branch = `troupe/${idIn(err).slice(0, 8)}`;
    expect(git('log', '--format=%s', branch)).to.equal('two\none\n');
  });

  /**
   * Agents clone and scaffold. A branch got the name of a commit that was nowhere else, so a merge made an empty folder
   * of all that work; and where there was no commit in it yet, nothing of the whole turn was committed.
   */
  for (const [what, script] of [
    ['with a commit', 'git -C own -c user.name=x -c user.email=x@x commit -q --allow-empty -m in'],
    ['without one', 'true'],
  ])
    it(`takes no repository along that lies within, ${what}, and says so`, async () => {
      await start('off');
      const made = `echo two > a.txt; git init -q own; echo new > own/b.txt; ${script}`;
      const id = idIn((await run(made, '--worktree')).err);
      const branch = `troupe/${id.slice(0, 8)}`;
      expect(git('ls-tree', '-r', '--name-only', branch)).to.equal('a.txt\n');
      expect(git('show', `${branch}:a.txt`)).to.equal('two\n');
      const shown = (await troupe.run('changes', '--home', troupe.home(), id)).out;
      expect(shown).to.include('own is a repository of its own');
      expect(shown).to.include('can be merged into main');
      await client.call('DELETE', `/api/sessions/${id}`);
      expect(await isThere(join(troupe.home(), 'work', id, 'own/b.txt'))).to.equal(true);
    });

  it('shows a repository within that the agent has added by itself, where nothing else has changed', async () => {
    await start('off');
    const commit = 'git -c user.name=x -c user.email=x@x commit -q';
    const made = `git init -q own; cd own; ${commit} --allow-empty -m in; cd ..; git add own`;
    const id = idIn((await run(made, '--worktree')).err);
    const shown = (await troupe.run('changes', '--home', troupe.home(), id)).out;
    expect(shown).to.include('nothing has changed').and.include('own is a repository of its own');
  });

  // A folder with a draft in it was taken for clean, and removed, where the repository hides what is new
  it('keeps its worktree for a new file in a repository that shows none', async () => {
    await start('off');
    git('config', 'status.showUntrackedFiles', 'no');
    const id = idIn((await run('git checkout -q -b other; echo new > b.txt', '--worktree')).err);
    await client.call('DELETE', `/api/sessions/${id}`);
    expect(await isThere(join(troupe.home(), 'work', id, 'b.txt'))).to.equal(true);
  });

  it('works in the folder of the terminal without one, and commits nothing there', async () => {
    await start('off');
    await run('echo two > a.txt');
    expect(git('status', '--porcelain')).to.equal(' M a.txt\n');
    expect(git('branch', '--format=%(refname:short)')).to.equal('main\n');
  });

  it('is checked out again when its session goes on after its worktree was taken away', async () => {
    await start('off');
    const id = idIn((await run('echo two > a.txt', '--worktree')).err);
    const folder = join(troupe.home(), 'work', id);
    git('worktree', 'remove', folder);
    const again = await troupe.run('run', '--home', troupe.home(), '--in', id, 'true');
    expect(again.out, again.err).to.match(/^two$/m);
    expect(await isThere(join(folder, '.git'))).to.equal(true);
  });

  // Who took the folder away by hand was told to send a message, and each message failed with "use 'add -f' to override"
  it('is checked out again when its folder was taken away without a word to git', async () => {
    await start('off');
    const id = idIn((await run('echo two > a.txt', '--worktree')).err);
    await rm(join(troupe.home(), 'work', id), { recursive: true });
    const again = await troupe.run('run', '--home', troupe.home(), '--in', id, 'true');
    expect(again.out, again.err).to.match(/^two$/m);
  });

  // Git's last line alone is what to type, and not what went wrong
  it('says in a failed turn why its worktree cannot be made', async () => {
    await start('off');
    const id = idIn((await run('echo two > a.txt', '--worktree')).err);
    const folder = join(troupe.home(), 'work', id);
    git('worktree', 'lock', folder);
    await rm(folder, { recursive: true });
    const again = await troupe.run('run', '--home', troupe.home(), '--in', id, 'true');
    expect(again.err).to.include('is a missing but locked worktree; use ');
  });

  it('keeps the worktree of a session that has rested too long only while it is dirty', async () => {
    const home = join(troupe.folder, 'embedded');
    const house = await openApp({
      home,
      settings: { sessionRoots: [troupe.folder], keepWorktreeDays: 1e-9 },
    });
    try {
      const open = async (): Promise<{ readonly id: string; readonly cwd: string }> => {
        const input = { prompt: 'x', cwd: repository, worktree: true };
        const done = await openSession({ app: house.app, caller: { type: 'operator' } }, input);
        if (isRefusal(done)) throw new Error(done.message);
        return { id: done.body.id, cwd: done.body.view.cwd };
      };
      const [clean, dirty] = [await open(), await open()];
      await writeFile(join(dirty.cwd, 'draft.txt'), 'in no commit');
      for (const { id } of [clean, dirty])
        await house.app.supervisor.ask('session', id, { type: 'session.stop' }, { by: { type: 'operator' } });
      // Stopped within this very millisecond, a session has not rested longer than the shortest time there is
      for (const stopped = Date.now(); Date.now() <= stopped + 1;) await turnOfTheLoop();
      const faults: unknown[] = [];
      expect(await dropRested(house.app, (error) => faults.push(error))).to.equal(1);
      expect(faults).to.deep.equal([]);
      expect([await isThere(clean.cwd), await isThere(dirty.cwd)]).to.deep.equal([false, true]);
      expect(git('branch', '--list', `troupe/${clean.id.slice(0, 8)}`)).to.not.equal('');
    } finally {
      await house.close();
    }
  });
});
