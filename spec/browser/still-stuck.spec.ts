import { expect } from 'chai';
import { setup } from 'xstate';
import type { Kind } from '../../actors/contracts.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** What does not end by the first button that is pressed: the list says so, and does not forget it. */
describe('what stays stuck, in a browser', () => {
  let house: House;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse({ kinds: [jug] });
    await house.supervisor.spawn('jug', { id: 'old-jug' });
    await house.supervisor.ask('jug', 'old-jug', { type: 'fill' }).catch(() => undefined);
    await house.operator.post('/api/sessions', { prompt: 'x', engine: 'ghost', title: 'Haunt the attic' });
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });

  // It stood in Supervision alone, where no one who waits for it begins
  it('has an engine that cannot run, for whom it stands in the way and what repairs it', async () => {
    const page = await viewer.open(house.gateway.url, { at: '#/waiting' });
    const row = '.waiting tr[data-problem=engine]';
    await page.waitForSelector(`${row} .cause >> text=Its program was not found. Install ghost.`);
    await page.waitForSelector(`${row} .cause-facts a >> text=Haunt the attic`);
    // What ends it is loaded after the list
    await page.waitForSelector(`${row} >> text=/^Install or repair it/`);
    expect(await page.locator(row).innerText()).to.match(/ghost cannot run[^]*missing engine/);
    // The session itself says how it goes on
    await page.waitForSelector(
      '.waiting tr[data-problem=stopped] >> text=Send it a message: a new turn begins',
    );
    expect(await wrongWith(page)).to.deep.equal([]);
    await picture(page, 'waiting-missing-engine');
    // Where not all sessions were read it said "and at least 0 more"
    await page.route('**/api/inspect/stuck', async (route) => {
      const response = await route.fetch();
      const { engines, ...rest } = await response.json();
      const json = { ...rest, engines: engines.map((one: object) => ({ ...one, isAtLeast: true })) };
      await route.fulfill({ response, json });
    });
    await page.reload();
    await page.waitForSelector(`${row} .cause-facts >> text=/Haunt the attic and perhaps more$/`);
    await page.context().close();
  });

  // It said nothing, its row vanished a minute later, and one who came back could not see that it had been tried
  it('says of a dead letter that it failed again, on its new row and on return', async () => {
    const page = await viewer.open(house.gateway.url, { at: '#/waiting' });
    const row = '.waiting tr[data-problem=letter]';
    // It spoke of guards, transitions and state nodes before it came to what was wrong
    await page.waitForSelector(`${row} .cause > p >> text=/^the jug leaks$/`);
    await page.click(`${row} summary >> text=As it was thrown`);
    await page.waitForSelector(`${row} pre >> text=Unable to evaluate guard 'holds'`);
    await page.click(`${row} >> text=Try again`);
    await page.waitForSelector(
      `${row}:not(.gone) .outcome.bad >> text=/Tried again: it failed again\\. At \\d/`,
    );
    await page.mouse.move(0, 0);
    await page.waitForSelector(`${row}.gone`, { state: 'detached' });
    await viewer.go(page, '#/fleet');
    await page.waitForSelector('#fleet-title');
    await viewer.go(page, '#/waiting');
    await page.waitForSelector(`${row} .outcome.bad >> text=it failed again`);
    expect(await page.locator(row).count()).to.equal(1);
    await page.context().close();
    expect(viewer.complaints).to.deep.equal([]);
  });
});

const machine = setup({
  types: {} as { events: { type: 'fill' } },
  guards: {
    holds: () => {
      throw new Error('the jug leaks');
    },
  },
}).createMachine({
  id: 'jug',
  initial: 'empty',
  states: { empty: { on: { fill: { guard: 'holds', target: 'full' } } }, full: {} },
});
const jug = {
  kind: 'jug',
  version: 1,
  machine,
  view: ({ value }: { value: unknown }) => value,
  supervision: { intensity: 9, periodSeconds: 60, backoffMs: 0, giveUp: 'halt' },
} as unknown as Kind; // a list of kinds forgets the type of each one's machine
