import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/**
 * Every view, by day, by night and on a phone: pictures for people, and what can be said of them without
 * eyes.
 */
describe('the views', () => {
  let house: House;
  let viewer: Viewer;
  let views: readonly (readonly [name: string, at: string, ready: string])[];
  let item: string;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse();
    const items: string[] = [];
    for (let n = 0; n < 30; n += 1)
      items.push(
        (await house.operator.post('/api/work-items', { title: `Water the plants in room ${n}` })).body
          .workItem.id as string,
      );
    for (const id of items.slice(0, 6))
      await house.operator.post(`/api/work-items/${id}/status`, { status: 'executing' });
    for (const id of items.slice(6, 9))
      await house.operator.post(`/api/work-items/${id}/status`, { status: 'blocked', note: 'no water' });
    const parent = (
      await house.operator.post('/api/sessions', { prompt: 'hang on', title: 'Plan the garden' })
    ).body.id as string;
    await house
      .agent(parent)
      .post('/api/sessions', { prompt: 'count the chairs', title: 'Count the chairs' });
    await house.operator.post('/api/sessions', { prompt: 'fail please', title: 'Fix the fence' });
    item = items[0] ?? '';
    await house.operator.post(`/api/work-items/${item}/approval/request`, { request: 'May I?' });
    views = [
      ['fleet', '#/fleet', '.row'],
      ['actor', `#/actor/work-item/${item}`, '.node.lit'],
      ['session', `#/actor/session/${parent}`, '.node.lit'],
      ['time', `#/time?at=${house.supervisor.status.position - 3}`, '.sequence'],
      ['supervision', '#/supervision', '.supervisors'],
      ['runs', '#/runs', '#runs-title'],
    ];
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });

  const sights = {
    day: {},
    night: { colorScheme: 'dark' },
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  } as const;
  for (const [sight, options] of Object.entries(sights)) {
    it(`are drawn by ${sight}, nothing wider than the window`, async () => {
      const page = await viewer.open(house.gateway.url, { ...options, reducedMotion: 'reduce' });
      for (const [name, at, ready] of views) {
        await viewer.go(page, at);
        await page.waitForSelector(ready);
        await house.operator.post(`/api/work-items/${item}/comments`, { text: `seen by ${sight}` });
        await picture(page, `${name}-${sight}`);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).to.be.at.most(
          0,
        );
      }
      await page.context().close();
    });
  }

  it('name every control and every part for a screen reader, with one heading of the first rank', async () => {
    const page = await viewer.open(house.gateway.url);
    for (const [name, at, ready] of views) {
      await viewer.go(page, at);
      await page.waitForSelector(ready);
      expect(await page.evaluate(nameless), name).to.deep.equal([]);
      expect(await page.locator('h1').count(), name).to.equal(1);
      expect(await page.locator('main').count(), name).to.equal(1);
      expect(await page.locator('nav [aria-current=page]').count(), name).to.equal(1);
    }
    await page.context().close();
  });

  it('can be walked through with the keyboard: first the way to the view, then the views, then what is in it', async () => {
    const page = await viewer.open(house.gateway.url);
    await page.waitForSelector('.row');
    await page.waitForSelector('nav .count >> text=/^5/');
    const walked: string[] = [];
    await page.evaluate('document.activeElement.blur()');
    for (let n = 0; n < 9; n += 1) {
      await page.keyboard.press('Tab');
      walked.push(await page.evaluate('document.activeElement.textContent.trim()'));
    }
    expect(walked[0]).to.equal('Skip to the view');
    expect(walked.slice(1, 8)).to.deep.equal([
      'Troupe',
      'Waiting5 1 waits for a decision, 4 stopped',
      'Fleet',
      'Time',
      'Supervision',
      'Runs',
      'Find',
    ]);
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open] >> text=Keys');
    await page.keyboard.press('Escape');
    await page.context().close();
  });

  // The way to an actor by its id was behind a key alone, and a phone has no keys.
  it('lead to an actor by its id with a finger, from every view', async () => {
    const page = await viewer.open(house.gateway.url, sights.phone);
    for (const [name, at, ready] of views) {
      await viewer.go(page, at);
      await page.waitForSelector(ready);
      await page.tap('button.find');
      await page.fill('#jump', 'nobody');
      await page.tap('dialog.jump button[type=submit]');
      await page.waitForSelector('dialog.jump [role=status] >> text=No actor of any kind has this id');
      await page.fill('#jump', item);
      await page.tap('dialog.jump button[type=submit]');
      await page.waitForSelector('dialog.jump', { state: 'hidden' });
      await page.waitForSelector('.node.lit');
      expect(await page.evaluate('location.hash'), name).to.include(item);
    }
    await page.context().close();
  });

  it('save a bug bundle as a file, without what people wrote', async () => {
    const page = await viewer.open(house.gateway.url, { at: '#/time', acceptDownloads: true });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('text=Export the log up to here'),
    ]);
    expect(download.suggestedFilename()).to.match(/^troupe-\d+-\d+\.json$/);
    const text = await readFile(await download.path(), 'utf8');
    expect(JSON.parse(text)).to.include({ format: 'troupe-bundle' });
    expect(text).to.not.include('seen by');
    await page.context().close();
  });

  it('break no rule of their own policy and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});

/** Controls, images and regions without a name, as a screen reader would meet them. */
const nameless = `[...document.querySelectorAll('button, a, input, [role=img], [role=region], [role=group], [role=listbox], section, nav')]
  .filter((one) => !one.closest('[aria-hidden=true]'))
  .filter((one) => !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.textContent.trim() || one.labels?.length || one.title))
  .map((one) => one.outerHTML.slice(0, 120))`;
