import { expect } from 'chai';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';

/** Jobs that run often, on the strip of 24 hours. */
describe('the strip of cron jobs', () => {
  let house: House;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse();
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });

  // It ended after 300 times, so that a job of each minute seemed to end in five hours, and all of it was worked
  // out again each second, which took a whole core
  it('reaches the end of the day however often a job runs, and rests while no minute begins', async () => {
    const page = await viewer.open(house.gateway.url, { path: '/' });
    const at = new Date(Date.now() + 30_000).toISOString();
    const job = { enabled: true, employee: null, timezone: 'Europe/Berlin', nextRunAt: at, lastRun: null };
    await page.route('**/api/cron', (route) =>
      route.fulfill({
        json: [
          { ...job, id: 'c1', name: 'Count the fish', schedule: '* * * * *' },
          { ...job, id: 'c2', name: 'Feed them', schedule: '30 */6 * * *' },
        ],
      }),
    );
    await viewer.go(page, '#/cron');
    const marks = page.locator('[data-strip=c1] .due');
    await marks.last().waitFor({ state: 'attached' });
    expect(Number(await marks.last().getAttribute('x'))).to.be.within(2_860, 2_880);
    expect(await marks.count()).to.be.at.most(145);
    await page.waitForSelector('[data-strip=c1] [aria-label*="or more due in the next 24"]');
    await page.waitForSelector('[data-strip=c2] [aria-label*=", 4 due in the next 24"]');
    await page.evaluate(`{
      const { formatToParts } = Intl.DateTimeFormat.prototype;
      window.asked = 0;
      Intl.DateTimeFormat.prototype.formatToParts = function (...given) {
        window.asked += 1;
        return formatToParts.apply(this, given);
      };
      window.texts = new Set();
    }`);
    await until(page, `texts.add(document.querySelector('[data-job=c1]').innerText) && texts.size > 2`);
    // A minute that began meanwhile asks for each mark once
    expect(await page.evaluate('asked')).to.be.at.most(1_000);
    await page.context().close();
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
