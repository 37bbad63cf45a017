import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { standardQuotas } from '../../lib/home/agent-settings.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** That an agent was refused for its quota stood in no place but its own answer. */
describe('quotas of agents, in a browser', () => {
  let house: House;
  let viewer: Viewer;
  let page: Page;
  before(async () => {
    viewer = await openBrowser();
    const { hour, total } = standardQuotas.sessions;
    house = await openHouse({
      withRoster: true,
      settings: {
        home: '',
        sessionRoots: [],
        interruptOnNewMessage: true,
        turnDeadlineMs: 60_000,
        agentQuotas: { ...standardQuotas, sessions: { hour: 1, total }, items: { hour, total: 3 } },
      },
    });
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });

  it('say who has begun what, of how much, until when, and which of them was met; the scarcest first', async () => {
    const open = async (body: object) =>
      (await house.operator.post('/api/sessions', { prompt: 'hello', ...body })).body.id as string;
    const lone = await open({});
    expect((await house.agent(lone).post('/api/work-items', { title: 'x' })).status).to.equal(201);
    const ann = house.agent(await open({ employee: 'ann' }));
    expect((await ann.post('/api/sessions', { prompt: 'x' })).status).to.equal(201);
    expect((await ann.post('/api/sessions', { prompt: 'x' })).status).to.equal(429);

    page = await viewer.open(house.gateway.url, { at: '#/supervision', reducedMotion: 'reduce' });
    await page.waitForSelector('.quotas tbody tr >> nth=1');
    const rows = await page.locator('.quotas tbody tr').allInnerTexts();
    expect(rows[0]).to.match(
      /employee:ann[^]*1 of 1 this hour[^]*\d+:\d\d[^]*sessions per hour, \d+ (?:s|min) ago/,
    );
    expect(rows[1])
      .to.include(`session:${lone}`)
      .and.to.match(/1 of 3 in all[^]*none/);
    expect(await page.locator('.quotas tbody td span.bad').first().innerText()).to.equal('1 of 1');
    expect(await wrongWith(page)).to.deep.equal([]);
    await picture(page, 'quotas');
    await page.click(`.quotas a >> text=session:${lone}`);
    await page.waitForSelector('#actor-title');
  });
});
