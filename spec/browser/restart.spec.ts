import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Troupe, type Running } from '../lib/cli/troupe.js';
import { makeClient, type Client } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';

/**
 * A page that is left open while its gateway is killed: it says so, and goes on where it was, without a gap.
 */
describe('a page over the death of its gateway', () => {
  let troupe: Troupe;
  let viewer: Viewer;
  let gateway: Running;
  let port: number;
  let operator: Client;
  let token: string;
  before(async () => {
    viewer = await openBrowser();
  });
  after(() => viewer.close());
  beforeEach(async () => {
    troupe = await Troupe.create();
    gateway = await troupe.start();
    ({ port, token } = await troupe.announcement());
    operator = makeClient(port, { authorization: `Bearer ${token}` });
  });
  afterEach(() => troupe.clear());

  const url = (): string => `http://127.0.0.1:${port}`;
  const item = async (client: Client, title: string): Promise<string> =>
    (await client.post('/api/work-items', { title })).body.workItem.id as string;
  const told = (page: Page): Promise<number[]> =>
    page.evaluate(
      '[...document.querySelectorAll(".activity [data-seq]")].map((row) => Number(row.dataset.seq)).sort((a, b) => a - b)',
    );

  it('lights the state that was restored, not the one in which it began', async () => {
    const id = await item(operator, 'survives');
    await operator.post(`/api/work-items/${id}/status`, { status: 'executing' });
    await gateway.kill('SIGKILL');
    gateway = await troupe.start(undefined, '--port', String(port));
    const page = await viewer.open(url(), { token, at: `#/actor/work-item/${id}` });
    await page.waitForSelector('[data-state="work.executing"].lit');
    expect(await page.locator('[data-state="work.backlog"].lit').count()).to.equal(0);
    await gateway.kill('SIGKILL');
    await page.waitForSelector('[data-connection=lost]');
    await page.waitForSelector('[role=alert] >> text=The gateway is gone');
    gateway = await troupe.start(undefined, '--port', String(port));
    await page.waitForSelector('[data-connection=live]');
    await page.waitForSelector('[data-state="work.executing"].lit');
    await page.context().close();
  });

  it('misses nothing that happened while it was cut off', async () => {
    const page = await viewer.open(url(), { token });
    const id = await item(operator, 'before');
    await page.waitForSelector('.activity >> text=created');
    const [first] = await told(page);
    await gateway.kill('SIGKILL');
    await page.waitForSelector('[data-connection=lost]');
    // Another gateway of the same home, where the page does not look: what happens there is surely missed.
    gateway = await troupe.start();
    const elsewhere = makeClient((await troupe.announcement()).port, { authorization: `Bearer ${token}` });
    for (let n = 0; n < 12; n += 1)
      await elsewhere.post(`/api/work-items/${id}/comments`, { text: `while you were away ${n}` });
    await elsewhere.post(`/api/work-items/${id}/status`, { status: 'blocked', note: 'away' });
    await gateway.kill('SIGTERM');
    expect(await page.locator('[data-connection]').getAttribute('data-connection')).to.equal('lost');
    gateway = await troupe.start(undefined, '--port', String(port));
    await page.waitForSelector('[data-connection=live]');
    await page.waitForSelector('.activity >> text=blocked');
    const last = await item(operator, 'after');
    await page.waitForSelector(`.activity >> text=${last}`);
    await until(
      page,
      `document.querySelector('[data-head]').textContent.replace(/\\D/g, '') === [...document.querySelectorAll('.activity [data-seq]')][0].dataset.seq`,
    );
    const seqs = await told(page);
    expect(seqs[0]).to.equal(first);
    expect(seqs).to.deep.equal(Array.from({ length: seqs.length }, (_, n) => (first ?? 0) + n));
    expect(seqs.length).to.be.greaterThan(14);
    expect(await page.locator('[data-gaps]').getAttribute('data-gaps')).to.equal('0');
    await page.waitForSelector('.row .state >> text=blocked');
    await page.context().close();
  });
});
