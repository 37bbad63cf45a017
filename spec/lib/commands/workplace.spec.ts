import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { delegate } from '../../../lib/commands/delegate.js';
import type { Asking, Desk, DeskSettings, Employee } from '../../../lib/commands/desk.js';
import { openSession } from '../../../lib/commands/open-session.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openDesk, type DeskHouse } from './desk-fixture.js';

describe('where a new session works', () => {
  const asking: Asking = { by: { type: 'operator' } };
  let home: string;
  let house: DeskHouse | undefined;
  const folder = (name: string): string => join(home, 'roots', name);
  const git = (name: string, ...args: string[]): string => execFileSync('git', ['-C', folder(name), '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { encoding: 'utf8' });
  const worktrees = (name: string): number => git(name, 'worktree', 'list').trim().split('\n').length;

  beforeEach(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'workplace-')));
    for (const name of ['hers', 'usual']) {
      await mkdir(folder(name), { recursive: true });
      git(name, 'init', '-q');
      git(name, 'commit', '-q', '--allow-empty', '-m', 'one');
    }
  });
  afterEach(async () => {
    await house?.close();
    await rm(home, { recursive: true, force: true });
  });

  async function desk(settings: Partial<DeskSettings> = {}, ann: Partial<Employee> = {}): Promise<Desk> {
    house = await openDesk({ home, settings, roster: { employees: [{ name: 'ann', ...ann }, { name: 'bob' }] } });
    return house.desk;
  }

  async function cwdOf(at: Desk, wish: object): Promise<string> {
    const done = await openSession(at, { prompt: 'x', ...wish }, asking);
    return isRefusal(done) ? `${done.code}: ${done.message}` : String((done.value.view as { cwd: unknown }).cwd);
  }

  it('is the folder that was asked for, else its employee\'s, else the configured one, else one of its own', async () => {
    const at = await desk({ sessionCwd: folder('usual') }, { cwd: folder('hers') });
    expect(await cwdOf(at, { employee: 'ann', cwd: folder('usual') })).to.equal(folder('usual'));
    expect(await cwdOf(at, { employee: 'ann' })).to.equal(folder('hers'));
    expect(await cwdOf(at, { employee: 'bob' })).to.equal(folder('usual'));
    expect(await cwdOf({ ...at, settings: { ...at.settings, sessionCwd: undefined } }, { employee: 'bob' })).to.match(/\/work\/[^/]+$/);
  });

  it('is a worktree where its employee or the configuration says so, and never of a folder that was asked for', async () => {
    const at = await desk({ sessionCwd: folder('usual'), sessionWorktree: true }, { cwd: folder('hers'), worktree: true });
    expect(await cwdOf(at, { employee: 'ann' })).to.include('/work/');
    expect(await cwdOf(at, { employee: 'bob' })).to.include('/work/');
    expect([worktrees('hers'), worktrees('usual')]).to.deep.equal([2, 2]);
    expect(await cwdOf(at, { employee: 'ann', worktree: false })).to.equal(folder('hers'));
    expect(await cwdOf(at, { cwd: folder('usual') })).to.equal(folder('usual'));
  });

  it('is refused outside the roots, whoever said so', async () => {
    expect(await cwdOf(await desk({}, { cwd: home }), { employee: 'ann' })).to.match(/^BAD_REQUEST: cwd must be/);
  });

  it('is a worktree for a delegated task too, but not because an agent says so', async () => {
    const at = await desk();
    const wish = { task: 'x', employee: 'ann', cwd: folder('hers'), worktree: true };
    const done = await delegate(at, wish, asking);
    expect(isRefusal(done) ? done.code : (done.value.session.view as { cwd: string }).cwd).to.include('/work/');
    expect(worktrees('hers')).to.equal(2);
    const agent = isRefusal(done) ? '' : done.value.sessionId;
    expect(await delegate(at, wish, { by: { type: 'session', id: agent, ancestors: [] } as unknown as Asking['by'] })).to.include({ code: 'FORBIDDEN' }); // only who asks matters here
    expect(worktrees('hers')).to.equal(2);
  });

  it('leaves no worktree behind for a task that nobody attempts', async () => {
    const at = await desk();
    const wish = { task: 'x', employee: 'ann', cwd: folder('hers'), worktree: true };
    const first = await delegate(at, wish, asking);
    if (isRefusal(first)) throw new Error(first.message);
    expect(await delegate(at, { ...wish, workItemId: first.value.workItemId }, asking)).to.include({ code: 'LIVE_ATTEMPT' });
    expect(worktrees('hers')).to.equal(2);
  });
});
