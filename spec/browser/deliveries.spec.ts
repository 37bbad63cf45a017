import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { readAnnouncement } from '../../lib/home/announce.js';
import { layoutOf, type Layout } from '../../lib/home/layout.js';
import { startInstance, type Instance } from '../../lib/instance.js';
import { farSide, type FarSide } from '../actors/connectors/far-side.js';
import { makeClient, poll, type Client } from '../lib/gateway/fixture.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';

/** A real gateway with a real webhook: what did not arrive, or may not have, is decided in a page. */
describe('messages of connectors in the console', () => {
  let viewer: Viewer;
  let far: FarSide;
  let home: Layout;
  let instance: Instance;
  let token: string;
  let operator: Client;
  before(async () => {
    viewer = await openBrowser();
    far = await farSide();
    home = layoutOf({ home: await mkdtemp(join(tmpdir(), 'deliveries-')) });
    await writeFile(
      home.config,
      `engines: {default: clerk}\nconnectors:\n  instances:\n    - name: hook\n      type: webhook\n` +
        `      url: ${far.url}\n      secret: a secret of the specs\n`,
    );
    instance = await startInstance({ layout: home, port: 0 });
    token = String((await readAnnouncement(home.announcement))?.token);
    operator = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
    await poll(
      () => operator.get('/api/connectors'),
      ({ body }) => (body as { status: string }[])[0]?.status === 'running',
    );
  });
  after(async () => {
    await viewer.close();
    await instance.close();
    await far.close();
    await rm(home.home, { recursive: true, force: true });
  });
  const open = (at: string, options = {}): Promise<Page> =>
    viewer.open(instance.url, { path: '/', at, token, ...options });
  const arrivals = (words: string): number =>
    far.got.filter(({ method, body }) => method === 'POST' && body.includes(words)).length;
  /** 500: it may have arrived; 400: it did not. */
  async function lose(text: string, status: 500 | 400): Promise<string> {
    far.answers = [{ status }];
    const { body } = await operator.post('/api/connectors/hook/send', { channel: 'general', text });
    return (body as { deliveryId: string }).deliveryId;
  }

  it('are shown with what was to be sent; sent again once, after an undo, and gone everywhere at once', async () => {
    const text = 'Water <img src=x onerror=alert(1)> the cactus';
    const id = await lose(text, 500);
    const inbox = await open('#/inbox');
    await inbox.waitForSelector('.inbox .what >> text=Sent?');
    expect(await inbox.locator('.subject pre').innerText()).to.equal(text);
    expect(await inbox.locator('.subject').innerText()).to.match(/general[^]*operator[^]*May have arrived/i);
    expect(await wrongWith(inbox)).to.deep.equal([]);
    const page = await open('#/connectors');
    const message = page.locator(`[data-unsettled="${id}"]`);
    await message.locator(`pre >> text=${text}`).waitFor();
    expect(await wrongWith(page)).to.deep.equal([]);
    await picture(page, 'console-deliveries');
    await message.locator('[data-choice=again]').click();
    await inbox.waitForSelector('[data-undo] >> text=Send again in');
    await message.locator('button >> text=Undo').click();
    await message.locator('[data-choice=approve] >> text=It arrived').waitFor();
    await until(inbox, "!document.querySelector('[data-undo]')");
    expect(arrivals(text)).to.equal(1);
    await message.locator('[data-choice=again]').click();
    await message.waitFor({ state: 'detached' });
    await page.waitForSelector(`[data-delivery="${id}"] .state.done >> text=sent`);
    await page.waitForSelector(`[data-delivery="${id}"] >> text=sent again by operator`);
    await inbox.waitForSelector('text=Nothing waits.');
    expect(arrivals(text)).to.equal(2);
    await page.context().close();
    await inbox.context().close();
  });

  it('are decided by key, together; and that one arrived which did not is not offered', async () => {
    const failed = await lose('Feed the fish', 400);
    await lose('Sweep the yard', 500);
    const inbox = await open('#/inbox');
    await inbox.click('.inbox .pick:has-text("did not arrive")');
    await inbox.waitForSelector('.subject pre >> text=Feed the fish');
    expect(await inbox.locator('[data-choice]').allInnerTexts()).to.deep.equal(['Send again', 'Give up']);
    for (const box of await inbox.locator('.inbox .list input[type=checkbox]').all()) await box.check();
    await inbox.keyboard.press('s');
    await inbox.waitForSelector('[data-outcome] >> text=Send again: 2 things.');
    await inbox.waitForSelector('text=Nothing waits.');
    while (arrivals('Feed the fish') + arrivals('Sweep the yard') < 4) await far.came(far.got.length + 1);
    expect([arrivals('Feed the fish'), arrivals('Sweep the yard')]).to.deep.equal([2, 2]);
    const { delivery } = (
      await poll(
        () => operator.get(`/api/connectors/hook/deliveries/${failed}`),
        ({ body }) => (body as { delivery: { status: string } }).delivery.status === 'sent',
      )
    ).body as { delivery: { status: string; decision: { choice: string } } };
    expect([delivery.status, delivery.decision.choice]).to.deep.equal(['sent', 'send-again']);
    await inbox.context().close();
  });

  it('break no rule of the policy of the page and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
