import { expect } from 'chai';
import { keys } from '../../lib/store/keys.js';
import { memoryStore } from '../../lib/store/memory.js';
import type { Store } from '../../lib/store/contract.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';

/** One actor in a real browser: its chart, its past, what may happen to it. */
describe('an actor in a browser', function () {
  this.timeout(300_000); // a life of hundreds of steps is made by requests, beside whatever else runs
  let house: House;
  let store: Store;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
  });
  after(() => viewer.close());
  beforeEach(async () => {
    store = memoryStore();
    house = await openHouse({ store });
  });
  afterEach(() => house.close());

  const item = async (body: object): Promise<string> => {
    const answer = await house.operator.post('/api/work-items', body);
    expect(answer.status, answer.text).to.equal(201);
    return answer.body.workItem.id as string;
  };
  const move = (id: string, status: string, note?: string) =>
    house.operator.post(`/api/work-items/${id}/status`, { status, note });
  const lit = '[data-state="work.executing"].lit';

  /** A work item with 341 steps, and the position of the first. */
  const muchTalkedAbout = async (): Promise<{ readonly id: string; readonly creation: number }> => {
    const id = await item({ title: 'much talked about' });
    for (let n = 0; n < 340; n += 20)
      await Promise.all(
        Array.from({ length: 20 }, (_, m) =>
          house.operator.post(`/api/work-items/${id}/comments`, { text: `word ${n + m}` }),
        ),
      );
    const { entries } = (await house.operator.get(`/api/inspect/actors/work-item/${id}/history?limit=500`))
      .body;
    return { id, creation: entries.at(-1).seq as number };
  };

  it('lights the state where it stands, and moves the light when it moves', async () => {
    const id = await item({ title: 'x' });
    const page = await viewer.open(house.gateway.url, { at: `#/actor/work-item/${id}` });
    await page.waitForSelector('[data-state="work.backlog"].lit');
    expect(await page.locator(lit).count()).to.equal(0);
    await move(id, 'executing');
    await page.waitForSelector(lit);
    expect(await page.locator('[data-state="work.backlog"].lit').count()).to.equal(0);
    // The way that it took
    expect(await page.locator('.node .line.lit, .arrow.lit').count()).to.be.greaterThan(0);
    expect(await page.locator('svg.chart').getAttribute('aria-label'))
      .to.include('Active: ')
      .and.include('work.executing');
    await page.context().close();
  });

  it('shows the history of a state or a way by a click on it', async () => {
    const id = await item({ title: 'x' });
    await move(id, 'executing');
    await move(id, 'blocked', 'no water');
    await house.operator.post(`/api/work-items/${id}/comments`, { text: 'still none' });
    const page = await viewer.open(house.gateway.url, { at: `#/actor/work-item/${id}` });
    await page.waitForSelector('.history > li >> nth=3');
    await page.click('[data-state="work.executing"] .title');
    await page.waitForSelector('#history-title >> text=2 of 4 steps');
    expect(await page.locator('.history .event').allInnerTexts()).to.have.length(2);
    expect(await page.inputValue('.history-filter select')).to.equal('state:work.executing');
    await page.selectOption('.history-filter select', 'event:item.comment');
    await page.waitForSelector('#history-title >> text=1 of 4 steps');
    await page.click('.history-filter button');
    await page.waitForSelector('.history > li >> nth=3');
    // The way that was taken last says in full what it is, and is a filter too
    const way = page.locator('.node .line.lit.can, .chart .label.lit.can').first();
    expect(await way.locator('title').textContent()).to.match(/work|move|comment/);
    await way.click();
    await page.waitForSelector('#history-title >> text=/\\d of 4/');
    expect(await page.locator('.history > li').count()).to.be.within(1, 3);
    // A state by which the chart is dragged lies under the pointer when it is let go, and was not clicked
    await page.click('.history-filter button');
    await page.focus('.chart-box');
    for (let n = 0; n < 4; n += 1) await page.keyboard.press('+');
    const state = page.locator('[data-state="work.blocked"] .title');
    await state.scrollIntoViewIfNeeded();
    const { x = 0, y = 0 } = (await state.boundingBox()) ?? {};
    const scrolled = (): Promise<unknown> =>
      page.evaluate(
        `document.querySelector('.chart-box').scrollLeft + document.querySelector('.chart-box').scrollTop`,
      );
    const before = await scrolled();
    await page.mouse.move(x + 5, y + 5);
    await page.mouse.down();
    await page.mouse.move(x - 15, y - 15);
    await page.mouse.move(x - 35, y - 35);
    await page.mouse.up();
    expect(await scrolled()).to.not.equal(before);
    expect(await page.inputValue('.history-filter select')).to.equal('');
    await page.context().close();
  });

  it('is zoomed with keys, with the wheel and by pinching, around what one looks at', async () => {
    const id = await item({ title: 'x' });
    await move(id, 'executing');
    const page = await viewer.open(house.gateway.url, { at: `#/actor/work-item/${id}` });
    const width = async (): Promise<number> => (await page.locator('svg.chart').boundingBox())?.width ?? 0;
    // It comes in one frame and takes its size in a later one
    const isSeen = `(() => {
      const box = document.querySelector('.chart-box').getBoundingClientRect();
      const lit = document.querySelector('[data-state="work.executing"]').getBoundingClientRect();
      const { width } = document.querySelector('svg.chart').getBoundingClientRect();
      window.rests = window.width === width ? (window.rests ?? 0) + 1 : 0;
      window.width = width;
      return window.rests > 10 &&
        lit.left >= box.left && lit.right <= box.right && lit.top >= box.top && lit.bottom <= box.bottom;
    })()`;
    await page.waitForSelector(lit);
    await until(page, isSeen);
    const first = await width();
    await page.focus('.chart-box');
    await page.keyboard.press('+');
    await until(page, `document.querySelector('svg.chart').getBoundingClientRect().width > ${first * 1.2}`);
    await page.keyboard.press('0');
    await until(
      page,
      `document.querySelector('svg.chart').getBoundingClientRect().width <= document.querySelector('.chart-box').clientWidth + 1`,
    );
    const small = await width();
    const middle = await page.locator('.chart-box').boundingBox();
    await page.mouse.move((middle?.x ?? 0) + 200, (middle?.y ?? 0) + 100);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await until(page, `document.querySelector('svg.chart').getBoundingClientRect().width > ${small * 1.5}`);
    const before = await width();
    await page.evaluate(`(() => {
      const box = document.querySelector('.chart-box');
      const { left, top } = box.getBoundingClientRect();
      const touch = (type, pointerId, x) =>
        box.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: 'touch', clientX: left + x, clientY: top + 90, bubbles: true }));
      touch('pointerdown', 1, 100);
      touch('pointerdown', 2, 200);
      touch('pointermove', 2, 150);
      touch('pointerup', 1, 100);
      touch('pointerup', 2, 150);
    })()`);
    await until(page, `document.querySelector('svg.chart').getBoundingClientRect().width < ${before * 0.6}`);
    await page.click('text=Where it is');
    await until(
      page,
      `Math.abs(document.querySelector('svg.chart').getBoundingClientRect().width - ${first}) < 2`,
    );
    await until(page, isSeen);
    await page.context().close();
  });

  it('begins with the keyboard in it, where what had it before is gone', async () => {
    const parent = (await house.operator.post('/api/sessions', { prompt: 'hang on' })).body.id as string;
    const child = (await house.agent(parent).post('/api/sessions', { prompt: 'count' })).body.id as string;
    const page = await viewer.open(house.gateway.url, { at: `#/actor/session/${parent}` });
    await page.click(`.relations a[href$="${child}"]`);
    await page.waitForSelector(`.crumbs >> text=${child}`);
    await until(page, 'document.activeElement.id === "main"'); // it is given after the view is drawn
    await page.waitForSelector('.history > li >> nth=1');
    await page.keyboard.press('['); // a step in time is no other place
    await page.waitForSelector('[data-at]:not([data-at=now])');
    await page.focus('.transport input');
    await page.keyboard.press('l');
    await page.waitForSelector('[data-at=now]');
    expect(await page.evaluate('document.activeElement.type')).to.equal('range');
    await page.context().close();
  });

  it('comes by itself where the gateway did not answer at first', async () => {
    const id = await item({ title: 'late' });
    const page = await viewer.open(house.gateway.url);
    await page.waitForSelector('.row >> text=late');
    await page.route('**/api/inspect/**', (route) => route.abort());
    await viewer.go(page, `#/actor/work-item/${id}`);
    await page.waitForSelector('.empty >> text=The gateway does not answer');
    await page.unroute('**/api/inspect/**');
    // Nothing has happened to it meanwhile that would have it asked for
    await page.waitForSelector('#actor-title >> text=late');
    await page.route('**/api/inspect/actors?*', (route) =>
      route.fulfill({ status: 503, json: { error: 'Busy.', code: 'BUSY' } }),
    );
    await viewer.go(page, '#/fleet');
    await page.waitForSelector('.list [role=alert] >> text=Busy.');
    await page.unroute('**/api/inspect/actors?*');
    await page.waitForSelector('.row >> text=late');
    expect(await page.locator('.list [role=alert]').count()).to.equal(0);
    await page.context().close();
  });

  it('reaches back to the creation, however long ago it was', async () => {
    const { id } = await muchTalkedAbout();
    const page = await viewer.open(house.gateway.url, { at: `#/actor/work-item/${id}` });
    await page.waitForSelector('#history-title >> text=the last 100 steps');
    await page.click('text=Earlier steps');
    await page.waitForSelector('#history-title >> text=the last 300 steps');
    await house.operator.post(`/api/work-items/${id}/comments`, { text: 'and one more' });
    // Without a hole between what came and what was there
    await page.waitForSelector('#history-title >> text=the last 301 steps');
    await page.context().close();
  });

  it('goes to any moment of a long life, with only what can be seen of it in the page', async () => {
    const { id, creation } = await muchTalkedAbout();
    const link = await viewer.open(house.gateway.url, { at: `#/actor/work-item/${id}?at=${creation}` });
    await link.waitForSelector(`.history li.at[data-seq="${creation}"]`);
    await link.waitForSelector('#history-title >> text=/^Historysteps 1 to 51$/');
    expect(await link.locator('text=Earlier steps').count()).to.equal(0);
    await link.click('text=Later steps');
    await link.waitForSelector('#history-title >> text=/^Historysteps 1 to 151$/');
    // The slider goes over all of it
    expect(await link.getAttribute('.transport input', 'max')).to.equal('341');
    await link.fill('.transport input', '200');
    await link.waitForSelector('#history-title >> text=/^Historysteps 151 to 250$/');
    await link.waitForSelector('.history li.at');
    expect(await link.locator('.history *').count()).to.be.below(400);
    await link.click('.transport >> text=Back to now');
    await link.waitForSelector('#history-title >> text=the last 100 steps');
    await link.context().close();
  });

  it('shows the past where one goes back to it, without running an effect or writing a word', async () => {
    const session = (await house.operator.post('/api/sessions', { prompt: 'hang on' })).body.id as string;
    const page = await viewer.open(house.gateway.url, { at: `#/actor/session/${session}` });
    await page.waitForSelector('[data-state="running"].lit, [data-state^="running"].lit');
    await house.operator.post(`/api/sessions/${session}/stop`, {});
    await page.waitForSelector('.heading .state >> text=/interrupted|stopped/');
    // The note of its effect goes in a commit of its own, which may come after the state is shown
    const key = { kind: 'session', id: session };
    while ((await house.supervisor.inspection.checkpoints(key)).length > 0)
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
    const { position, events, effects } = house.supervisor.status; // commits without an entry are housekeeping
    await page.keyboard.press('[');
    await page.waitForSelector('[data-at]:not([data-at=now])');
    while (await page.locator('.transport button[aria-label="A step back"]').isEnabled())
      await page.click('.transport button[aria-label="A step back"]');
    await page.waitForSelector('.view.past .heading .state >> text=running');
    await page.waitForSelector('[data-state="running"].lit');
    await page.waitForSelector('#context-title >> text=as of');
    expect(await page.locator('.history li.later').count()).to.be.greaterThan(0);
    await page.keyboard.press(']');
    await page.keyboard.press('l');
    await page.waitForSelector('[data-at=now]');
    await page.waitForSelector('.heading .state >> text=/interrupted|stopped/');
    expect(house.supervisor.status).to.include({ position, events, effects });
    await page.context().close();
  });

  it('says what may happen next, sends what people may send, and says why the rest may not', async () => {
    const id = await item({ title: 'x' });
    await move(id, 'executing');
    const page = await viewer.open(house.gateway.url, { at: `#/actor/work-item/${id}` });
    await page.click('summary >> text=/may not, and why/');
    expect(await page.locator('[data-event="approval.decide"].may-not').first().innerText())
      .to.include('NO_PENDING_APPROVAL')
      .and.include(
        'cannot be approved or rejected while its approval is none; it can while its approval is pending.',
      );
    await page.click('[data-event="item.move"][data-to="blocked"] > button');
    await page.fill('[data-event="item.move"][data-to="blocked"] input[name=note]', 'no water');
    await page.click('[data-event="item.move"][data-to="blocked"] button[type=submit]');
    await page.waitForSelector('[data-state="work.blocked"].lit');
    expect((await house.operator.get(`/api/work-items/${id}`)).body.workItem.status).to.equal('blocked');
    await page.context().close();
  });

  it('tries a dead letter again', async () => {
    const id = await item({ title: 'x' });
    const letter = {
      id: 'd1',
      actor: { kind: 'work-item', id },
      at: 1,
      event: { type: 'item.move', status: 'executing' },
      faultId: 'd1',
      error: 'it broke',
      by: { type: 'operator' },
    };
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [
        [keys.deadLetter('d1'), JSON.stringify(letter)],
        [keys.deadLetterPlace(letter.at, 'd1'), '1'],
      ],
    });
    const page = await viewer.open(house.gateway.url, { at: `#/actor/work-item/${id}` });
    await page.click('[aria-labelledby=letters-title] >> text=Try again');
    await page.waitForSelector(lit);
    await page.context().close();
  });

  it('follows one thing across actors as a sequence diagram, and steps through the log around it', async () => {
    const parent = (await house.operator.post('/api/sessions', { prompt: 'hang on' })).body.id as string;
    const child = (await house.agent(parent).post('/api/sessions', { prompt: 'count' })).body.id as string;
    const page = await viewer.open(house.gateway.url, { at: '#/time' });
    const finished = page.locator('.log li', { hasText: 'child.finished' });
    await finished.locator('button').click();
    await page.waitForSelector('#moment-title >> text=child.finished');
    await until(page, 'document.querySelectorAll(".sequence .lane-id").length === 2');
    expect(await page.locator('.sequence .lane-id').allTextContents()).to.satisfy((lanes: string[]) =>
      [parent, child].every((id) => lanes.some((lane) => id.startsWith(lane.replace('…', '')))),
    );
    expect(await page.locator('.sequence .link.message').count()).to.be.greaterThan(0);
    const at = Number(await page.locator('.view').getAttribute('data-at'));
    await page.keyboard.press('[');
    await page.waitForSelector(`.view[data-at="${at - 1}"]`);
    await page.context().close();
  });

  it('leaves everything that people wrote a text, in every view', async () => {
    const evil =
      '<img src=x onerror="window.hit=1"><script>window.hit=1</script><svg onload=window.hit=1>"\'`${1}{{1}}';
    const id = await item({ title: evil, body: evil, acceptance: evil });
    await move(id, 'blocked', evil);
    await house.operator.post(`/api/work-items/${id}/comments`, { text: evil });
    await house.operator.post(`/api/work-items/${id}/labels`, { add: [evil.slice(0, 60)] });
    await house.operator.post(`/api/work-items/${id}/approval/request`, { request: evil });
    const session = (await house.operator.post('/api/sessions', { prompt: `fail ${evil}`, title: evil })).body
      .id as string;
    const page = await viewer.open(house.gateway.url);
    const check = async (at: string, see: string): Promise<void> => {
      await viewer.go(page, at);
      await page.waitForSelector(see);
      for (const summary of await page.locator('main summary').all()) await summary.click();
      await until(page, `document.querySelector('main').innerText.includes('<img src=x onerror=')`);
      expect(
        await page.evaluate(
          '[window.hit ?? null, document.querySelectorAll("#page img, #page script, #page [onload], #page [onerror]").length]',
        ),
        at,
      ).to.deep.equal([null, 0]);
    };
    await check('#/fleet', '.row');
    await check(`#/actor/work-item/${id}`, '.history summary');
    await check(`#/actor/session/${session}`, '.history summary');
    await house.operator.post(`/api/work-items/${id}/comments`, { text: evil });
    await check(`#/actor/${encodeURIComponent(evil)}/${encodeURIComponent(evil)}`, '.crumbs');
    await viewer.go(page, '#/time');
    await page.waitForSelector('.sequence');
    await page.click('summary >> text=Event and context');
    expect(
      await page.evaluate(
        '[window.hit ?? null, document.querySelectorAll("#page img, #page script").length]',
      ),
    ).to.deep.equal([null, 0]);
    await page.context().close();
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
