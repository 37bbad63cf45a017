import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../lib/commands/app.js';
import { aloneInFolder, worktreeTurns } from '../../lib/commands/sessions/worktree.js';
import { repositoryOf } from '../../lib/commands/sessions/repository.js';
import { openHouse, poll, type Answer, type House } from './gateway/fixture.js';

/**
 * What a session has changed, and what a person does with it, over HTTP and with real git: an agent's work could be
 * read and merged only by those who left the page for a terminal.
 */
describe('changes of a session', () => {
  let house: House;
  let settings: App['settings'];
  let project: string;
  let cwd: string;
  let at: string;
  before(async () => {
    const home = await mkdtemp(join(tmpdir(), 'changes-'));
    settings = { home, sessionRoots: [home], interruptOnNewMessage: true, turnDeadlineMs: 60_000 };
    house = await openHouse({ settings });
  });
  after(async () => {
    await house.close();
    await rm(settings.home, { recursive: true, force: true });
  });

  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      encoding: 'utf8',
    });
  const put = (folder: string, files: Readonly<Record<string, string>>): Promise<void[]> =>
    Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  let made = 0;
  beforeEach(async () => {
    project = join(settings.home, `project-${(made += 1)}`);
    await mkdir(project);
    git(project, 'init', '-q', '-b', 'main');
    await put(project, { 'a.txt': 'one\ntwo\nthree\n', 'gone.txt': 'gone\n' });
    git(project, 'add', '.');
    git(project, 'commit', '-qm', 'one');
  });
  async function open(options: object = { worktree: true }): Promise<string> {
    const { status, body, text } = await house.operator.post('/api/sessions', {
      prompt: 'do it',
      title: 'Water the plants',
      cwd: project,
      ...options,
    });
    expect(status, text).to.equal(201);
    const rested = await poll(
      () => house.operator.get(`/api/sessions/${body.id}`),
      (answer) => answer.body.status === 'idle',
    );
    ({ cwd } = rested.body);
    at = `/api/sessions/${body.id}/changes`;
    return body.id as string;
  }
  const read = async (): Promise<any> => {
    const { status, body, text } = await house.operator.get(at);
    expect(status, text).to.equal(200);
    return body;
  };
  const decide = async (what: string, more: object = {}): Promise<Answer> =>
    house.operator.post(`${at}/${what}`, { version: (await read()).version, ...more });
  const done = async (what: string, more: object = {}): Promise<any> => {
    const { status, body, text } = await decide(what, more);
    expect(status, text).to.equal(200);
    return body;
  };
  const refused = async (what: string, more: object = {}): Promise<any> => {
    const { status, body, text } = await decide(what, more);
    expect(status, text).to.equal(409);
    return body;
  };

  it('are read with what is in no commit, and the patch of each file', async () => {
    await open();
    await put(cwd, { 'a.txt': 'one\n2\nthree\n', 'new.txt': 'new\n' });
    git(cwd, 'rm', '-q', 'gone.txt');
    git(cwd, 'commit', '-qm', 'remove it');
    const found = await read();
    expect(found).to.include({ kind: 'worktree', folder: cwd, isWorking: false });
    expect(found.branch).to.match(/^troupe\//);
    expect(found.commits.map(({ subject }: { subject: string }) => subject)).to.deep.equal(['remove it']);
    const file = (path: string, change: string, added: number, removed: number, isCommitted: boolean) => ({
      ...{ path, change, renamedFrom: null, added, removed, isCommitted },
    });
    expect(found.files).to.have.deep.members([
      file('a.txt', 'changed', 1, 1, false),
      file('gone.txt', 'removed', 0, 1, true),
      file('new.txt', 'added', 1, 0, false),
    ]);
    expect(found.merge).to.deep.include({ state: 'refused', into: 'main', repository: project });
    const { patch } = (await house.operator.get(`${at}/patch?path=a.txt`)).body;
    expect(patch).to.include('-two\n+2\n');
    expect((await house.operator.get(`${at}/patch?path=..%2Fother`)).status).to.be.oneOf([404, 409]);
    expect(git(project, 'status', '--porcelain')).to.equal('');
  });

  // An agent that asked for it sixty times at once started git as often, held a gigabyte and everyone else up
  it('are read one after the other, and no more of them wait than a page would ask for', async () => {
    await open();
    await put(cwd, { 'a.txt': 'one\n' });
    const all = [...Array.from({ length: 30 }, (_, n) => `${at}/patch?path=${n}.txt`), ...Array(30).fill(at)];
    const statuses = (await Promise.all(all.map((path) => house.operator.get(path)))).map(
      ({ status }) => status,
    );
    expect(new Set(statuses.slice(0, 30))).to.deep.equal(new Set([404, 503]));
    expect(statuses.filter((status) => status === 503).length).to.be.greaterThan(10);
    expect((await read()).files).to.have.length(1);
  });

  // It was one file removed and one added: what had changed in it could not be read
  it('show a file that was moved as one, which its agent has staged', async () => {
    await open();
    git(cwd, 'mv', 'a.txt', 'b.txt');
    await put(cwd, { 'b.txt': 'one\ntwo\nthree\nfour\n' });
    const moved = { path: 'b.txt', change: 'renamed', renamedFrom: 'a.txt', added: 1, removed: 0 };
    expect((await read()).files).to.deep.equal([{ ...moved, isCommitted: false }]);
    const { patch } = (await house.operator.get(`${at}/patch?path=b.txt`)).body;
    expect(patch).to.match(/rename from a\.txt\nrename to b\.txt\n[^]*\+four\n$/);
    await done('commit', { message: 'Move it', paths: ['b.txt'] });
    expect(git(cwd, 'status', '--porcelain')).to.equal('');
    expect(git(cwd, 'show', '--name-status', '--format=', '-M')).to.match(/^R\d+\ta\.txt\tb\.txt\n$/);
    expect((await read()).files).to.deep.equal([{ ...moved, isCommitted: true }]);
  });

  it('show a file that was moved as two, where one half is in a commit and the other is not', async () => {
    await open();
    git(cwd, 'mv', 'a.txt', 'b.txt');
    git(cwd, 'rm', '-q', '--cached', 'b.txt');
    git(cwd, 'commit', '-qm', 'half of it');
    const torn = (await read()).files;
    expect(
      torn.map(({ path, change }: { path: string; change: string }) => `${change} ${path}`),
    ).to.have.members(['removed a.txt', 'added b.txt']);
    await done('commit', { message: 'the other half', paths: ['b.txt'] });
    const { count } = await done('discard', { paths: ['b.txt'] });
    expect(count).to.equal(1);
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).to.equal('one\ntwo\nthree\n');
    expect(git(cwd, 'ls-files')).to.equal('a.txt\ngone.txt\n');
    expect(git(cwd, 'status', '--porcelain')).to.equal('');
  });

  it('are committed and merged into the branch that is checked out, with both histories', async () => {
    await open();
    await put(cwd, { 'a.txt': 'ONE\ntwo\nthree\n' });
    await done('commit', { message: 'Write it large' });
    await put(project, { 'b.txt': 'mine\n' });
    git(project, 'add', '.');
    git(project, 'commit', '-qm', 'mine');
    await put(project, { 'draft.txt': 'not committed\n' });
    expect((await read()).merge).to.include({ state: 'ready' });
    const { commit, into } = await done('merge');
    expect(into).to.equal('main');
    expect(git(project, 'rev-parse', 'HEAD').trim()).to.equal(commit);
    expect(await readFile(join(project, 'a.txt'), 'utf8')).to.equal('ONE\ntwo\nthree\n');
    expect(git(project, 'log', '-1', '--format=%s%n%b')).to.match(
      /^Merge troupe\/\w+: Water the plants\nTroupe-Session: /,
    );
    expect(git(project, 'log', '--format=%s')).to.include('Write it large');
    expect(git(project, 'status', '--porcelain')).to.equal('?? draft.txt\n');
    expect(await read()).to.deep.include({ files: [], commits: [] });
    expect((await refused('merge')).error).to.include('main has all changes');
  });

  it('are merged as one commit where that is asked for', async () => {
    await open();
    for (const text of ['1\n', '2\n']) {
      await put(cwd, { 'new.txt': text });
      await done('commit', { message: `Try ${text}` });
    }
    await done('merge', { squash: true, message: 'Add it' });
    expect(git(project, 'log', '--format=%s')).to.equal('Add it\none\n');
    expect((await read()).merge).to.include({ state: 'merged' });
  });

  // A merge takes all of a branch, however few of its files are listed.
  it('are merged also where they are more files than are listed', async () => {
    await open();
    await put(cwd, Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`file-${n}`, 'x\n'])));
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-qm', 'many');
    await done('merge');
    expect(git(project, 'ls-files', 'file-*').trim().split('\n')).to.have.length(1_001);
  });

  it('are shown where both sides have changed the same lines, and nothing is touched', async () => {
    await open();
    await put(cwd, { 'a.txt': 'one\ntheirs\nthree\n' });
    await done('commit', { message: 'theirs' });
    await put(project, { 'a.txt': 'one\nmine\nthree\n' });
    git(project, 'commit', '-qam', 'mine');
    const before = [git(project, 'rev-parse', 'HEAD'), git(project, 'status', '--porcelain')];
    const { merge } = await read();
    expect(merge.state).to.equal('conflicts');
    expect(merge.conflicts).to.have.length(1);
    expect(merge.conflicts[0]).to.include({ path: 'a.txt' });
    expect(merge.conflicts[0].text).to.match(/^<{7} main\nmine\n={7}\ntheirs\n>{7} troupe\/\w+$/);
    const answer = await refused('merge');
    expect(answer.conflicts).to.deep.equal(['a.txt']);
    expect([git(project, 'rev-parse', 'HEAD'), git(project, 'status', '--porcelain')]).to.deep.equal(before);
    expect(await readFile(join(project, 'a.txt'), 'utf8')).to.equal('one\nmine\nthree\n');
  });

  it('are not merged over what a person has not committed', async () => {
    await open();
    await put(cwd, { 'a.txt': 'theirs\n' });
    await done('commit', { message: 'theirs' });
    await put(project, { 'a.txt': 'in no commit\n' });
    expect((await refused('merge')).error).to.include('a.txt');
    expect(await readFile(join(project, 'a.txt'), 'utf8')).to.equal('in no commit\n');
    expect(git(project, 'log', '--format=%s')).to.equal('one\n');
  });

  it('are discarded file by file, and kept aside', async () => {
    await open();
    await put(cwd, { 'a.txt': 'bad\n', 'new.txt': 'good\n', 'worse.txt': 'bad\n' });
    git(cwd, 'rm', '-q', 'gone.txt');
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-qm', 'all of it');
    await put(cwd, { 'later.txt': 'bad\n' });
    const { keptAs, count } = await done('discard', {
      paths: ['a.txt', 'gone.txt', 'worse.txt', 'later.txt'],
    });
    expect(count).to.equal(4);
    const { files, merge } = await read();
    expect(files.map(({ path }: { path: string }) => path)).to.deep.equal(['new.txt']);
    expect(merge.state).to.equal('ready');
    expect(git(project, 'show', `${keptAs}:later.txt`)).to.equal('bad\n');
    expect(git(project, 'show', `${keptAs}:a.txt`)).to.equal('bad\n');
    expect(await readFile(join(cwd, 'gone.txt'), 'utf8')).to.equal('gone\n');
  });

  it('that are discarded take along nothing else that the agent has staged', async () => {
    await open();
    await put(cwd, { 'a.txt': 'bad\n', 'good.txt': 'good\n' });
    git(cwd, 'add', 'a.txt');
    git(cwd, 'commit', '-qm', 'bad');
    git(cwd, 'add', 'good.txt');
    await done('discard', { paths: ['a.txt'] });
    expect((await read()).files).to.deep.equal([
      { path: 'good.txt', change: 'added', added: 1, removed: 0, isCommitted: false, renamedFrom: null },
    ]);
    expect(git(cwd, 'show', '--format=', '--name-only', 'HEAD')).to.equal('a.txt\n');
  });

  // A turn that began in between wrote into files that were being taken back.
  it('are decided on alone: a turn that would begin waits, and what waited decides on what it has seen', async () => {
    const id = await open();
    await put(cwd, { 'a.txt': 'bad\n' });
    const { version } = await read();
    const order: string[] = [];
    let release = (): void => undefined;
    const decided = aloneInFolder({ settings }, id, async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      order.push('decided');
    });
    const turns = worktreeTurns({ settings });
    const turn = turns.beforeTurn(id, 'off').then(() => order.push('turn'));
    const discarded = house.operator.post(`${at}/discard`, { version });
    await read(); // takes as long as they would
    await put(cwd, { 'a.txt': 'other\n' });
    release();
    await Promise.all([decided, turn]);
    expect(order).to.deep.equal(['decided', 'turn']);
    expect((await discarded).body.code).to.equal('VERSION_CONFLICT');
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).to.equal('other\n');
  });

  it('in a folder of a person are those in no commit: named ones are committed or discarded', async () => {
    await open({});
    await put(project, { 'a.txt': 'mine and the agent\n', 'new.txt': 'new\n', 'bad.txt': 'bad\n' });
    expect(await read()).to.deep.include({ kind: 'folder', folder: project, branch: 'main', merge: null });
    await done('commit', { message: 'New', paths: ['new.txt'] });
    expect(git(project, 'status', '--porcelain')).to.equal(' M a.txt\n?? bad.txt\n');
    const { keptAs } = await done('discard', { paths: ['bad.txt', 'a.txt'] });
    expect(git(project, 'status', '--porcelain')).to.equal('');
    expect(git(project, 'show', `${keptAs}:bad.txt`)).to.equal('bad\n');
    expect((await refused('merge')).error).to.include('no branch of its own');
  });

  it('are decided on as they were seen, and not while a turn runs', async () => {
    const id = await open();
    await put(cwd, { 'a.txt': 'one\n' });
    const { version } = await read();
    await put(cwd, { 'a.txt': 'two\n' });
    for (const [what, more] of [
      ['commit', { message: 'x' }],
      ['discard', {}],
      ['merge', {}],
    ] as const) {
      const { status, body } = await house.operator.post(`${at}/${what}`, { version, ...more });
      expect([status, body.code], what).to.deep.equal([409, 'VERSION_CONFLICT']);
    }
    await house.operator.post(`/api/sessions/${id}/message`, { message: 'hang' });
    await poll(
      () => house.operator.get(at),
      ({ body }) => body.isWorking === true,
    );
    expect((await refused('discard')).error).to.include('at work');
    await house.operator.post(`/api/sessions/${id}/stop`);
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).to.equal('two\n');
  });

  it('are a person’s to decide: an agent reads its own and decides none', async () => {
    const id = await open();
    await put(cwd, { 'a.txt': 'one\n' });
    const other = await open({});
    const { version } = (await house.operator.get(`/api/sessions/${id}/changes`)).body;
    for (const what of ['commit', 'discard', 'merge'])
      for (const agent of [id, other]) {
        const { status, body } = await house
          .agent(agent)
          .post(`/api/sessions/${id}/changes/${what}`, { version, message: 'x' });
        expect([status, body.code], what).to.deep.equal([403, 'PERSON_REQUIRED']);
      }
    expect((await house.agent(id).get(`/api/sessions/${id}/changes`)).status).to.equal(200);
    expect((await house.agent(other).get(`/api/sessions/${id}/changes`)).status).to.equal(403);
  });

  it('with a driver or a filter of the repository are not merged: its program is not started', async () => {
    await open();
    const mark = join(settings.home, `ran-${made}`);
    git(project, 'config', 'merge.own.driver', `touch ${mark}`);
    await put(cwd, { '.gitattributes': '*.txt merge=own\n', 'a.txt': 'one\ntheirs\nthree\n' });
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-qm', 'theirs');
    await put(project, { 'a.txt': 'one\nmine\nthree\n' });
    git(project, 'commit', '-qam', 'mine');
    expect((await refused('merge')).error).to.include('merge=own');
    expect(git(project, 'log', '--format=%s')).to.equal('mine\none\n');
    expect(await readFile(mark, 'utf8').catch(() => 'never ran')).to.equal('never ran');
  });

  it('of strange names are paths, and no patterns, options or links to elsewhere', async () => {
    await open();
    const names = ['-rf', '*.txt', ':(top)a.txt', '<img src=x onerror=alert(1)>', 'tab\tand "quote"'];
    await put(cwd, Object.fromEntries(names.map((name) => [name, 'x\n'])));
    const outside = join(settings.home, `outside-${made}`);
    await put(settings.home, { [`outside-${made}`]: 'untouched\n' });
    await rm(join(cwd, 'a.txt'));
    await symlink(outside, join(cwd, 'a.txt'));
    const { files } = await read();
    expect(files.map(({ path }: { path: string }) => path)).to.have.members(['a.txt', ...names]);
    for (const name of names.slice(0, 2)) {
      const { body } = await house.operator.get(`${at}/patch?path=${encodeURIComponent(name)}`);
      expect(body.patch, name).to.include('+x\n');
    }
    await done('commit', { message: 'x', paths: ['*.txt'] });
    await done('discard', { paths: ['-rf'] });
    const rest: { path: string; isCommitted: boolean }[] = (await read()).files;
    // as a pattern, *.txt had taken a.txt along
    expect(rest.find(({ path }) => path === 'a.txt')).to.include({ isCommitted: false });
    expect(rest.map(({ path }) => path)).to.have.members(
      ['a.txt', ...names].filter((name) => name !== '-rf'),
    );
    await done('discard', { paths: ['a.txt'] });
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).to.equal('one\ntwo\nthree\n');
    expect(await readFile(outside, 'utf8')).to.equal('untouched\n');
  });

  /** All of it an agent may write: bits of the index, settings of the repository. By each it had changed nothing. */
  it('are shown however git is told not to look', async () => {
    const pristine = join(settings.home, `pristine-${made}`);
    execFileSync('cp', ['-r', project, pristine]);
    for (const options of [{}, { worktree: true }]) {
      await open(options);
      await put(cwd, { 'a.txt': 'changed\n', 'gone.txt': 'changed\n', 'new.txt': 'new\n' });
      git(cwd, 'update-index', '--skip-worktree', 'a.txt');
      git(cwd, 'update-index', '--assume-unchanged', 'gone.txt');
      await put(settings.home, { 'ignore-all': '*\n' });
      git(cwd, 'config', 'core.excludesFile', join(settings.home, 'ignore-all'));
      git(cwd, 'config', 'core.worktree', pristine);
      const { files } = await read();
      expect(files.map(({ path }: { path: string }) => path)).to.have.members([
        'a.txt',
        'gone.txt',
        'new.txt',
      ]);
      git(cwd, 'config', '--unset', 'core.worktree');
      git(cwd, 'config', '--unset', 'core.excludesFile');
      git(project, 'reset', '-q', '--hard');
    }
  });

  // They went onto the command line of git, which takes 2 MiB
  it('are decided on by paths that are longer than a command line', async () => {
    await open();
    const folder = join(cwd, ...Array.from({ length: 14 }, () => 'd'.repeat(250)));
    await mkdir(folder, { recursive: true });
    const names = Array.from({ length: 600 }, (_, n) => `file-${n}`);
    await put(folder, Object.fromEntries(names.map((name) => [name, ''])));
    const { commit } = await done('commit', { message: 'all' });
    expect(git(cwd, 'show', '--format=', '--shortstat', commit)).to.include('600 files changed');
  });

  // Git passes over such a folder and goes on above, with the lower one for its files: all of them were shown as removed
  it('are those of the repository above where a folder `.git` has no repository in it', async () => {
    const below = join(project, 'below');
    await mkdir(join(below, '.git'), { recursive: true });
    await put(below, { 'b.txt': 'b\n' });
    git(project, 'add', 'below/b.txt');
    git(project, 'commit', '-qm', 'two');
    await open({ cwd: below });
    await put(below, { 'b.txt': 'B\n', 'new.txt': 'new\n' });
    const paths = ({ files }: any): string[] => files.map(({ path }: { path: string }) => path);
    expect(paths(await read())).to.have.members(['b.txt', 'new.txt']);
    await done('commit', { message: 'Below' });
    expect(git(project, 'show', '--format=%s', '--name-only').trim()).to.equal(
      'Below\n\nbelow/b.txt\nbelow/new.txt',
    );
    // and one that is filled meanwhile is a repository, with a branch or without
    git(below, 'init', '-q', '-b', 'own');
    const first = await read();
    expect(first).to.deep.include({ branch: 'own', base: null });
    expect(paths(first)).to.have.members(['b.txt', 'new.txt']);
    await done('commit', { message: 'Its own' });
    git(below, 'checkout', '-q', '--detach');
    await put(below, { 'b.txt': 'b again\n' });
    const second = await read();
    expect(second).to.deep.include({ branch: null, base: git(below, 'rev-parse', 'HEAD').trim() });
    expect(paths(second)).to.deep.equal(['b.txt']);
  });

  // Four of them held all that the gateway reads of its disk
  it('are read past a pipe and a file without end in the place of a repository', async () => {
    const below = join(project, 'below');
    await mkdir(join(below, '.git'), { recursive: true });
    execFileSync('mkfifo', [join(below, '.git', 'HEAD')]);
    expect(await repositoryOf(below)).to.deep.include({ top: project });
    await rm(join(below, '.git', 'HEAD'));
    await writeFile(join(below, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    await symlink('/dev/zero', join(below, '.git', 'commondir'));
    expect(await repositoryOf(below)).to.deep.include({ top: project });
  });

  // git takes a folder that looks like a bare repository for one
  it('are those of the repository that the folder is in, whatever an agent makes of the folder', async () => {
    const below = join(project, 'below');
    await mkdir(below);
    await open({ cwd: below });
    await put(below, { 'b.txt': 'B\n' });
    const before = await read();
    expect(before.base).to.be.a('string');
    await mkdir(join(below, 'objects'));
    await mkdir(join(below, 'refs'));
    await put(below, { HEAD: 'ref: refs/heads/planted\n' });
    expect(await read()).to.deep.include({ branch: before.branch, base: before.base });
  });

  // They were refused with "there is no commit", and what a first turn made could be seen nowhere
  it('are all files of a repository without a commit: taken back, or made its first', async () => {
    const fresh = join(settings.home, `fresh-${made}`);
    await mkdir(fresh);
    git(fresh, 'init', '-q', '-b', 'main');
    await open({ cwd: fresh });
    expect(await read()).to.deep.include({ kind: 'folder', branch: 'main', base: null, files: [] });
    await put(fresh, { 'a.txt': 'one\ntwo\n', 'bad.txt': 'bad\n' });
    expect((await read()).files).to.deep.equal([
      { path: 'a.txt', change: 'added', added: 2, removed: 0, isCommitted: false, renamedFrom: null },
      { path: 'bad.txt', change: 'added', added: 1, removed: 0, isCommitted: false, renamedFrom: null },
    ]);
    expect((await house.operator.get(`${at}/patch?path=a.txt`)).body.patch).to.include('+one\n+two\n');
    // All that a person had there would be deleted
    expect((await refused('discard')).error).to.include('name those that are to go');
    const { keptAs } = await done('discard', { paths: ['bad.txt'] });
    expect(git(fresh, 'show', `${keptAs}:bad.txt`)).to.equal('bad\n');
    await done('commit', { message: 'Begin' });
    expect(git(fresh, 'log', '--format=%s')).to.equal('Begin\n');
    expect(git(fresh, 'status', '--porcelain')).to.equal('');
    // An agent can make it look as if there were no commit
    git(fresh, 'checkout', '-q', '--orphan', 'elsewhere');
    const said = await refused('discard', { paths: ['a.txt'] });
    expect(said.error).to.include('the repository has others');
    expect(await readFile(join(fresh, 'a.txt'), 'utf8')).to.equal('one\ntwo\n');
  });

  it('are none where git keeps nothing', async () => {
    await open({ cwd: undefined });
    expect(await read()).to.deep.include({ kind: 'none', folder: null, files: [], merge: null });
    expect((await refused('commit', { message: 'x' })).error).to.include('in no git repository');
  });
});
