import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openHouse, poll, type House } from '../lib/gateway/fixture.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** Changes of a session in a browser, with a real repository: moved files, files that are no text, conflicts of both. */
describe('the changes of a session, in the console', () => {
  let house: House;
  let viewer: Viewer;
  let project: string;
  let cwd: string;
  let page: Page;
  let made = 0;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse();
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });
  afterEach(() => page.context().close());

  const git = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Ann', '-c', 'user.email=x@x', ...args], {
      encoding: 'utf8',
    });
  const lines = (middle: string): string => `The pond\nlies\n${middle}\nof the house,\nbehind the shed.\n`;
  const image = (n: number): Buffer => Buffer.from([0x89, 0x50, 0, 0, n, 255, 0, n]);
  beforeEach(async () => {
    project = join(house.home, `project-${(made += 1)}`);
    await mkdir(project);
    git(project, 'init', '-q', '-b', 'main');
    await writeFile(join(project, 'pond.md'), lines('north'));
    await writeFile(join(project, 'pond.png'), image(1));
    git(project, 'add', '.');
    git(project, 'commit', '-qm', 'Dig a pond');
    const { body } = await house.operator.post('/api/sessions', {
      ...{ prompt: 'x', title: 'Move the pond', cwd: project, worktree: true },
    });
    const rested = await poll(
      () => house.operator.get(`/api/sessions/${body.id}`),
      (answer) => answer.body.status === 'idle',
    );
    ({ cwd } = rested.body);
    page = await viewer.open(house.gateway.url, { path: '/', at: '#/more' });
    open = async () => {
      await viewer.go(page, `#/changes/${body.id}`);
      await page.waitForSelector('.changes [data-file]');
    };
  });
  let open = async (): Promise<void> => undefined;
  const row = (name: string): string => `[data-file="${name}"]`;

  // It was one file removed and one added, each with all of its lines
  it('a file that was moved is one file, committed and taken back as one', async () => {
    await mkdir(join(cwd, 'garden'));
    await rename(join(cwd, 'pond.md'), join(cwd, 'garden/water.md'));
    await writeFile(join(cwd, 'garden/water.md'), lines('south'));
    await open();
    const moved = row('garden/water.md');
    await page.waitForSelector(`${moved} .state >> text=renamed`);
    await page.waitForSelector(`${moved} >> text=pond.md → garden/water.md`);
    expect(await page.locator('.changes [data-file]').count()).to.equal(1);
    await page.waitForSelector(`${moved} pre >> text=rename from pond.md`);
    await page.waitForSelector(`${moved} pre .removed >> text=north`);
    await page.waitForSelector(`${moved} pre .added >> text=south`);
    await page.fill('[aria-label="Message of the commit"]', 'Move it');
    await page.click('button >> text=Commit 1 file');
    await page.waitForSelector('text=Committed as');
    expect(git(cwd, 'show', '--name-status', '--format=', '-M')).to.match(
      /^R\d+\tpond\.md\tgarden\/water\.md\n$/,
    );
    await page.waitForSelector(`${moved} .state.wait`, { state: 'detached' }); // read again: it is in a commit now
    await page.click('button >> text=Discard 1 file');
    await page.waitForSelector('text=Discarded.');
    await page.waitForSelector('.changes .empty >> text=Nothing has changed.');
    expect(await readFile(join(cwd, 'pond.md'), 'utf8')).to.equal(lines('north'));
    expect(git(cwd, 'ls-files')).to.equal('pond.md\npond.png\n');
  });

  it('a file that is no text is said to be none, and merged', async () => {
    await writeFile(join(cwd, 'pond.png'), image(2));
    await open();
    await page.waitForSelector(`${row('pond.png')} .lines >> text=no text`);
    await page.waitForSelector(
      `${row('pond.png')} pre >> text=Binary files a/pond.png and b/pond.png differ`,
    );
    await page.fill('[aria-label="Message of the commit"]', 'Paint it');
    await page.click('button >> text=Commit 1 file');
    await page.waitForSelector('text=Committed as');
    await page.click('button >> text=Merge into main');
    await page.waitForSelector('text=Merged into main');
    expect(await readFile(join(project, 'pond.png'))).to.deep.equal(image(2));
  });

  it('what both sides have changed is shown, of a text and of what is none; resolved, it is merged', async () => {
    for (const [folder, side, n] of [
      [project, 'west', 2],
      [cwd, 'south', 3],
    ] as const) {
      await writeFile(join(folder, 'pond.md'), lines(side));
      await writeFile(join(folder, 'pond.png'), image(n));
      git(folder, 'commit', '-qam', `Move it ${side}`);
    }
    await open();
    await page.waitForSelector('#conflicts-title >> text=Conflicts with main 2');
    await page.waitForSelector('[aria-label="Conflicts in pond.md"] >> text=<<<<<<< main');
    const text = await page.innerText('[aria-label="Conflicts in pond.md"]');
    expect(text).to.match(/<{7} main\nwest\n={7}\nsouth\n>{7} troupe\/\w+/);
    await page.waitForSelector('text=One side has removed it, or it is no text.');
    expect(await page.locator('button >> text=Merge into main').count()).to.equal(0);
    await picture(page, 'console-conflicts-day');
    expect(await wrongWith(page)).to.deep.equal([]);
    await page.click('button >> text=Ask its agent to resolve them');
    await page.waitForSelector('text=Asked. It is at work on it.');
    // What the agent would do
    const at = { cwd, stdio: 'ignore' } as const;
    const merge = ['-c', 'user.name=Ann', '-c', 'user.email=x@x', 'merge', '-q', 'main'];
    expect(() => execFileSync('git', merge, at)).to.throw();
    await writeFile(join(cwd, 'pond.md'), lines('south-west'));
    git(cwd, 'checkout', '-q', '--theirs', 'pond.png');
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-qm', 'Resolve it');
    await page.reload();
    await page.click('button >> text=Merge into main');
    await page.waitForSelector('text=Merged into main');
    expect(await readFile(join(project, 'pond.md'), 'utf8')).to.equal(lines('south-west'));
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
