import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { House } from '../lib/gateway/fixture.js';
import { openBrowser, picture, type Viewer } from './browser.js';
import { plant, sevenProblems, type Planted } from './planted.js';

/**
 * A person who never saw the page opens its first view over a home in which seven things are wrong (`planted.ts`). All
 * of them stand in that view with their causes, and what ends each is one click away; a word says what it came to.
 */
describe('seven problems', () => {
  let planted: Planted;
  let house: House;
  let viewer: Viewer;
  let page: Page;
  let clicks = 0;
  const click = async (selector: string): Promise<void> => {
    clicks += 1;
    await page.click(selector);
  };
  const text = (selector: string): Promise<string> => page.locator(selector).first().innerText();

  /** It keeps its place with a word of what became of it. */
  const endsAs = async (row: string, outcome: string): Promise<void> => {
    await page.waitForSelector(`${row}.gone .outcome >> text=${outcome}`);
  };

  before(async () => {
    viewer = await openBrowser();
    planted = await plant();
    house = planted.house;
  });
  after(async () => {
    await viewer.close();
    await planted.close();
  });
  beforeEach(async () => {
    page = await viewer.open(house.gateway.url, { at: '' });
    await page.waitForSelector('#waiting-title'); // the first view where something waits
    clicks = 0;
  });
  afterEach(async () => {
    expect(clicks).to.be.within(1, 2);
    await page.context().close();
  });

  // People were asked to allow and approve without being shown what
  it(`1: ${sevenProblems[0]}`, async () => {
    const row = '.waiting tr:has-text("Remove a folder")';
    await page.waitForSelector(`${row} .cause code >> text="rm -r build/output"`);
    await page.waitForSelector(`${row} .cause-facts >> text=/tool Bash/`);
    expect(await text(row)).to.match(/by pen[^]*cost so far \$0\.00[^]*permission for a tool/);
    expect(await text(`${row} .decide`)).to.match(/Allow[^]*At once, without undo/);
    await picture(page, 'seven-problems');
    await click(`${row} button.primary`);
    await endsAs(row, 'Allowed.');
  });

  it(`2: ${sevenProblems[1]}`, async () => {
    const row = '.waiting tr[data-key="glass/tall-glass"]';
    // Its cause was cut off by the width of the list
    await page.waitForSelector(`${row} .cause`);
    await page.waitForSelector(`${row} >> text=if it fails again it halts again`); // read after the list
    expect(await text(`${row} .cause`)).to.match(
      /^It failed 2 times within 60 s; last: the glass is cracked: it broke when it was filled\s/,
    );
    expect(await text(row)).to.match(/halted[^]*At once, without undo; if it fails again it halts again/);
    await click(`${row} button >> text=Resume`);
    await endsAs(row, 'Resumed');
  });

  it(`3: ${sevenProblems[2]}`, async () => {
    const row = '.waiting tr:has-text("letterbox")';
    await page.waitForSelector(`${row} .cause >> text=the line is dead`);
    await page.waitForSelector(`${row} .cause-facts >> text=/next try (?:in|now)/`);
    await page.waitForSelector(`${row} td >> text=when a try works`); // it said beside that that it never ends by itself
    await page.waitForSelector(
      `${row} .cause-facts >> text=correct its address or its secret in config.yaml`,
    );
    await click(`${row} button >> text=Try now`);
    const tried = async (): Promise<boolean> => {
      const { body } = await house.operator.get('/api/inspect/actors/connector/letterbox/history');
      return body.entries.some(
        ({ event, by }: { event: { type: string }; by: string }) =>
          event.type === 'connector.start' && by === 'operator',
      );
    };
    while (!(await tried())) await page.waitForSelector(row);
    await page.waitForSelector(`${row} .outcome >> text=/Tried: it still fails. the line is dead\\. At \\d/`);
    // It was forgotten when one came back
    await viewer.go(page, '#/supervision');
    await page.waitForSelector('.subsystems .bad >> text=/^connectors: 1 failing$/'); // its lamp was green
    // Of what had failed and runs again it said the words of the library
    await page.waitForSelector('.supervisor .rules >> text=/^the cup is cracked/');
    await viewer.go(page, '#/waiting');
    await page.waitForSelector(`${row} .outcome >> text=/Tried: it still fails/`);
  });

  it(`4: ${sevenProblems[3]}`, async () => {
    const row = '.waiting tr[data-problem=letter]:has(a[href="#/actor/cup/blue-cup"])';
    await page.waitForSelector(row);
    expect(await text(row)).to.match(/fill[^]*the cup is cracked: it broke when it was filled/);
    await click(`${row} >> nth=0 >> text=Try again`);
    await endsAs(row, 'Tried again: it was handled.');
    // The other is given up: for good, unless that is undone within five seconds
    const other = `${row}:not(.gone)`;
    await page.click(`${other} >> text=Dismiss`);
    // Both could be pressed: it was tried again, and dropped seconds later
    await page.waitForSelector(`${other} button:disabled >> text=Try again`);
    await page.click(`${other} [data-held] >> text=Undo`);
    await page.click(`${other} >> text=Dismiss`);
    await endsAs(row, 'Dismissed: its event is dropped.');
  });

  it(`5: ${sevenProblems[4]}`, async () => {
    const row = '.waiting tr[data-problem=slow]:has-text("queued run")';
    await page.waitForSelector(`${row} td >> text=when that run ends`);
    // The run that it waits for was two views away
    await page.waitForSelector(`${row} .cause a[href^="#/runs/${planted.ids.workflow}/"] >> text=Ship it`);
    await page.click(`${row} th > a`);
    await page.waitForSelector('.gate-panel >> text=It starts when this run ends');
    await page.waitForSelector(`.gate-panel a[href^="#/runs/${planted.ids.workflow}/"]`);
    await page.click('button >> text=Cancel this run');
    await page.click('[data-held] >> text=Undo');
    // It could be cancelled there alone
    await viewer.go(page, '#/waiting');
    await page.click(`${row} button >> text=Cancel this run`);
    await page.click(`${row} [data-held] >> text=Undo`);
    await click(`${row} button >> text=Cancel this run`);
    await endsAs(row, 'Cancelled: the run has ended.');
    await page.click(`${row} th > a`);
    await page.waitForSelector('.heading .state >> text=cancelled');
    await page.waitForSelector('.run-actions .outcome >> text=Cancelled: the run has ended.');
  });

  it(`6: ${sevenProblems[5]}`, async () => {
    // The real list, asked for what is quiet at once: no spec waits for a minute
    await page.route('**/api/inspect/stuck', (route) =>
      route.continue({ url: `${route.request().url()}?quietSeconds=0` }),
    );
    await page.reload();
    const row = '.waiting tr:has-text("Count the chairs")';
    await page.waitForSelector(`${row} .cause >> text=/No output since \\d/`);
    // It did not say that the queue goes with the turn
    await page.waitForSelector(`${row} .decide >> text=messages that wait in its queue are cancelled too`);
    await click(`${row} button >> text=Stop the turn`);
    await endsAs(row, 'The turn is stopped.');
    expect((await house.operator.get(`/api/sessions/${planted.ids.silent}`)).body.status).to.equal('stopped');
  });

  it(`7: ${sevenProblems[6]}`, async () => {
    const row = '.waiting tr:has-text("Buy chairs")';
    await page.waitForSelector(`${row} .cause >> text="May I spend 400 euros on chairs?"`);
    expect(await text(row)).to.match(/approval\s+chief/);
    await click(`${row} button.primary`);
    await endsAs(row, 'Approved.');
    const { workItem } = (await house.operator.get(`/api/work-items/${planted.ids.item}`)).body;
    expect(workItem.approvalState).to.equal('approved');
  });
});
