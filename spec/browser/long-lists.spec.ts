import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { openBrowser, until, type Viewer } from './browser.js';

/**
 * Lists of thousands: only the rows that can be seen are in the page, at the top, at the end, and on a phone. What is
 * slow to make by thousands is answered in the gateway's place.
 */
describe('long lists', () => {
  let house: House;
  let viewer: Viewer;
  let pages: Readonly<Record<'/inspect' | '/', Page>>;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse({ withRoster: true });
    const open = async (path: string): Promise<Page> => {
      const page = await viewer.open(house.gateway.url, { path, reducedMotion: 'reduce' });
      await answerInPlace(page);
      await page.reload(); // what is read for all views at once is answered in place too
      return page;
    };
    pages = { '/inspect': await open('/inspect'), '/': await open('/') };
  });
  beforeEach(async () => {
    for (const page of Object.values(pages)) await page.setViewportSize({ width: 1440, height: 900 });
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });

  const views = [
    { of: 'what waits, in the inspector', path: '/inspect', at: '#/waiting', list: '.waiting tbody' },
    { of: 'runs', path: '/inspect', at: '#/runs', list: '.runs' },
    { of: 'dead letters', path: '/inspect', at: '#/supervision', list: '.moves' },
    { of: 'the inbox', path: '/', at: '#/inbox', list: '.inbox .list' },
    { of: 'the board', path: '/', at: '#/board', list: '[data-status=backlog] ul' },
    { of: 'sessions', path: '/', at: '#/chat', list: '.sessions ul' },
    { of: 'files', path: '/', at: '#/files', list: '[aria-labelledby=files-title] ul' },
    { of: 'cron jobs', path: '/', at: '#/cron', list: '.sheet tbody' },
    { of: 'employees', path: '/', at: '#/organisation', list: '.sheet tbody' },
  ] as const;
  for (const { of, path, at, list } of views)
    it(`of ${of} have few nodes in the page, at both ends and on a phone`, async () => {
      const page = pages[path];
      await viewer.go(page, at);
      await page.waitForSelector(`${list} > [data-index="0"]`);
      expect(await nodesOf(page, list), 'at the top').to.be.within(12, nodesMax);
      await toTheEnd(page, list);
      await until(page, `${nodesIn(list)} >= 12`); // what is read where one looks has come
      expect(await nodesOf(page, list), 'at the end').to.be.within(12, nodesMax);
      await page.setViewportSize({ width: 390, height: 844 });
      await until(page, `document.querySelectorAll('${list} > [data-index]').length > 0`);
      expect(await nodesOf(page, list), 'on a phone').to.be.within(2, nodesMax);
    });

  // A row that was the last in the page was taken to be lower than with one after it, by what lies between them. Where
  // the edge of what can be seen fell in there, the list went back and forth between two ranges, and the page hung.
  it('come to rest wherever the edge of what can be seen falls', async () => {
    const page = pages['/'];
    await viewer.go(page, '#/now');
    await page.waitForSelector('.view.now');
    await page.evaluate('scrollTo(0, 0)');
    await viewer.go(page, '#/board');
    await page.waitForSelector('[data-status=backlog] ul > [data-index="0"]');
    for (let height = 700; height < 800; height += 4) await page.setViewportSize({ width: 1440, height });
    await until(page, 'innerHeight === 796');
    expect(await nodesOf(page, '[data-status=backlog] ul')).to.be.within(12, nodesMax);
  });

  it('go on by key beyond what is in the page', async () => {
    const page = pages['/'];
    await viewer.go(page, '#/now');
    await page.waitForSelector('.view.now');
    await page.evaluate('scrollTo(0, 0)');
    await viewer.go(page, '#/inbox');
    await page.waitForSelector('.inbox .list > [data-index="0"]');
    await page.evaluate('document.activeElement.blur()');
    for (let n = 0; n < 60; n += 1) await page.keyboard.press('j');
    await page.waitForSelector('.inbox .list > .at[data-index="60"]');
    const at = `document.querySelector('.inbox .list > .at').getBoundingClientRect()`;
    await until(page, `${at}.top >= 0 && ${at}.bottom <= innerHeight + 1`);
  });

  it('break no rule of their own policy and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});

const nodesMax = 400;
const many = 3_000;

/** Elements in the rows of a list, with the rows themselves: to be asked of a page. */
const nodesIn = (list: string): string =>
  `[...document.querySelectorAll('${list} > [data-index]')].reduce((sum, row) => sum + 1 + row.querySelectorAll('*').length, 0)`;
const nodesOf = (page: Page, list: string): Promise<number> => page.evaluate(nodesIn(list));

/** Scrolls whatever has to be until the last row stands in the window. */
async function toTheEnd(page: Page, list: string): Promise<void> {
  const isThere = `(() => {
    const rows = document.querySelector('${list}');
    const last = rows.querySelector(':scope > [data-index]:nth-last-child(1)');
    const size = Number(last?.getAttribute('aria-setsize') ?? rows.closest('table')?.getAttribute('aria-rowcount') - 1);
    if (last !== null && Number(last.dataset.index) === size - 1) return true;
    for (let at = rows; at !== null; at = at.parentElement) at.scrollTop = at.scrollHeight;
    return false;
  })()`;
  await until(page, isThere);
}

async function answerInPlace(page: Page): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z';
  const rows = <Row>(row: (n: number) => Row): Row[] => Array.from({ length: many }, (_, n) => row(n));
  const answers: Readonly<Record<string, unknown>> = {
    '/api/attention': {
      waiting: rows((n) => ({
        kind: 'work-item',
        id: `T-${n}`,
        waitingId: `a${n}`,
        what: 'approval',
        title: `Water room ${n}: May I?`,
        on: 'operator',
        since: at,
        until: null,
        endedBy: [{ method: 'POST', path: `/api/work-items/T-${n}/approval/decision` }],
      })),
      nextCursor: null,
    },
    '/api/work-items': {
      workItems: rows((n) => ({
        id: `T-${n}`,
        title: `Water room ${n}`,
        status: 'backlog',
        assignee: null,
        department: null,
        approvalState: 'none',
        updatedAt: at,
      })),
      total: many,
    },
    '/api/sessions': {
      sessions: rows((n) => ({
        id: `s${n}`,
        title: `Session ${n}`,
        status: 'idle',
        engine: 'pen',
        employee: null,
        lastActivity: at,
      })),
    },
    '/api/files': rows((n) => ({ id: `f${n}`, filename: `report-${n}.pdf`, size: 2_000, createdAt: at })),
    '/api/cron': rows((n) => ({
      id: `c${n}`,
      name: `Job ${n}`,
      enabled: true,
      employee: null,
      schedule: '0 7 * * *',
      timezone: 'UTC',
      nextRunAt: at,
      lastRun: null,
    })),
    '/api/org/budgets': { budgets: [] },
    '/api/org': {
      setAside: [],
      departments: [],
      hierarchy: { warnings: [], sorted: [] },
      employees: rows((n) => ({
        name: `e${n}`,
        displayName: `Employee ${n}`,
        directReports: [],
        depth: 0,
        rank: 'employee',
        role: 'writes',
        department: 'desk',
      })),
    },
    '/api/workflow-runs': {
      runs: rows((n) => ({
        runId: `r${n}`,
        workflowId: 'w',
        title: `Run ${n}`,
        status: 'completed',
        startedAt: at,
        endedAt: at,
        stepCount: 3,
        inFlight: 0,
        queued: false,
        parked: null,
      })),
    },
    '/api/inspect/stuck': {
      stopped: [],
      slow: [],
      engines: [],
      more: [],
      deadLettersCount: many,
      isCut: true,
      deadLetters: rows((n) => ({
        id: `d${n}`,
        actor: { kind: 'session', id: `s${n}` },
        at: n,
        event: { type: 'message.post' },
        error: 'It threw.',
      })),
    },
  };
  await page.route(
    ({ pathname }) => pathname in answers,
    (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      const answer = answers[pathname];
      if (pathname !== '/api/work-items') return route.fulfill({ json: answer });
      const { workItems, total } = answer as { workItems: readonly unknown[]; total: number };
      const offset = Number(searchParams.get('offset'));
      return route.fulfill({
        json: { workItems: workItems.slice(offset, offset + Number(searchParams.get('limit'))), total },
      });
    },
  );
}
