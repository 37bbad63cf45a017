import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { topics } from '../../lib/docs/guides.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { launch } from './launch.js';

/** The guides in a browser that is not paired, by day, by night and on a small screen. */
describe('the pages of the guides', () => {
  let house: House;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  before(async () => {
    house = await openHouse();
    browser = await launch();
    page = await browser.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  after(async () => {
    await browser.close();
    await house.close();
  });

  it('load their style and nothing that the policy refuses, and nothing sticks out of a small screen', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of ['/docs', ...topics.map((topic) => `/docs/${topic}`)]) {
      await page.goto(`${house.gateway.url}${path}`);
      expect(await page.evaluate('getComputedStyle(document.querySelector("main")).display')).to.equal(
        'block',
      );
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
    }
    expect(complaints).to.deep.equal([]);
  });

  it('lead from one to another by links and by their headings', async () => {
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(`${house.gateway.url}/docs`);
    await page.click('main a >> text=Engines');
    await page.click('main a[href="/docs/security#what-an-agent-may-do"]');
    expect(await page.evaluate('document.querySelector(":target").textContent')).to.equal(
      'What an agent may do',
    );
    expect(await page.getAttribute('nav a[aria-current=page]', 'href')).to.equal('/docs/security');
  });

  it('are sound before a checker that others wrote, by day and by night', async () => {
    for (const path of ['/docs', '/docs/effects', '/docs/command-line']) {
      await page.goto(`${house.gateway.url}${path}`);
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await wrongWith(page), path).to.deep.equal([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await wrongWith(page, rulesOfColour), `${path}, by night`).to.deep.equal([]);
    }
  });
});
