import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** Every view of the console by day, by night and on a phone: pictures for people, and a checker's verdict. */
describe('the views of the console', () => {
  let house: House;
  let viewer: Viewer;
  let views: readonly (readonly [name: string, at: string, ready: string])[];
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse({ withRoster: true });
    const post = async (path: string, body: object = {}) => (await house.operator.post(path, body)).body;
    const items: string[] = [];
    for (let n = 0; n < 12; n += 1)
      items.push((await post('/api/work-items', { title: `Water the plants in room ${n}` })).workItem.id);
    const [item = '', blocked = ''] = items;
    await post(`/api/work-items/${item}/status`, { status: 'executing' });
    await post(`/api/work-items/${item}/comments`, { text: 'There are **two** questions.' });
    await post(`/api/work-items/${item}/approval/request`, { request: 'May I?' });
    await post(`/api/work-items/${blocked}/status`, { status: 'blocked', note: 'no water' });
    await post('/api/sessions', { prompt: 'fail please', title: 'Fix the fence' });
    const { id } = await post('/api/sessions', { prompt: 'hang', title: 'Plan the garden', employee: 'ann' });
    await house.supervisor.ask('session', id as string, {
      type: 'permission.asked',
      permissionId: 'p1',
      turnId: `${id}:1`,
      tool: 'Bash',
      title: 'npm publish',
      text: '{"command":"npm publish"}',
      waitMs: 600_000,
    });
    const changed = await withConflicts(join(house.home, 'project'), async (cwd) =>
      post('/api/sessions', { prompt: 'x', title: 'Move the pond', cwd, worktree: true }),
    );
    views = [
      ['now', '#/now', '.needs .things'],
      ['inbox', '#/inbox', '.list .pick >> nth=1'],
      ['chat', `#/chat/${id}`, '.asks pre'],
      ['changes', `#/changes/${changed}`, '.changes [data-file] pre'],
      ['new-chat', '#/chat', '.talk.new .composer'],
      ['board', '#/board', '.card >> nth=3'],
      ['item', `#/item/${item}`, '.time-line strong'],
      ['cost', '#/cost', '.figures'],
      ['settings', '#/settings', '.engine'],
      ['more', '#/more', '.rows.big'],
    ];
  });
  /** A session whose work, and a person's, is on the same lines. */
  async function withConflicts(
    project: string,
    open: (cwd: string) => Promise<{ readonly id: string; readonly cwd: string }>,
  ): Promise<string> {
    const git = (folder: string, ...args: string[]): string =>
      execFileSync('git', ['-C', folder, '-c', 'user.name=Ann', '-c', 'user.email=x@x', ...args], {
        encoding: 'utf8',
      });
    const lines = (middle: string): string => `The pond lies\n${middle}\nof the house.\n`;
    await mkdir(project);
    git(project, 'init', '-q', '-b', 'main');
    await writeFile(join(project, 'pond.md'), lines('north'));
    git(project, 'add', '.');
    git(project, 'commit', '-qm', 'Dig a pond');
    const { id, cwd } = await open(project);
    await writeFile(join(project, 'pond.md'), lines('west'));
    git(project, 'commit', '-qam', 'Move it west');
    await writeFile(join(cwd, 'pond.md'), lines('south, which is warmer for the fish that we keep in it,'));
    git(cwd, 'commit', '-qam', 'Move it south');
    return id;
  }
  after(async () => {
    await viewer.close();
    await house.close();
  });

  for (const [sight, options] of Object.entries({
    day: {},
    night: { colorScheme: 'dark' },
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  } as const))
    it(`are drawn by ${sight}: nothing wider than the window, one heading, nothing that a checker finds`, async () => {
      const page = await viewer.open(house.gateway.url, { path: '/', ...options, reducedMotion: 'reduce' });
      for (const [name, at, ready] of views) {
        await viewer.go(page, at);
        await page.waitForSelector(ready, { state: 'attached' });
        await picture(page, `console-${name}-${sight}`);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).to.be.at.most(
          0,
        );
        expect(await page.locator('h1').count(), name).to.equal(1);
        expect(await wrongWith(page, sight === 'night' ? rulesOfColour : undefined), name).to.deep.equal([]);
      }
      await page.context().close();
    });

  it('break no rule of their own policy and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
