import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { delegate } from '../../../../lib/commands/sessions/delegate.js';
import type { App, Settings, Employee } from '../../../../lib/commands/app.js';
import type { RequestedBy } from '../../../../lib/commands/request.js';
import { openSession } from '../../../../lib/commands/sessions/open-session.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { openApp, type AppFixture } from '../app-fixture.js';

describe('where a new session works', () => {
  const asking: RequestedBy = { caller: { type: 'operator' } };
  let home: string;
  let house: AppFixture | undefined;
  const folder = (name: string): string => join(home, 'roots', name);
  const git = (name: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder(name), '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      encoding: 'utf8',
    });
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

  async function app(settings: Partial<Settings> = {}, ann: Partial<Employee> = {}): Promise<App> {
    house = await openApp({
      home,
      settings,
      roster: { employees: [{ name: 'ann', ...ann }, { name: 'bob' }] },
    });
    return house.app;
  }

  async function cwdOf(at: App, input: object): Promise<string> {
    const done = await openSession({ ...asking, app: at }, { prompt: 'x', ...input });
    return isRefusal(done)
      ? `${done.code}: ${done.message}`
      : String((done.body.view as { cwd: unknown }).cwd);
  }

  it("is the folder that was asked for, else its employee's, else the configured one, else one of its own", async () => {
    const at = await app({ sessionCwd: folder('usual') }, { cwd: folder('hers') });
    expect(await cwdOf(at, { employee: 'ann', cwd: folder('usual') })).to.equal(folder('usual'));
    expect(await cwdOf(at, { employee: 'ann' })).to.equal(folder('hers'));
    expect(await cwdOf(at, { employee: 'bob' })).to.equal(folder('usual'));
    expect(
      await cwdOf({ ...at, settings: { ...at.settings, sessionCwd: undefined } }, { employee: 'bob' }),
    ).to.match(/\/work\/[^/]+$/);
  });

  it('is a worktree where its employee or the configuration says so, and never of a folder that was asked for', async () => {
    const at = await app(
      { sessionCwd: folder('usual'), sessionWorktree: true },
      { cwd: folder('hers'), worktree: true },
    );
    expect(await cwdOf(at, { employee: 'ann' })).to.include('/work/');
    expect(await cwdOf(at, { employee: 'bob' })).to.include('/work/');
    expect([worktrees('hers'), worktrees('usual')]).to.deep.equal([2, 2]);
    expect(await cwdOf(at, { employee: 'ann', worktree: false })).to.equal(folder('hers'));
    expect(await cwdOf(at, { cwd: folder('usual') })).to.equal(folder('usual'));
  });

  it('is refused outside the roots, no matter who said so', async () => {
    expect(await cwdOf(await app({}, { cwd: home }), { employee: 'ann' })).to.match(
      /^BAD_REQUEST: cwd must be/,
    );
  });

  it('is a worktree for a delegated task too, but not because an agent says so', async () => {
    const at = await app();
    const input = { task: 'x', employee: 'ann', cwd: folder('hers'), worktree: true };
    const done = await delegate({ ...asking, app: at }, input);
    expect(isRefusal(done) ? done.code : (done.body.session.view as { cwd: string }).cwd).to.include(
      '/work/',
    );
    expect(worktrees('hers')).to.equal(2);
    const agent = isRefusal(done) ? '' : done.body.sessionId;
    expect(
      await delegate(
        {
          app: at,
          caller: { type: 'session', id: agent, ancestors: [] } as unknown as RequestedBy['caller'],
        },
        input,
      ),
    ).to.include({ code: 'FORBIDDEN' }); // only who asks matters here
    expect(worktrees('hers')).to.equal(2);
  });

  it('leaves no worktree behind for a task that no one attempts', async () => {
    const at = await app();
    const input = { task: 'x', employee: 'ann', cwd: folder('hers'), worktree: true };
    const first = await delegate({ ...asking, app: at }, input);
    if (isRefusal(first)) throw new Error(first.message);
    expect(
      await delegate({ ...asking, app: at }, { ...input, workItemId: first.body.workItemId }),
    ).to.include({
      code: 'LIVE_ATTEMPT',
    });
    expect(worktrees('hers')).to.equal(2);
  });
});
