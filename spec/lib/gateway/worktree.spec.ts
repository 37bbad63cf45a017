import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openHouse, type House } from './fixture.js';

describe('a session in a worktree', () => {
  let house: House;
  let repository: string;
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      encoding: 'utf8',
    });
  before(async () => {
    house = await openHouse();
    repository = join(house.home, 'repository');
    await mkdir(repository);
    git('init', '-q');
    await writeFile(join(repository, 'a.txt'), 'one');
    git('add', '.');
    git('commit', '-qm', 'one');
    await writeFile(
      join(repository, '.git', 'hooks', 'post-checkout'),
      `#!/bin/sh\ntouch ${house.home}/hooked\n`,
      { mode: 0o755 },
    );
  });
  after(() => house.close());
  const open = (body: object) =>
    house.operator.post('/api/sessions', { prompt: 'x', cwd: repository, worktree: true, ...body });

  it('works on files of its own, and runs no hook of the repository', async () => {
    const { status, body, text } = await open({});
    expect(status, text).to.equal(201);
    expect(body.cwd).to.equal(join(house.home, 'work', body.id));
    expect(await readFile(join(body.cwd, 'a.txt'), 'utf8')).to.equal('one');
    await writeFile(join(body.cwd, 'a.txt'), 'two');
    expect(await readFile(join(repository, 'a.txt'), 'utf8')).to.equal('one');
    expect(
      await access(join(house.home, 'hooked')).then(
        () => 'ran',
        () => 'did not run',
      ),
    ).to.equal('did not run');
  });

  it('is made once per key, and not in a rehearsal', async () => {
    const count = (): number => git('worktree', 'list').trim().split('\n').length;
    const first = await open({ idempotencyKey: 'once' });
    const made = count();
    expect((await open({ idempotencyKey: 'once' })).body.id).to.equal(first.body.id);
    await house.operator.post('/api/sessions?dryRun=true', { prompt: 'x', cwd: repository, worktree: true });
    expect(count()).to.equal(made);
  });

  it('needs a repository, and a person', async () => {
    expect((await open({ cwd: house.home })).body).to.include({ code: 'BAD_REQUEST', path: 'worktree' });
    expect((await open({ cwd: null })).body).to.include({ code: 'BAD_REQUEST', path: 'worktree' });
    const own = (await house.operator.post('/api/sessions', { prompt: 'x' })).body.id;
    expect(
      (await house.agent(own).post('/api/sessions', { prompt: 'x', cwd: repository, worktree: true })).body
        .code,
    ).to.equal('FORBIDDEN');
  });
});
