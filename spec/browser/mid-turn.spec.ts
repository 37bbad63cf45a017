import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { Troupe } from '../lib/cli/troupe.js';
import { makeClient, watch } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';

/** A conversation that is opened, or found again, in the middle of an answer. */
describe('the console in the middle of a turn', () => {
  let troupe: Troupe;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    troupe = await Troupe.create();
  });
  after(async () => {
    await viewer.close();
    await troupe.clear();
  });

  // Deltas are sent once: a page that came later showed nothing before the turn had ended
  it('shows what was said before it came, and goes on without a gap, nothing twice', async () => {
    await mkdir(troupe.home(), { recursive: true, mode: 0o700 });
    const told = (name: string): string => `${troupe.folder}/${name}`;
    const script =
      'wait_for() { while [ ! -e "$1" ]; do sleep 0.05; done; }; echo first\\;; ' +
      `wait_for ${told('second')}; echo second\\;; wait_for ${told('third')}; echo third`;
    await writeFile(
      `${troupe.home()}/config.yaml`,
      `agents: {worker: false}\nengines:\n  default: slow\n  slow: {command: [sh, -c, ${JSON.stringify(script)}]}\n`,
    );
    await troupe.start();
    const { port, token } = await troupe.announcement();
    const url = `http://127.0.0.1:${port}`;
    const headers = { authorization: `Bearer ${token}` };
    const operator = makeClient(port, headers);
    const feed = await watch(`ws://127.0.0.1:${port}/ws?since=0`, headers);
    const { id } = (await operator.post('/api/sessions', { prompt: 'go', title: 'A long one' })).body;
    await feed.until(({ event }) => event === 'session:delta');
    const words = (await operator.get(`/api/sessions/${id}/words`)).body;
    expect(words).to.deep.include({ messageId: `${id}:1:answer`, text: 'first;\n', end: 7 });

    const open = (): Promise<Page> => viewer.open(url, { path: '/', token, at: `#/chat/${id}` });
    const page = await open();
    await page.waitForSelector('[data-live] >> text=first;');
    const gone = await open();
    await gone.waitForSelector('[data-live] >> text=first;');
    await gone.context().setOffline(true);
    await gone.waitForSelector('[data-connection=lost]', { state: 'attached' });
    await writeFile(told('second'), '');
    const live = 'document.querySelector("[data-live] .prose")?.textContent.replace(/\\s+/g, " ").trim()';
    await until(page, `${live} === 'first; second;'`);
    await gone.context().setOffline(false);
    await until(gone, `${live} === 'first; second;'`);
    const late = await open();
    await until(late, `${live} === 'first; second;'`);
    await writeFile(told('third'), '');
    for (const one of [page, gone, late]) {
      await one.waitForSelector('[data-live]', { state: 'detached' });
      const said = await one.locator('.message.assistant .prose').allTextContents();
      expect(said.map((text) => text.replace(/\s+/g, ' ').trim())).to.deep.equal(['first; second; third']);
      await one.context().close();
    }
    expect((await operator.get(`/api/sessions/${id}/words`)).body).to.deep.equal({
      messageId: null,
      text: '',
      end: 0,
      at: null,
    });
    feed.ws.terminate();
  });

  it('breaks no rule of the page and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
