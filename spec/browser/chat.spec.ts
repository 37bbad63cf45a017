import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { foundMax } from '../../machines/session/transcript.js';
import { Troupe } from '../lib/cli/troupe.js';
import { makeClient, openHouse, poll, type House } from '../lib/gateway/fixture.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';
import { foundMarkup, hostileWords } from './hostile-words.js';

/** Talking with an agent in the console. */
describe('a conversation in the console', () => {
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
  });
  after(() => viewer.close());

  describe('with a gateway that stays', () => {
    let house: House;
    beforeEach(async () => {
      house = await openHouse();
    });
    afterEach(() => house.close());
    const open = (at: string): Promise<Page> => viewer.open(house.gateway.url, { path: '/', at });
    const session = async (prompt: string, title = 'A talk'): Promise<string> =>
      (await house.operator.post('/api/sessions', { prompt, title })).body.id as string;
    const answered = (page: Page, text: string) => page.waitForSelector(`.message.assistant >> text=${text}`);

    it('shows what is said while it is said, and once where it is stored', async () => {
      const id = await session('first');
      const page = await open(`#/chat/${id}`);
      await answered(page, 'did: first');
      await page.fill('.composer textarea', 'stream and hang');
      await page.press('.composer textarea', 'Enter');
      await page.waitForSelector('[data-live] .prose >> text=did');
      await page.fill('.composer textarea', 'second');
      await page.press('.composer textarea', 'Enter');
      await answered(page, 'did: second');
      await page.waitForSelector('[data-live]', { state: 'detached' });
      const said = '[...document.querySelectorAll(".message.assistant")].map((one) => one.textContent)';
      expect(
        ((await page.evaluate(said)) as string[]).filter((text) => text.includes('did: second')),
      ).to.have.length(1);
      expect(await page.locator('.composer textarea').inputValue()).to.equal('');
      await page.context().close();
    });

    it('writes Markdown as nodes', async () => {
      const id = await session(
        '# Head\n\n- one\n- **two**\n\n```ts\nconst a = 1 < 2;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[link](https://example.org/x) ~~no~~',
      );
      const page = await open(`#/chat/${id}`);
      await page.waitForSelector('.assistant .prose strong >> text=two');
      await page.waitForSelector('.assistant .prose pre code >> text=const a = 1 < 2;');
      await page.waitForSelector('.assistant .prose td >> text=2');
      await page.waitForSelector('.assistant .prose a[href="https://example.org/x"][rel~=noopener]');
      await page.context().close();
    });

    it('offers what waits in the queue to be taken back, and stops', async () => {
      await house.close();
      const settings = {
        home: tmpdir(),
        sessionRoots: [],
        interruptOnNewMessage: false,
        turnDeadlineMs: 60_000,
      };
      house = await openHouse({ settings });
      const id = await session('hang');
      await house.operator.post(`/api/sessions/${id}/queue/pause`);
      await house.operator.post(`/api/sessions/${id}/message`, { message: 'later, please' });
      const page = await open(`#/chat/${id}`);
      await page.waitForSelector('.queue >> text=later, please');
      // The order of what waits could not be changed
      for (const message of ['second', 'third'])
        await house.operator.post(`/api/sessions/${id}/message`, { message });
      await page.waitForSelector('.queue li >> nth=2');
      await page.click('[aria-label="Move up: third"]');
      const order = async () =>
        (await house.operator.get(`/api/sessions/${id}/queue`)).body
          .filter(({ status }: { status: string }) => status === 'pending')
          .map(({ prompt }: { prompt: string }) => prompt);
      const shows = (words: readonly string[]) =>
        until(
          page,
          `[...document.querySelectorAll('.queue li .clip')].map((one) => one.textContent).join() === '${words.join()}'`,
        );
      await shows(['later, please', 'third', 'second']);
      await page.keyboard.press('Alt+ArrowUp'); // the focus is where it was
      await shows(['third', 'later, please', 'second']);
      // What was read between two moves put the second one back, and the next key moved from there
      let moves = 0;
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/queue/*/move', async (route) => {
        moves += 1;
        if (moves === 2) await released;
        await route.fallback();
      });
      const read = page.waitForResponse(/\/queue$/);
      await page.keyboard.press('Alt+ArrowDown');
      await page.keyboard.press('Alt+ArrowDown');
      await (await read).finished();
      await shows(['later, please', 'second', 'third']);
      release();
      for (const key of ['Alt+ArrowDown', 'Alt+ArrowUp']) await page.keyboard.press(key);
      await page.waitForSelector('.queue [role=status] >> text=Number 2 of 3', { state: 'attached' });
      await shows(['later, please', 'third', 'second']);
      await poll(order, (words) => words.join() === 'later, please,third,second');
      expect(await wrongWith(page)).to.deep.equal([]);
      await picture(page, 'chat-queue');
      await page.reload();
      await shows(['later, please', 'third', 'second']);
      for (const words of ['third', 'second']) await page.click(`[aria-label="Take back: ${words}"]`);
      await page.waitForSelector('.queue li >> nth=1', { state: 'detached' });
      await page.fill('.composer textarea', '');
      await page.click('.queue >> text=Take back');
      await page.waitForSelector('.queue li', { state: 'detached' });
      // To be written again: what was taken back was lost
      await until(page, `document.querySelector('.composer textarea').value === 'later, please'`);
      await page.click('.queue >> text=Resume');
      await page.waitForSelector('.queue', { state: 'detached' });
      await page.click('.talk-head >> text=Stop');
      await page.waitForSelector('[data-mood=stopped]');
      await page.waitForSelector('.quiet-line >> text=It was stopped. A message starts it again.');
      await page.context().close();
    });

    // file names are an agent's words: no markup, no patterns, no options
    it('shows what was changed, takes back what is marked, commits and merges the rest', async () => {
      const project = join(house.home, 'project');
      const git = (...args: string[]): string =>
        execFileSync('git', ['-C', project, ...args], { encoding: 'utf8' });
      await mkdir(project);
      git('init', '-q', '-b', 'main');
      await writeFile(join(project, 'a.txt'), 'one\n');
      git('add', '.');
      git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'one');
      const { body } = await house.operator.post('/api/sessions', {
        prompt: 'x',
        cwd: project,
        worktree: true,
      });
      const hostile = '<img src=x onerror="document.title=1">';
      await writeFile(join(body.cwd, 'a.txt'), 'one\n<b>two</b>\n');
      await writeFile(join(body.cwd, hostile), 'bad\n');
      const page = await open(`#/chat/${body.id}`);
      await answered(page, 'did: x');
      await page.click('.talk-head >> text=Changes');
      await page.click('[data-file="a.txt"] .file-open');
      await page.waitForSelector('[data-file="a.txt"] pre .added >> text=+<b>two</b>');
      expect(await page.locator('[data-file="a.txt"] a').getAttribute('href')).to.equal(
        `vscode://file/${body.cwd.slice(1)}/a.txt`,
      );
      await page.waitForSelector(`.file-open >> text=${hostile}`);
      expect(await page.locator('main img').count()).to.equal(0);
      await page.getByLabel(`Mark ${hostile}`).check();
      await page.click('text=Discard 1 file');
      await page.waitForSelector('[role=status] >> text=A copy is kept');
      await until(page, 'document.querySelectorAll("[data-file]").length === 1');
      await page.fill('[aria-label="Message of the commit"]', 'Add two');
      await page.click('text=Commit 1 file');
      await page.click('text=Merge into main');
      await page.waitForSelector('text=main has all of it');
      expect(git('log', '--format=%s').split('\n')).to.include.members(['Add two', 'one']);
      expect(git('status', '--porcelain')).to.equal('');
      await page.context().close();
    });

    it('asks for a permission where one talks, with the command as it would run', async () => {
      const id = await session('hang');
      const page = await open(`#/chat/${id}`);
      await page.waitForSelector('[data-mood=queued]');
      await house.supervisor.ask('session', id, {
        type: 'permission.asked',
        permissionId: 'p1',
        turnId: `${id}:1`,
        tool: 'Bash',
        title: 'rm -r build',
        text: '{"command":"rm -r build"}',
        waitMs: 600_000,
      });
      await page.waitForSelector('.asks pre >> text=rm -r build');
      await page.click('.asks [data-choice=reject]');
      await page.waitForSelector('.asks', { state: 'detached' });
      expect((await house.operator.get(`/api/sessions/${id}/permissions`)).body[0].state).to.equal('denied');
      await page.context().close();
    });

    // A permission was given at once where one talks, and could be taken back only in the inbox
    it('holds the answer to a permission for five seconds, in which it can be undone', async () => {
      const holding = await openHouse({ holds: true });
      const { id } = (await holding.operator.post('/api/sessions', { prompt: 'hang', title: 'A talk' })).body;
      const page = await viewer.open(holding.gateway.url, { path: '/', at: `#/chat/${id}` });
      await page.waitForSelector('[data-mood=queued]');
      await holding.supervisor.ask('session', id, {
        type: 'permission.asked',
        permissionId: 'p1',
        turnId: `${id}:1`,
        tool: 'Bash',
        title: 'rm -r build',
        text: '{"command":"rm -r build"}',
        waitMs: 600_000,
      });
      const state = async (): Promise<string> =>
        (await holding.operator.get(`/api/sessions/${id}/permissions`)).body[0].state;
      await page.click('.asks [data-choice=approve]');
      await page.click('.asks [data-held] button >> text=Undo');
      await page.waitForSelector('.asks [data-choice=reject]');
      expect(await state()).to.equal('pending');
      await page.click('.asks [data-choice=reject]');
      await page.waitForSelector('.asks [data-held] >> text=/Deny in [1-6] s/');
      expect(await state()).to.equal('pending');
      await page.waitForSelector('.asks', { state: 'detached' });
      expect(await state()).to.equal('denied');
      await page.context().close();
      await holding.close();
    });

    it('begins a chat with the permissions that were chosen, and says what each means', async () => {
      const page = await open('#/chat');
      const mode = page.locator('.new-session select').nth(1);
      const about = page.locator('#new-session-permissions');
      expect(await about.textContent()).to.match(/employee's file/);
      await mode.selectOption('edits');
      await page.waitForSelector('#new-session-permissions >> text=programs ask first');
      await page.fill('.composer textarea', 'tidy up');
      await page.press('.composer textarea', 'Enter');
      await answered(page, 'did: tidy up');
      const [{ toolPolicy }] = (await house.operator.get('/api/sessions?limit=0')).body;
      expect(toolPolicy.mode).to.equal('allow-list');
      expect(toolPolicy.allow).to.have.length(1);
      await page.context().close();
    });

    it('opens with 10,000 messages at its end, and reaches back a page at a time', async () => {
      const id = await session('first of all');
      const page = await open('#/chat');
      await page.click('.sessions >> text=ready');
      await answered(page, 'did: first of all');
      for (let n = 0, last = Date.now(); n < 10_000; n += foundMax) {
        while (Date.now() <= last) await new Promise(setImmediate); // each later than the one before
        last = Date.now();
        await house.supervisor.ask('session', id, {
          type: 'transcript.found',
          entries: Array.from({ length: foundMax }, (_, m) => ({
            id: `line-${n + m}`,
            role: m % 2 === 0 ? ('user' as const) : ('assistant' as const),
            content: `line ${n + m} of **many**`,
            timestamp: last,
          })),
        });
      }
      await page.waitForSelector('.messages li:last-child >> text=line 9999 of many');
      await page.reload();
      await page.waitForSelector('.messages li:last-child >> text=line 9999 of many');
      expect(await page.locator('.messages li').count()).to.equal(100);
      const requests: string[] = [];
      page.on('request', (request) => requests.push(new URL(request.url()).pathname));
      await page.evaluate('document.querySelector(".transcript").scrollTop = 0');
      await page.waitForSelector('.messages li >> nth=150', { state: 'attached' });
      // What one was reading stays where it was: the first row that was there is still in view
      await until(page, 'document.querySelector(".transcript").scrollTop > 500');
      expect(requests.filter((path) => path.endsWith('/messages')).length).to.be.at.most(3);
      await page.click('.latest');
      await until(
        page,
        '((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 48)(document.querySelector(".transcript"))',
      );
      await page.context().close();
    });

    it('shows what outsiders wrote as text, wherever it stands', async () => {
      const page = await open('#/board');
      await page.evaluate('window.struck = 0');
      for (const text of hostileWords) {
        const id = await session(text, text.slice(0, 200));
        const item = (await house.operator.post('/api/work-items', { title: text, body: text })).body.workItem
          .id as string;
        await house.operator.post(`/api/work-items/${item}/comments`, { text });
        await house.operator.post(`/api/work-items/${item}/approval/request`, { request: text });
        for (const at of [`#/chat/${id}`, `#/item/${item}`, '#/inbox', '#/now', '#/board']) {
          await viewer.go(page, at);
          await page.waitForSelector(at.startsWith('#/chat') ? '.message.assistant' : 'main h1');
        }
        await viewer.go(page, `#/chat/${id}`);
        await page.waitForSelector('.message.user');
        expect(await page.locator('.message.user .prose').textContent()).to.equal(text);
      }
      expect(await page.evaluate('window.struck')).to.equal(0);
      expect(await page.evaluate(foundMarkup)).to.deep.equal([]);
      await page.context().close();
    });
  });

  it('survives the death of its gateway in mid-turn: goes on by itself, and says truly what was cut off', async () => {
    const troupe = await Troupe.create();
    try {
      await mkdir(troupe.home(), { recursive: true, mode: 0o700 });
      await writeFile(
        `${troupe.home()}/config.yaml`,
        'agents: {worker: false}\nengines:\n  default: slow\n  slow: {command: [sh, -c, "echo the first half; exec sleep 600"]}\n',
      );
      let gateway = await troupe.start();
      const { port, token } = await troupe.announcement();
      const operator = makeClient(port, { authorization: `Bearer ${token}` });
      const { id } = (await operator.post('/api/sessions', { prompt: 'go', title: 'A long one' })).body;
      const page = await viewer.open(`http://127.0.0.1:${port}`, { path: '/', token, at: `#/chat/${id}` });
      await page.waitForSelector('[data-mood=working]');
      await gateway.kill('SIGKILL');
      await page.waitForSelector('[data-connection=lost]', { state: 'attached' });
      await page.waitForSelector('[role=alert] >> text=The gateway is gone');
      await page.fill('.composer textarea', 'are you there?');
      await page.press('.composer textarea', 'Enter');
      await page.waitForSelector('.composer [role=status] >> text=The gateway does not answer.');
      expect(await page.locator('.composer textarea').inputValue()).to.equal('are you there?');
      gateway = await troupe.start(undefined, '--port', String(port));
      await page.waitForSelector('[data-connection=live]', { state: 'attached' });
      await page.waitForSelector('[data-mood=interrupted]');
      await page.waitForSelector('.quiet-line >> text=The turn was cut off.');
      expect(await page.locator('[data-gaps]').getAttribute('data-gaps')).to.equal('0');
      await page.press('.composer textarea', 'Enter');
      await page.waitForSelector('.message.user >> text=are you there?');
      await page.context().close();
      await gateway.kill('SIGTERM');
    } finally {
      await troupe.clear();
    }
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
