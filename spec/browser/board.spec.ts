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

  // The gateway gives a hundred at a time: the rest of a column was promised by a button, and never came
  it('shows a column of any length, and reads what one looks at', async () => {
    await Promise.all(Array.from({ length: 103 }, (_, n) => item(`Water plant ${n}`)));
    const page = await open('#/board');
    await page.waitForSelector('#column-backlog >> text=103');
    const read: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/work-items' && searchParams.get('status') === 'backlog')
        read.push(String(searchParams.get('offset')));
    });
    await until(
      page,
      'scrollTo(0, 1e9) ?? document.querySelector(".card:not(.coming)[aria-posinset=\'103\']") !== null',
    );
    expect(new Set(read)).to.include('100');
    const [last] = (await house.operator.get('/api/work-items?status=backlog&limit=1&offset=102')).body
      .workItems;
    await page.waitForSelector(`${card('backlog', last.id)} >> text=${last.title}`);
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

  // Its links were in the API alone
  it('shows what a work item is linked to, says what blocks it, and links it to others', async () => {
    const [id, first, second] = [await item('Paint the door'), await item('Buy paint'), await item('Rest')];
    await house.operator.post(`/api/work-items/${id}/links`, { relation: 'blocked_by', workItemId: first });
    const page = await open(`#/item/${id}`);
    const blocker = `[data-link="blocked_by/${first}"]`;
    await page.waitForSelector(`${blocker} .state >> text=backlog`);
    await page.waitForSelector('[data-blockers="1"]');
    for (const status of ['executing', 'done'])
      await house.operator.post(`/api/work-items/${first}/status`, { status });
    await page.waitForSelector(`${blocker} .state >> text=done`);
    await page.waitForSelector('[data-blockers]', { state: 'detached' });

    await page.selectOption('.add-link select', 'relates');
    await page.fill('.add-link input', 'NON-99');
    await page.click('.add-link button');
    await page.waitForSelector('[aria-labelledby=links-title] [role=alert] >> text=Todo NON-99 not found');
    await page.fill('.add-link input', 'Rest');
    await page.waitForSelector(`#link-found option[value="${second}"]`, { state: 'attached' });
    await page.fill('.add-link input', second);
    await page.press('.add-link input', 'Enter');
    await page.waitForSelector(`[data-link="relates/${second}"] >> text=Rest`);
    await page.waitForSelector('.time-line >> text=linked it: relates to');
    expect((await read(second)).links).to.deep.equal([{ relation: 'relates', id }]);
    await page.click(`[data-link="relates/${second}"] button`);
    await page.waitForSelector(`[data-link="relates/${second}"]`, { state: 'detached' });
    expect((await read(second)).links).to.deep.equal([]);
    await page.click(`${blocker} a`);
    await page.waitForSelector('h1 >> text=Buy paint');
    await page.context().close();
  });

  // A work item could be assigned, which starts nothing; to have it done took another program
  it('delegates a work item with an instruction, and says what came of it or why not', async () => {
    const id = await item('Count the chairs');
    const page = await open('#/now');
    // This gateway has a roster, and no records of an organisation
    const employees = [{ name: 'bob' }, { name: 'ann' }];
    await page.route('**/api/org', (route) => route.fulfill({ json: { employees } }));
    await viewer.go(page, `#/item/${id}`);
    await page.selectOption('.delegate select', 'ann');
    await page.fill('.delegate textarea', 'hang on until they stand still');
    await page.click('.delegate button');
    const link = page.locator('[role=status] >> text=Delegated to ann >> a');
    await link.waitFor();
    const [attempt] = (await house.operator.get(`/api/work-items/${id}/sessions`)).body;
    expect(await link.getAttribute('href')).to.equal(`#/chat/${attempt.id}`);
    await page.waitForSelector('.item .heading [data-status=executing]');
    await page.fill('.delegate textarea', 'Once more');
    await page.click('.delegate button');
    const refused = (
      await house.operator.post('/api/delegations', { task: 'Once more', employee: 'ann', workItemId: id })
    ).body;
    expect(refused.code).to.equal('LIVE_ATTEMPT');
    await page.waitForSelector(`[aria-labelledby=delegate-title] [role=alert] >> text=${refused.error}`);
    expect(await page.inputValue('.delegate textarea')).to.equal('Once more');
    await page.context().close();
  });

  // A wrong tap on a work item's page could not be taken back, while the same one in the inbox could
  it('holds an approval for five seconds where it is decided, in which it can be undone', async () => {
    await house.close();
    house = await openHouse({ withRoster: true, holds: true });
    const id = await item('Write the notes');
    await house.operator.post(`/api/work-items/${id}/approval/request`, { request: 'May I publish?' });
    const page = await open(`#/item/${id}`);
    await page.click('.asks [data-choice=reject]');
    await page.click('.asks [data-held] button >> text=Undo');
    await page.waitForSelector('.asks [data-choice=approve]');
    expect((await read(id)).approvalState).to.equal('pending');
    await page.click('.asks [data-choice=approve]');
    await page.waitForSelector('.asks [data-held] >> text=/Approve in [1-6] s/');
    expect((await read(id)).approvalState).to.equal('pending');
    // Another decides at once, and the held one comes too late
    await house.operator.post(`/api/work-items/${id}/approval`, { decision: 'reject' });
    await page.waitForSelector('.asks', { state: 'detached' });
    expect((await read(id)).approvalState).to.equal('rejected');
    await page.context().close();
  });

  // A card showed when it was last changed, which a comment changes, and neither attempts nor cost
  it('says on a card how often it was tried, at what cost, and since when it has its status', async () => {
    const id = await item('Sweep the yard');
    for (const [n, costUsd] of [0.25, 1.5].entries()) {
      const by = { type: 'system', part: 'specs' } as const;
      const sessionId = `s${n}`;
      const ask = (event: object) =>
        house.supervisor.ask('work-item', id, { ...event, sessionId } as never, { by });
      await ask({ type: 'attempt.started', employee: null });
      await ask({ type: 'attempt.ended', outcome: 'failed', costUsd });
    }
    const { statusSince } = await read(id);
    const { events } = (await house.operator.get(`/api/work-items/${id}`)).body;
    type Entry = { readonly toStatus: string; readonly createdAt: string };
    const moved = (events as Entry[]).findLast(({ toStatus }) => toStatus === 'blocked');
    expect(statusSince).to.equal(moved?.createdAt);
    await house.operator.post(`/api/work-items/${id}/comments`, { text: 'Again?' });
    const page = await open('#/board');
    const shown = page.locator(card('blocked', id));
    await shown.locator('[data-attempts] >> text=2× $1.75').waitFor();
    const since = `blocked since ${statusSince.slice(0, 16).replace('T', ' ')} UTC`;
    expect(await shown.locator('[data-age]').getAttribute('title')).to.equal(since);
    const { updatedAt, ...after } = await read(id);
    expect([after.statusSince, after.attemptCount, after.costUsd]).to.deep.equal([statusSince, 2, 1.75]);
    expect(updatedAt > statusSince, 'a comment changes the item, not its status').to.equal(true);
    await page.context().close();
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
