import { expect } from 'chai';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** Is it stuck, or does it work? One look at a running agent tells. */
describe('a running agent in a browser', () => {
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

  it('shows its last output to one who comes late, its silence, its deadline and its cost', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'stream, then hang' })).body;
    const page = await viewer.open(house.gateway.url, {
      at: `#/actor/session/${id}`,
      reducedMotion: 'reduce',
    });
    await page.waitForSelector('.working .said >> text=did');
    const facts = (await page.locator('.work-facts').innerText()).replaceAll('\n', ' ');
    expect(facts).to.match(/silent for \d+ s/);
    expect(facts).to.match(/turn is ended in (?:\d+ s|1 min)/);
    expect(facts).to.include('cost so far $0.00');
    await picture(page, 'working-day');
    expect(await wrongWith(page), 'by day').to.deep.equal([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await wrongWith(page, rulesOfColour), 'by night').to.deep.equal([]);
    await house.operator.post(`/api/sessions/${id}/stop`);
    await page.waitForSelector('.working', { state: 'detached' });
    await page.context().close();
  });

  it('counts what was refused before the page was opened', async () => {
    const { workItem } = (await house.operator.post('/api/work-items', { title: 'x' })).body;
    await house.operator.post(`/api/work-items/${workItem.id}/approval`, { decision: 'approve' });
    const page = await viewer.open(house.gateway.url);
    await page.waitForSelector('[aria-label="Refused, newest first"] li');
    expect(await page.locator('.figures > div').last().innerText()).to.match(/1\s+refused|refused\s+1/);
    await page.context().close();
  });

  it('breaks no rule of the policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
