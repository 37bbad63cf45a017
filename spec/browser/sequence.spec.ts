import { expect } from 'chai';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';

/** What led from what to what, drawn: its lanes are called as people call them, and every word can be read. */
describe('a sequence diagram in a browser', () => {
  let house: House;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse({ withRoster: true });
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });

  // What a session told its parent was an arrow through the words of the step that it reached
  it('draws no line through words, whichever way it leads, and names each lane by its title', async () => {
    const { workItemId, sessionId } = (
      await house.operator.post('/api/delegations', { task: 'Count <i>the</i> chairs', employee: 'ann' })
    ).body as { readonly workItemId: string; readonly sessionId: string };
    const page = await viewer.open(house.gateway.url, { at: '#/time' });
    await page.locator('.log li', { hasText: 'attempt.ended' }).locator('button').click();
    await until(page, 'document.querySelectorAll(".sequence .lane-id").length === 2');
    const titles = await page.locator('.sequence .lane-title').allTextContents();
    expect(titles).to.include('Count <i>the</i> chairs');
    expect(await page.locator('.sequence .lane-id').allTextContents()).to.satisfy((ids: string[]) =>
      [workItemId, sessionId].every((id) => ids.some((shown) => id.startsWith(shown.replace('…', '')))),
    );
    const ways = await page.evaluate<
      number[]
    >(`[...document.querySelectorAll('.sequence .link')].map((link) =>
      Math.round((link.getPointAtLength(link.getTotalLength()).x - link.getPointAtLength(0).x) / 100))`);
    expect(Math.min(...ways), 'to the left').to.be.lessThan(0);
    expect(Math.max(...ways), 'to the right').to.be.greaterThan(0);
    expect(await page.evaluate(struck)).to.deep.equal([]);
    await picture(page, 'sequence');
    await page.context().close();
  });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});

/** Words with a line through them. */
const struck = `[...document.querySelectorAll('.sequence text')].flatMap((text) => {
  const { x, y, width, height } = text.getBBox();
  return [...document.querySelectorAll('.sequence .link')].some((link) => {
    const length = link.getTotalLength();
    for (let at = 0; at <= length; at += 1) {
      const point = link.getPointAtLength(at);
      if (point.x > x && point.x < x + width && point.y > y + 2 && point.y < y + height - 2) return true;
    }
    return false;
  }) ? [text.textContent] : [];
})`;
