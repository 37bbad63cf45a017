import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';

/** Work items on the board and alone: moved by hand and by key, with the gateway's reasons where they may not. */
describe('the board', () => {
  let house: House;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
  });
  after(() => viewer.close());
  beforeEach(async () => {
    house = await openHouse({ withRoster: true });
  });
  afterEach(() => house.close());

  const open = (at: string, options = {}): Promise<Page> =>
    viewer.open(house.gateway.url, { path: '/', at, ...options });
  const item = async (title: string): Promise<string> =>
    (await house.operator.post('/api/work-items', { title })).body.workItem.id as string;
  const read = async (id: string) => (await house.operator.get(`/api/work-items/${id}`)).body.workItem;
  const card = (status: string, id: string): string => `[data-status=${status}] [data-item="${id}"]`;

  it('is dragged from column to column; a column that is not allowed says why before one lets go', async () => {
    const id = await item('Water the plants');
    const page = await open('#/board');
    await page.waitForSelector(card('backlog', id));
    await page.locator(card('backlog', id)).hover();
    await page.mouse.down();
    await page.locator('[data-status=executing]').hover();
    await page.locator('[data-status=executing]').hover(); // the second is what begins a drag
    await page.waitForSelector('.column.refused .refusal');
    expect(await page.locator('[data-status=assigned]').getAttribute('title')).to.match(
      /assignee|cannot go/i,
    );
    await page.locator('.column.open[data-status=executing]').hover();
    await page.mouse.up();
    await page.waitForSelector(card('executing', id));
    await until(page, 'document.querySelector(".column.refused") === null');
    expect((await read(id)).status).to.equal('executing');
    await page.context().close();
  });

  it('is moved by key and by finger, and asks for the note that the gateway wants', async () => {
    const id = await item('Water the plants');
    const page = await open('#/board');
    await page.waitForSelector(card('backlog', id));
    await page.focus(`${card('backlog', id)} .title`);
    await page.keyboard.press('m');
    await page.waitForSelector('.moves-dialog[open] [data-to=assigned][disabled]');
    await page.waitForSelector('.moves-dialog >> text=This status needs an assignee.');
    await page.click('.moves-dialog [data-to=blocked]');
    await page.waitForSelector('.moves-dialog >> text=/Why is .* blocked/');
    await page.fill('.moves-dialog textarea', 'no water');
    await page.click('.moves-dialog button[type=submit]');
    await page.waitForSelector(card('blocked', id));
    await page.click(`${card('blocked', id)} .title`);
    await page.waitForSelector('.time-line >> text=no water');
    expect((await read(id)).status).to.equal('blocked');
    await page.context().close();
  });

  it('puts back what the gateway refuses, with its words', async () => {
    const id = await item('Water the plants');
    const page = await open('#/board');
    await page.waitForSelector(card('backlog', id));
    await page.click(`${card('backlog', id)} [aria-label="Move ${id}"]`);
    await page.waitForSelector('.moves-dialog[open]');
    // Meanwhile someone else is done with it
    for (const status of ['executing', 'done'])
      await house.operator.post(`/api/work-items/${id}/status`, { status });
    await page.click('.moves-dialog [data-to=executing]');
    await page.waitForSelector('[data-outcome] >> text=/cannot go from done to executing/');
    await page.waitForSelector(card('done', id));
    await page.context().close();
  });

  it('is narrowed by words and people in the address, and laid in lanes', async () => {
    const [first, second] = [await item('Water the plants'), await item('Paint the door')];
    await house.operator.post(`/api/work-items/${first}/assign`, { assignee: 'ann' });
    const page = await open('#/board?assignee=ann');
    await page.waitForSelector(card('assigned', first));
    expect(await page.locator(card('backlog', second)).count()).to.equal(0);
    await viewer.go(page, '#/board?q=paint');
    await page.waitForSelector(card('backlog', second));
    await page.waitForSelector(card('assigned', first), { state: 'detached' });
    await viewer.go(page, '#/board?lanes=assignee');
    await page.waitForSelector('[data-status=assigned] h3 >> text=ann');
    await page.context().close();
  });

  // The gateway gives a hundred at a time: the rest of a column was promised by its button, and never came
  it('shows more of a column than one page', async () => {
    await Promise.all(Array.from({ length: 103 }, (_, n) => item(`Water plant ${n}`)));
    const page = await open('#/board');
    await page.press('[data-status=backlog] > button >> text=3 more', 'Enter'); // a click may miss what scrolls
    await page.waitForSelector('[data-status=backlog] [aria-setsize="103"]');
    await page.waitForSelector('[data-status=backlog] > button', { state: 'detached' });
    await page.context().close();
  });

  it('follows what others do, and adds what one writes', async () => {
    const page = await open('#/board');
    await page.waitForSelector('#column-backlog');
    const id = await item('From elsewhere');
    await page.waitForSelector(card('backlog', id));
    await page.fill('.new-item input', 'From here');
    await page.press('.new-item input', 'Enter');
    await page.waitForSelector('[data-status=backlog] .card >> text=From here');
    await page.context().close();
  });

  it('shows a work item whole: comments, moves and approvals in one line, decided in place', async () => {
    const id = await item('Write the notes');
    const page = await open(`#/item/${id}`);
    await page.waitForSelector('.time-line >> text=created it');
    await page.fill('.comment textarea', 'There are **two** questions.');
    await page.click('.comment button[type=submit]');
    await page.waitForSelector('.time-line strong >> text=two');
    await house.operator.post(`/api/work-items/${id}/approval/request`, { request: 'May I publish?' });
    await page.waitForSelector('.asks >> text=May I publish?');
    await page.click('.asks [data-choice=approve]');
    await page.waitForSelector('.asks', { state: 'detached' });
    expect((await read(id)).approvalState).to.equal('approved');
    await page.context().close();
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
