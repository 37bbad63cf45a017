import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';

/** Who is burnt asks what is stuck, and why: one view that answers it, and ends it with a click. */
describe('what waits, in a browser', () => {
  let house: House;
  let viewer: Viewer;
  let folder: string;
  let page: Page;
  const items: string[] = [];
  const post = async (path: string, body: object = {}) => {
    const answer = await house.operator.post(path, body);
    expect(answer.status, answer.text).to.be.below(300);
    return answer.body;
  };
  const rows = (): Promise<string[]> =>
    page.locator('.waiting [data-problem=decision] th > a').allInnerTexts();

  before(async () => {
    viewer = await openBrowser();
    folder = await mkdtemp(join(tmpdir(), 'waiting-'));
    house = await openHouse({ withRoster: true, evidence: await openEvidence({ standard: folder }) });
    for (const title of ['Publish the report', 'Buy new chairs', 'Move the archive <b>now</b>']) {
      const { workItem } = await post('/api/work-items', { title });
      await post(`/api/work-items/${workItem.id}/approval/request`, { request: 'May I?' });
      items.push(workItem.id as string);
    }
    const gate = { kind: 'approval', approvalRef: 'go', description: 'Go on?' };
    const { definition } = await post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        title: 'Ship it',
        concurrency: 1,
        nodes: [
          { id: 'ask', type: 'gate', label: 'Ask', gate },
          { id: 'send', type: 'step', label: 'Send', actor: { kind: 'noop' } },
        ],
        edges: [{ id: 'e', from: 'ask', to: 'send' }],
      },
    });
    for (let n = 0; n < 3; n += 1) await post(`/api/workflow-definitions/${definition.id}/run`, {});
    await post('/api/sessions', { prompt: 'fail please', title: 'Fix the fence' });
    page = await viewer.open(house.gateway.url, { at: '#/waiting', reducedMotion: 'reduce' });
    await page.waitForSelector('.waiting tbody tr >> nth=3');
    await page.waitForSelector('.waiting >> text=Fix the fence');
  });
  after(async () => {
    await viewer.close();
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows on whom each waits, since when, and says by how much in the navigation', async () => {
    expect((await rows()).sort()).to.deep.equal([
      'Buy new chairs: May I?',
      'Move the archive <b>now</b>: May I?',
      'Publish the report: May I?',
      'Ship it: ask (approval)',
    ]);
    expect(await page.locator('.waiting tr:has-text("Buy new")').innerText()).to.match(/approval\s+chief/);
    // Every row of the list: four for a decision, two runs that are queued, a session in error
    await page.waitForSelector('nav .count >> text=/^7/');
    expect(await page.locator('.waiting tbody tr').count()).to.equal(7);
    // The number mixed kinds and did not say of what it was
    const counted = '4 wait for a decision, 1 stopped, 2 queued, silent or long at work';
    expect(await page.locator('.heading p').innerText()).to.equal(counted);
    expect(await page.locator('nav a:has(.count)').getAttribute('title')).to.equal(
      `Waiting (g w): ${counted}`,
    );
    expect(await page.locator('nav .count').innerText()).to.include(counted);
    expect(await page.locator('.waiting tr:has-text("Fix the fence")').innerText()).to.match(
      /Fix the fence[^]*It broke\.[^]*error/,
    );
    expect(await wrongWith(page), 'by day').to.deep.equal([]);
    await picture(page, 'waiting-day');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await wrongWith(page, rulesOfColour), 'by night').to.deep.equal([]);
    await picture(page, 'waiting-night');
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('finds by words, and stands as it was left after Back', async () => {
    await page.fill('.filters input', 'archive move');
    await page.waitForSelector('.waiting tbody tr:only-child');
    expect(await page.evaluate('location.hash')).to.equal('#/waiting?find=archive+move');
    expect(await rows()).to.deep.equal(['Move the archive <b>now</b>: May I?']);
    await page.click('.waiting tbody th > a');
    await page.waitForSelector('#actor-title');
    await page.goBack();
    await page.waitForSelector('.waiting tbody tr:only-child');
    expect(await page.inputValue('.filters input')).to.equal('archive move');
    await page.fill('.filters input', '');
    await page.selectOption('.filters select >> nth=0', 'gate');
    await page.waitForSelector('.waiting tbody tr:only-child');
    expect(await rows()).to.deep.equal(['Ship it: ask (approval)']);
    await page.selectOption('.filters select >> nth=0', '');
    await page.click('.waiting thead >> text="What, and why"');
    await page.waitForSelector('th[aria-sort=ascending] >> text=What');
    expect(await rows()).to.deep.equal([...(await rows())].sort());
  });

  // Filters knew the decisions alone: what had stopped, was queued or was a dead letter was listed whatever was chosen
  it('filters by state, who, age and words, and sorts by any column, over all rows, as the address says', async () => {
    const shown = (): Promise<string[]> => page.locator('.waiting tbody th > a').allInnerTexts();
    const choose = async (name: string, value: string): Promise<void> => {
      await page.selectOption(`.filters label:has-text("${name}") select`, value);
    };
    await viewer.go(page, '#/waiting');
    await page.waitForSelector('.waiting tbody tr >> nth=6');
    await choose('State', 'queued');
    await page.waitForSelector('.filtered >> text=2 of 7');
    expect(await shown()).to.deep.equal(['Ship it', 'Ship it']);
    await page.click('.filtered >> text=Show all');
    await page.waitForSelector('.waiting tbody tr >> nth=6');
    await choose('Waits on', 'operator');
    await page.waitForSelector('.filtered >> text=1 of 7');
    expect(await shown()).to.deep.equal(['Fix the fence']);
    await choose('Waits on', '');
    await page.fill('.filters input', 'broke'); // of its cause
    await page.waitForSelector('.filtered >> text=1 of 7');
    expect(await shown()).to.deep.equal(['Fix the fence']);
    await page.fill('.filters input', '');
    await choose('For at least', '86400');
    await page.waitForSelector('.empty >> text=Nothing that is stuck matches.');
    expect(await page.evaluate('location.hash')).to.equal('#/waiting?age=86400');
    await page.click('.filtered >> text=Show all');
    for (const [at, name] of ['What, and why', 'State', 'Waits on'].entries()) {
      for (const [direction, sort] of [
        ['ascending', 1],
        ['descending', -1],
      ] as const) {
        await page.click(`.waiting thead button >> text="${name}"`);
        await page.waitForSelector(`th[aria-sort=${direction}] >> text="${name}"`);
        const cells =
          at === 0
            ? await shown()
            : await page.locator(`.waiting tbody td:nth-child(${at + 1})`).allInnerTexts();
        const words = cells.map((cell) => cell.toLowerCase());
        expect(words, `${name}, ${direction}`).to.deep.equal(
          [...words].sort((a, b) => (a < b ? -sort : a > b ? sort : 0)),
        );
      }
    }
    expect(await page.evaluate('location.hash')).to.equal('#/waiting?sort=-on');
    await page.reload();
    await page.waitForSelector('th[aria-sort=descending] >> text=Waits on');
    await viewer.go(page, '#/waiting');
  });

  // A notice beneath a button took a hundred pixels from the column of the titles
  it('keeps the widths of its columns and the places of its rows when a notice comes', async () => {
    const places = (): Promise<unknown> =>
      page.evaluate(
        `[...document.querySelectorAll('.waiting th, .waiting td')].map((cell) => {
          const { left, width } = cell.getBoundingClientRect();
          return [left, width];
        })`,
      );
    const rowTops = (): Promise<number[]> =>
      page.evaluate(
        `[...document.querySelectorAll('.waiting tbody tr')].map((row) => row.getBoundingClientRect().top)`,
      );
    // What each decision is about is read for itself, and makes its row higher: all of it must be there
    await until(
      page,
      `document.querySelectorAll('.waiting [data-problem=decision] .cause-facts').length === 4`,
    );
    await page.route('**/approval', (route) =>
      route.fulfill({ status: 409, json: { code: 'CONFLICT', error: 'It is decided by the board.' } }),
    );
    const button = page.locator('button[aria-label^="Approve: Publish"]');
    await button.hover();
    const before = [await places(), (await rowTops()).slice(0, 2)];
    await button.click();
    await page.waitForSelector('.decide [role=alert]');
    expect([await places(), (await rowTops()).slice(0, 2)]).to.deep.equal(before);
    await page.unroute('**/approval');
    await page.mouse.move(0, 0);
    await page.reload();
    await page.waitForSelector('.waiting tbody tr >> nth=6');
  });

  it('decides in place, in the list and on the actor', async () => {
    const before = await rows();
    const place = before.indexOf('Buy new chairs: May I?');
    await page.click('button[aria-label="Approve: Buy new chairs: May I?"]');
    await page.waitForSelector('.waiting tr.gone .outcome >> text=Approved.');
    // Nothing moved under the pointer, neither by what went nor by what comes
    await post('/api/work-items', { title: 'Aardvarks' }).then(({ workItem }) =>
      post(`/api/work-items/${workItem.id}/approval/request`, { request: 'May I?' }),
    );
    await page.waitForSelector('.waiting >> text=Aardvarks');
    expect(await rows()).to.deep.equal([...before, 'Aardvarks: May I?']);
    expect(await page.locator('.waiting [data-problem=decision]').nth(place).getAttribute('class')).to.equal(
      'gone',
    );
    await page.mouse.move(0, 0);
    await page.waitForSelector('.waiting >> text=Buy new chairs', { state: 'detached' });
    expect(await rows()).to.deep.equal([...before.filter((_, n) => n !== place), 'Aardvarks: May I?']);
    await page.click('button[aria-label^="Reject: Aardvarks"]');
    expect((await house.operator.get(`/api/work-items/${items[1]}`)).body.workItem.approvalState).to.equal(
      'approved',
    );
    await viewer.go(page, `#/actor/work-item/${items[0]}`);
    await page.click('.gate-panel button >> text=Reject');
    await page.waitForSelector('.gate-panel', { state: 'detached' });
    expect((await house.operator.get(`/api/work-items/${items[0]}`)).body.workItem.approvalState).to.equal(
      'rejected',
    );
  });

  it('decides a version of a workflow that an agent wrote', async () => {
    const { id } = await post('/api/sessions', { prompt: 'x', employee: 'ann' });
    const actor = { kind: 'http', method: 'GET', url: 'https://example.org/' };
    const made = await house.agent(id as string).post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: { title: 'Send it', owner: 'ann', nodes: [{ id: 'a', type: 'step', actor }], edges: [] },
    });
    expect(made.status, made.text).to.equal(201);
    await viewer.go(page, '#/waiting');
    await page.click('button[aria-label^="Approve: Send it, version 1"]');
    await page.waitForSelector('.waiting tr.gone:has-text("Send it, version 1")');
    expect((await house.operator.get('/api/workflow-approvals')).body.pending).to.deep.equal([]);

    // The next one is read as what changes, in the console
    const definition = `/api/workflow-definitions/${made.body.definition.id}`;
    const nodes = [{ id: 'a', type: 'step', actor: { ...actor, url: 'https://example.net/' } }];
    const changed = await house.agent(id as string).call('PUT', definition, { nodes });
    expect(changed.status, changed.text).to.equal(200);
    const thing = encodeURIComponent(`workflow/${made.body.definition.id}/2`);
    const inbox = await viewer.open(house.gateway.url, { path: '/', at: `#/inbox/${thing}` });
    await inbox.waitForSelector('.subject >> text=what changes since version 1');
    expect((await inbox.locator('.subject .removed').allInnerTexts()).join('')).to.match(/example\.org/);
    expect((await inbox.locator('.subject .added').allInnerTexts()).join('')).to.match(/example\.net/);
    expect(await inbox.locator('.subject details pre').textContent()).to.include('"version": 2');
    await inbox.context().close();
    await page.click('button[aria-label^="Approve: Send it, version 2"]');
    await page.waitForSelector('.waiting tr.gone:has-text("Send it, version 2")');
  });

  it('shows a queued run as queued, behind which run, and cancels it', async () => {
    await viewer.go(page, '#/runs');
    await page.waitForSelector('.runs .state >> text=queued');
    expect((await page.locator('.runs .state').allInnerTexts()).sort()).to.deep.equal([
      'queued',
      'queued',
      'waiting for a decision',
    ]);
    await page.locator('.runs a', { hasText: 'queued' }).first().click();
    await page.waitForSelector('#queue-title >> text=number 2 of 2');
    await picture(page, 'run-queued');
    expect(await wrongWith(page)).to.deep.equal([]);
    expect(await page.locator('.heading .state').innerText()).to.equal('queued');
    expect(await page.locator('.gate-panel .relations li').count()).to.equal(1);
    await page.click('text=Cancel this run');
    await page.waitForSelector('[data-held] >> text=/Cancel this run in [1-6] s/');
    await page.waitForSelector('.heading .state >> text=cancelled');
  });

  // Who closed the page was asked, and either way the run stayed queued
  it('carries out what is held when the page is closed: there is no undo any more', async () => {
    const closing = await viewer.open(house.gateway.url, { at: '#/runs' });
    await closing.locator('.runs a', { hasText: 'queued' }).click();
    await closing.click('text=Cancel this run');
    await closing.waitForSelector('[data-held]');
    const [, workflow, run] = /runs\/([^/?]+)\/([^/?]+)/.exec(closing.url()) as RegExpExecArray;
    const status = async (): Promise<string> =>
      (await house.operator.get(`/api/workflow-definitions/${workflow}/runs/${run}`)).body.status;
    expect(await status()).to.not.equal('cancelled');
    await closing.goto('about:blank');
    while ((await status()) !== 'cancelled') await new Promise((resolve) => setTimeout(resolve, 50));
    await closing.context().close();
  });

  // It was sent five seconds later, as the one who was let in by then
  it('carries out what is held when the token is forgotten, as the one who pressed', async () => {
    const made = await post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        title: 'Ask once',
        nodes: [
          {
            id: 'ask',
            type: 'gate',
            label: 'Ask',
            gate: { kind: 'approval', approvalRef: 'go', description: 'Go?' },
          },
          { id: 'send', type: 'step', label: 'Send', actor: { kind: 'noop' } },
        ],
        edges: [{ id: 'e', from: 'ask', to: 'send' }],
      },
    });
    const started = await post(`/api/workflow-definitions/${made.definition.id}/run`, {});
    const path = `workflow-definitions/${made.definition.id}/runs/${started.runId}`;
    const leaving = await viewer.open(house.gateway.url, {
      at: `#/runs/${made.definition.id}/${started.runId}`,
    });
    await leaving.click('text=Cancel this run');
    await leaving.waitForSelector('[data-held]');
    const sent = leaving.waitForRequest(`**/${path}/cancel`);
    await leaving.click('text=Forget token');
    expect((await (await sent).allHeaders())['authorization']).to.match(/^Bearer ./);
    while ((await house.operator.get(`/api/${path}`)).body.status !== 'cancelled')
      await new Promise((resolve) => setTimeout(resolve, 50));
    await leaving.context().close();
  });

  it('lists what is at work for long, and finds an actor by words of its title', async () => {
    const { id } = await post('/api/sessions', { prompt: 'hang on', title: 'Count all the sheep' });
    await house.supervisor.ask('session', id, { type: 'turn.began', turnId: `${id}:1` });
    // The real list, asked for younger ones: no spec waits for a quarter of an hour
    await page.route('**/api/inspect/stuck', (route) =>
      route.continue({ url: `${route.request().url()}?longSeconds=0` }),
    );
    await viewer.go(page, '#/fleet');
    await viewer.go(page, '#/waiting');
    await page.reload();
    await page.waitForSelector(
      '.waiting tr[data-problem=slow]:has-text("Count all the sheep") >> text=At work since',
    );
    await page.click('button.find');
    await page.fill('#jump', 'SHEEP count');
    await page.press('#jump', 'Enter');
    await page.click('.hits button >> text=Count all the sheep');
    await page.waitForSelector('#actor-title >> text=Count all the sheep');
    expect(await page.evaluate('location.hash')).to.include(id);
    await page.unroute('**/api/inspect/stuck');
  });

  it('says so where the gateway refuses one of several that are decided at once', async () => {
    const { id } = await post('/api/sessions', { prompt: 'x', employee: 'ann' });
    const actor = { kind: 'http', method: 'GET', url: 'https://example.org/' };
    const definition = {
      title: 'Send more',
      owner: 'ann',
      nodes: [{ id: 'a', type: 'step', actor }],
      edges: [],
    };
    await house
      .agent(id as string)
      .post('/api/workflow-definitions/mutate', { operation: 'create', definition });
    await viewer.go(page, '#/waiting');
    await page.waitForSelector('button[aria-label^="Approve: Send more"]');
    await page.route('**/api/workflow-approvals', (route) =>
      route.fulfill({ status: 200, json: { outcomes: [{ code: 'CONFLICT', error: 'It has changed.' }] } }),
    );
    await page.click('button[aria-label^="Approve: Send more"]');
    await page.waitForSelector('.decide [role=alert] >> text=It has changed.');
    await page.unroute('**/api/workflow-approvals');
  });

  // Approve stood beside an approval that was routed to a manager, and was refused when it was clicked
  it('offers a decision that is routed to another only to who may take it, else says whose it is', async () => {
    const { id } = await post('/api/sessions', { prompt: 'x', employee: 'ann' });
    const ask = async (title: string, target: string): Promise<string> => {
      const agent = house.agent(id as string);
      const item = (await agent.post('/api/work-items', { title })).body.workItem.id as string;
      const asked = await agent.post(`/api/work-items/${item}/approval/request`, {
        request: 'May I?',
        target,
      });
      expect(asked.status, asked.text).to.be.below(300);
      return item;
    };
    const [managers, roots] = [await ask('Paint the door', 'bob'), await ask('Paint the roof', 'chief')];
    await viewer.go(page, '#/waiting');
    await page.click('button[aria-label^="Approve: Paint the roof"]');
    await page.waitForSelector('.waiting tr.gone:has-text("Paint the roof")');
    expect((await house.operator.get(`/api/work-items/${roots}`)).body.workItem.approvalState).to.equal(
      'approved',
    );
    const row = page.locator('.waiting tbody tr', { hasText: 'Paint the door' });
    await row.locator('.decide >> text=bob decides').waitFor();
    expect(await row.locator('.decide button').count()).to.equal(0);
    await viewer.go(page, `#/actor/work-item/${managers}`);
    await page.waitForSelector('.gate-panel .decide >> text=bob decides');
    expect(await wrongWith(page)).to.deep.equal([]);
  });

  it('holds a decision for five seconds, in which it can be undone, and says what came of it', async () => {
    const holding = await openHouse({ withRoster: true, holds: true });
    const { workItem } = (await holding.operator.post('/api/work-items', { title: 'Sell the boat' })).body;
    await holding.operator.post(`/api/work-items/${workItem.id}/approval/request`, { request: 'May I?' });
    const state = async (): Promise<string> =>
      (await holding.operator.get(`/api/work-items/${workItem.id}`)).body.workItem.approvalState;
    const undoable = await viewer.open(holding.gateway.url, { at: '#/waiting' });
    const row = '.waiting tr:has-text("Sell the boat")';
    await undoable.click(`${row} button.primary`);
    await undoable.click(`${row} [data-held] button >> text=Undo`);
    await undoable.waitForSelector(`${row} .outcome >> text=Undone: nothing was decided.`);
    expect(await state()).to.equal('pending');
    await undoable.click(`${row} button.primary`);
    await undoable.waitForSelector(`${row} [data-held] >> text=/Approve in [1-6] s/`);
    expect(await state()).to.equal('pending');
    expect(await wrongWith(undoable)).to.deep.equal([]);
    await undoable.waitForSelector(`${row}.gone .outcome >> text=Approved.`);
    expect(await state()).to.equal('approved');
    await undoable.context().close();
    await holding.close();
  });

  it('is readable on a phone, nothing wider than the window', async () => {
    const phone = await viewer.open(house.gateway.url, {
      at: '#/waiting',
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 2,
      isMobile: true,
      hasTouch: true,
    });
    await phone.waitForSelector('.waiting tbody tr');
    await picture(phone, 'waiting-phone');
    expect(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
    await phone.context().close();
  });

  it('breaks no rule of the policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
