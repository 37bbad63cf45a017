import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { testEnvironment } from '../../lib/testing/test-environment.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';

/**
 * Keys that are pressed faster than the page is drawn, and while others decide: they act on what the cursor has come
 * to, or on nothing. Approving the thing above the one that was meant is worse than any delay.
 */
describe('fast keys in the console', () => {
  let house: House;
  let viewer: Viewer;
  let page: Page;
  before(async () => {
    viewer = await openBrowser();
  });
  after(() => viewer.close());
  beforeEach(async () => {
    house = await openHouse();
  });
  afterEach(async () => {
    await page.context().close();
    await house.close();
  });

  const open = async (at: string): Promise<void> => {
    page = await viewer.open(house.gateway.url, { path: '/', at });
  };
  const item = async (title: string): Promise<string> =>
    (await house.operator.post('/api/work-items', { title })).body.workItem.id as string;
  const asking = async (...titles: readonly string[]): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (const title of titles) {
      const id = await item(title);
      await house.operator.post(`/api/work-items/${id}/approval/request`, {
        request: `May I, for ${title}?`,
      });
      ids.push(id);
    }
    return ids;
  };
  const states = (ids: readonly string[]): Promise<unknown[]> =>
    Promise.all(
      ids.map(async (id) => (await house.operator.get(`/api/work-items/${id}`)).body.workItem.approvalState),
    );
  /** All of them before the page can draw. */
  const press = (keys: readonly string[], more = ''): Promise<unknown> =>
    page.evaluate(
      `for (const key of ${JSON.stringify(keys)}) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true ${more} }))`,
    );
  const outcome = (text: string): Promise<unknown> => page.waitForSelector(`[data-outcome] >> text=${text}`);

  it('decide what the cursor has moved to, not what was drawn', async () => {
    const ids = await asking('one', 'two', 'three');
    await open('#/inbox');
    await page.waitForSelector('.detail >> text=May I, for one?');
    await page.waitForSelector('.list li >> nth=2');
    await press(['j', 'a']);
    await outcome('Approve: two');
    expect(await states(ids)).to.deep.equal(['pending', 'approved', 'pending']);
  });

  it('send no note that was written for another', async () => {
    const [, two = ''] = await asking('one', 'two');
    await open('#/inbox');
    await page.waitForSelector('.detail >> text=May I, for one?');
    await page.waitForSelector('.list li >> nth=1');
    await page.keyboard.press('n');
    await page.fill('.detail textarea', 'Only for one.');
    await press(['j', 'a']);
    await outcome('Approve: two');
    const { approvals } = (await house.operator.get(`/api/work-items/${two}/approvals`)).body;
    expect(approvals[0]).to.include({ state: 'approved', note: null });
  });

  it('do not pull the cursor back to where a decision was sent from', async () => {
    const ids = await asking('one', 'two', 'three', 'four');
    await open('#/inbox');
    await page.waitForSelector('.detail >> text=May I, for one?');
    await page.waitForSelector('.list li >> nth=3');
    await press(['a', 'j', 'j']);
    await outcome('Approve: one');
    await page.waitForSelector('.list li >> nth=3', { state: 'detached' });
    await page.waitForSelector('.detail >> text=May I, for three?');
    await press(['r']);
    await outcome('Reject: three');
    expect(await states(ids)).to.deep.equal(['approved', 'pending', 'rejected', 'pending']);
  });

  it('decide once, however often one is pressed before the answer, and once where it is held down', async () => {
    const ids = await asking('one', 'two', 'three');
    await open('#/inbox');
    await page.waitForSelector('.detail >> text=May I, for one?');
    await page.waitForSelector('.list li >> nth=2');
    await press(['a', 'a', 'a']);
    await outcome('Approve: one');
    await page.waitForSelector('.detail >> text=May I, for two?');
    await page.waitForSelector('.list li >> nth=2', { state: 'detached' });
    await press(['a', 'a', 'a'], ', repeat: true');
    await press(['j']);
    await page.waitForSelector('.detail >> text=May I, for three?');
    expect(await states(ids)).to.deep.equal(['approved', 'pending', 'pending']);
  });

  it('do not decide what has come under the cursor because another decided what stood there', async () => {
    const ids = await asking('one', 'two', 'three');
    await open('#/inbox');
    await page.waitForSelector('.detail >> text=May I, for one?');
    await page.waitForSelector('.list li >> nth=2');
    await page.evaluate(`new MutationObserver((_, observer) => {
      if (document.querySelectorAll('.list li').length !== 2) return;
      observer.disconnect();
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
    }).observe(document.body, { childList: true, subtree: true })`);
    await house.operator.post(`/api/work-items/${ids[0]}/approval`, { decision: 'reject' });
    await outcome('What stood here waits no more.');
    await page.waitForSelector('.detail >> text=May I, for two?');
    expect(await states(ids)).to.deep.equal(['rejected', 'pending', 'pending']);
    await page.waitForSelector('.detail [data-choice=approve]');
    // Read, and meant: sooner or later it is decided
    await until(
      page,
      `(document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true })),
      document.querySelector('[data-outcome]').textContent.startsWith('Approve: two'))`,
    );
  });

  // Only keys were refused: a click on its way approved what had slid under it
  it('nor does a button that has come under the finger in this way', async () => {
    const ids = await asking('one', 'two');
    await open('#/inbox');
    await page.waitForSelector('.detail >> text=May I, for one?');
    await page.waitForSelector('.list li >> nth=1');
    await page.evaluate(`new MutationObserver((_, observer) => {
      if (document.querySelectorAll('.list li').length !== 1) return;
      observer.disconnect();
      document.querySelector('.detail [data-choice=approve]').click();
    }).observe(document.body, { childList: true, subtree: true })`);
    await house.operator.post(`/api/work-items/${ids[0]}/approval`, { decision: 'reject' });
    await outcome('What stood here waits no more.');
    await page.waitForSelector('.detail >> text=May I, for two?');
    expect(await states(ids)).to.deep.equal(['rejected', 'pending']);
  });

  it('nor what comes when what was decided here has left', async () => {
    const ids = [...(await asking('one'))];
    await open('#/inbox');
    await page.waitForSelector('.detail >> text=May I, for one?');
    await press(['a']);
    await outcome('Approve: one');
    await page.waitForSelector('.list li', { state: 'detached' });
    await page.evaluate(`new MutationObserver((_, observer) => {
      if (document.querySelectorAll('.list li').length !== 1) return;
      observer.disconnect();
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
    }).observe(document.body, { childList: true, subtree: true })`);
    ids.push(...(await asking('two')));
    await outcome('What stood here waits no more.');
    expect(await states(ids)).to.deep.equal(['approved', 'pending']);
  });

  // Until the page was loaded again, keys said that it was decided already
  it('decide again what was withdrawn elsewhere, and what was refused when it was to count', async () => {
    await house.close();
    const environment = testEnvironment({ startAt: Date.now() });
    house = await openHouse({ holds: true, environment });
    const [id] = await asking('one');
    await open('#/inbox');
    const heldUnder = async (): Promise<string> => {
      await until(
        page,
        `document.querySelector('.detail [data-held]') !== null ||
        (document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true })), false)`,
      );
      return (await house.operator.get('/api/attention')).body.waiting[0].held.decisionId as string;
    };
    await page.waitForSelector('.detail >> text=May I, for one?');
    await house.operator.call('DELETE', `/api/held-decisions/${await heldUnder()}`);
    await page.waitForSelector('.detail [data-choice=approve]');
    await heldUnder();
    await house.operator.post(`/api/work-items/${id}/approval/request`, { request: 'May I, for a house?' });
    await environment.advance(5_000);
    await outcome('Not decided: It has changed');
    await page.waitForSelector('.detail [data-choice=approve]');
    await heldUnder();
  });

  it('open the moves of the work item that was asked for last, and nothing changes beneath the dialog', async () => {
    const [one, two] = [await item('Water the plants'), await item('Paint the door')];
    await open('#/board');
    for (const id of [one, two]) await page.waitForSelector(`[data-item="${id}"]`);
    let late: Route | undefined;
    await page.route(`**/api/work-items/${one}/next`, (route) => void (late = route));
    await page.evaluate(`for (const id of ${JSON.stringify([one, two])})
      document.querySelector('[data-item="' + id + '"] .title').dispatchEvent(new KeyboardEvent('keydown', { key: 'm', bubbles: true }))`);
    await page.waitForSelector(`#moves-title >> text=Move ${two}`);
    await until(page, 'true');
    const answered = page.waitForResponse(`**/api/work-items/${one}/next`);
    await late?.continue();
    await (await answered).finished();
    for (let frames = 0; frames < 10; frames += 1) await until(page, 'true');
    expect(await page.textContent('#moves-title')).to.equal(`Move ${two}`);
  });

  // The focus went to the view a frame after it was drawn: Enter in a search that one had begun at once did nothing
  it('stay in the field that one is in as soon as a view is there', async () => {
    await open('#/files');
    await page.waitForSelector('[aria-label="Words in knowledge"]');
    await viewer.go(page, '#/now');
    await page.waitForSelector('.view.now');
    const stays = page.evaluate(`new Promise((resolve) => {
      const look = async () => {
        const field = document.querySelector('[aria-label="Words in knowledge"]');
        if (field === null) return;
        observer.disconnect();
        field.focus();
        for (let frames = 0; frames < 30; frames += 1) await new Promise(requestAnimationFrame);
        resolve(document.activeElement === field);
      };
      const observer = new MutationObserver(look);
      observer.observe(document.body, { childList: true, subtree: true });
    })`);
    await viewer.go(page, '#/files');
    expect(await stays).to.equal(true);
  });

  it('find Undo where the button was that they pressed, and the buttons where Undo was', async () => {
    await house.close();
    house = await openHouse({ holds: true, environment: testEnvironment({ startAt: Date.now() }) });
    const ids = await asking('one');
    const focus = (selector: string): Promise<void> =>
      until(page, `document.activeElement?.matches(${JSON.stringify(selector)})`);
    for (const [at, place] of [
      ['#/now', '.needs'],
      ['#/inbox', '.detail'],
    ] as const) {
      if (at === '#/now') await open(at);
      else await viewer.go(page, at);
      await page.press(`${place} [data-choice=approve]`, 'Enter');
      await focus(`${place} [data-held] button`);
      await page.keyboard.press('Enter');
      await focus(`${place} [data-choice=approve]`);
    }
    await page.keyboard.press('Enter');
    await focus('.detail [data-held] button');
    await page.keyboard.press('u');
    await outcome('Undone: nothing was decided.');
    await focus('.detail [data-choice=approve]');
    expect(await states(ids)).to.deep.equal(['pending']);
  });

  // While the pressed button had lost the focus to its own work, the view that had just come took it
  it('find Undo where the button was that they pressed as soon as the view was there', async () => {
    await house.close();
    house = await openHouse({ holds: true, environment: testEnvironment({ startAt: Date.now() }) });
    await asking('one');
    await open('#/now');
    await page.waitForSelector('.needs [data-choice=approve]');
    const pressed = page.evaluate(`new Promise((resolve) => {
      const press = () => {
        const button = document.querySelector('.detail [data-choice=approve]');
        if (button === null) return;
        observer.disconnect();
        button.focus();
        button.click();
        resolve();
      };
      const observer = new MutationObserver(press);
      observer.observe(document.body, { childList: true, subtree: true });
    })`);
    await viewer.go(page, '#/inbox');
    await pressed;
    await until(page, `document.activeElement?.matches('.detail [data-held] button')`, 600);
    await page.keyboard.press('Enter');
    await until(page, `document.activeElement?.matches('.detail [data-choice=approve]')`, 600);
  });

  // At 500 it said "and more", and there was no way to see them
  it('reach what waits beyond the first page', async () => {
    await asking('one', 'two', 'three', 'four', 'five');
    await open('#/more');
    // Pages of two in place of 500: the gateway cuts them
    await page.route('**/api/attention?*', async (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '2');
      await route.continue({ url: url.href });
    });
    await page.reload();
    await viewer.go(page, '#/inbox');
    await page.waitForSelector('.heading >> text=2 and more waiting');
    await page.click('button >> text=Show more');
    await page.waitForSelector('.heading >> text=4 and more waiting');
    await page.click('button >> text=Show more');
    await page.waitForSelector('.heading >> text=5 waiting');
    await page.waitForSelector('.list .pick >> text=five');
    expect(await page.locator('button >> text=Show more').count()).to.equal(0);
    // They stay, and stay true
    await asking('six');
    await page.waitForSelector('.heading >> text=/6 waiting|5 and more/');
  });

  it('break no rule of the page and throw nothing', async () => {
    await open('#/now');
    expect(viewer.complaints).to.deep.equal([]);
  });
});
