import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/**
 * Cron, connectors, files and the organisation with records in them, by day, by night and on a phone. What a gateway
 * would need services and files for is answered in its place.
 */
describe('the lists of the console', () => {
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

  const views = [
    ['cron', '[aria-label="Run now: Weekly report"]'],
    ['connectors', '.panel .rows li >> nth=2'],
    ['files', '#files-title ~ * li'],
    ['organisation', '[data-employee=ann]'],
  ] as const;
  for (const [sight, options] of Object.entries({
    day: { viewport: { width: 1440, height: 900 } },
    night: { colorScheme: 'dark', viewport: { width: 1024, height: 768 } },
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  } as const))
    it(`are drawn by ${sight}: nothing wider than the window, nothing that a checker finds`, async () => {
      const page = await viewer.open(house.gateway.url, { path: '/', ...options, reducedMotion: 'reduce' });
      await answerInPlace(page);
      for (const [name, ready] of views) {
        await viewer.go(page, `#/${name}`);
        await page.waitForSelector(ready);
        await picture(page, `console-${name}-${sight}`);
        // A phone shows a page that is too wide smaller, and says that the window was that wide
        expect(await page.evaluate('document.documentElement.scrollWidth'), name).to.be.at.most(
          options.viewport.width,
        );
        expect(await wrongWith(page, sight === 'night' ? rulesOfColour : undefined), name).to.deep.equal([]);
      }
      await page.context().close();
    });

  it('show times in the time zone of the company, and UTC on hover', async () => {
    const page = await viewer.open(house.gateway.url, { path: '/' });
    const next = Date.UTC(2026, 10, 30, 12);
    await answerInPlace(page, { timeZone: 'Asia/Tokyo', nextRunAt: new Date(next).toISOString() });
    await page.reload();
    await viewer.go(page, '#/cron');
    const cell = page.locator('td.num[title]').first();
    await cell.waitFor();
    expect(await cell.getAttribute('title')).to.match(/\b(9:00:00 PM|21:00:00) \(2026-11-30 12:00:00 UTC\)$/);
    await page.context().close();
  });

  it('break no rule of their own policy and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});

const at = new Date(Date.now() - 3_600_000).toISOString();

async function answerInPlace(
  page: Page,
  given: { readonly timeZone?: string; readonly nextRunAt?: string } = {},
): Promise<void> {
  const job = {
    enabled: true,
    employee: 'ann',
    schedule: '0 7 * * 1',
    timezone: 'Europe/Berlin',
    nextRunAt: given.nextRunAt ?? new Date(Date.now() + 7_200_000).toISOString(),
    lastRun: null,
  };
  const delivery = { outcome: 'sent', text: 'The weekly report is ready.', createdAt: at };
  const employee = { rank: 'employee', role: 'Writes the reports', department: 'build', engine: 'pen' };
  const answers: Readonly<Record<string, unknown>> = {
    '/api/cron': [
      { ...job, id: 'c1', name: 'Weekly report', lastRun: { status: 'success', timestamp: at } },
      { ...job, id: 'c2', name: 'Look at the mail', lastRun: { status: 'error', timestamp: at } },
      { ...job, id: 'c3', name: 'Water the plants in all the rooms', enabled: false, nextRunAt: null },
    ],
    '/api/connectors': [
      { name: 'slack', status: 'running', employee: null, detail: null },
      { name: 'mail', status: 'error', employee: null, detail: 'The server refused the login (535).' },
    ],
    '/api/connectors/slack/deliveries': {
      deliveries: [
        delivery,
        { ...delivery, outcome: 'failed', reason: 'not_in_channel' },
        { ...delivery, outcome: 'unknown', text: 'A long message that goes on and on. '.repeat(8) },
      ],
    },
    '/api/connectors/mail/deliveries': { deliveries: [] },
    '/api/files': [
      { id: 'f1', filename: 'report.pdf', size: 2_345_678, createdAt: at },
      { id: 'f2', filename: `${'a-name-as-long-as-names-can-be-'.repeat(5)}.png`, size: 12, createdAt: at },
    ],
    '/api/skills': [
      { name: 'review', description: 'How we review a change before it is merged. '.repeat(4) },
    ],
    '/api/org/budgets': { budgets: [{ employee: 'ann', spentUsd: 12.5, limitUsd: 20, grantedUsd: 5 }] },
    '/api/org': {
      setAside: [{ file: 'org/carl.md', reason: 'The rank "boss" is unknown.' }],
      hierarchy: { warnings: [], sorted: ['chief', 'ann'] },
      employees: [
        { ...employee, name: 'chief', displayName: 'Chief', depth: 0, rank: 'executive' },
        { ...employee, name: 'ann', displayName: 'Ann', depth: 1, emoji: '✏️' },
      ],
    },
  };
  const { timeZone } = given;
  await page.route('**/api/inspect/fleet', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), timeZone: timeZone ?? null } });
  });
  await page.route(
    ({ pathname }) => pathname in answers,
    (route) => route.fulfill({ json: answers[new URL(route.request().url()).pathname] }),
  );
}
