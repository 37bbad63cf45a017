import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { readAnnouncement } from '../../lib/home/announce.js';
import { layoutOf } from '../../lib/home/layout.js';
import { startInstance, type Instance } from '../../lib/instance.js';
import { makeClient, openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, shown, type Viewer } from './browser.js';

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
    ['cost', '[data-dearest=s1]'],
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

  it('say where the month leads to, which budgets are nearly spent and what cost most', async () => {
    const page = await viewer.open(house.gateway.url, { path: '/' });
    await answerInPlace(page);
    const expected = [endOfMonth()];
    await viewer.go(page, '#/cost');
    const end = await page.locator('[data-forecast]').innerText();
    expect(end).to.be.oneOf([...expected, endOfMonth()]); // midnight may have passed
    await page.waitForSelector('[data-budget=ann] >> text=nearly spent');
    await page.waitForSelector('[data-dearest=s1] >> text=Count the fish');
    await page.context().close();
  });

  // Rows by session and by work item were ids
  it('name what sessions and work items cost by their titles, and lead there', async () => {
    const session = await house.operator.post('/api/delegations', {
      task: 'Count the fish',
      title: 'Fish in the pond',
      engine: 'pen',
    });
    const { sessionId, workItemId } = session.body;
    const page = await viewer.open(house.gateway.url, { path: '/', at: '#/cost' });
    for (const [by, id, at] of [
      ['session', sessionId, `#/chat/${sessionId}`],
      ['workItem', workItemId, `#/item/${workItemId}`],
    ] as const) {
      await page.selectOption('[aria-label=By]', by);
      const link = page.locator(`th a[title="${id}"]`);
      await link.waitFor();
      expect([await link.innerText(), await link.getAttribute('href')]).to.deep.equal([
        'Fish in the pond',
        at,
      ]);
    }
    await page.context().close();
  });

  it('send a test message through a connector, and say what became of it', async () => {
    const page = await viewer.open(house.gateway.url, { path: '/' });
    await answerInPlace(page);
    await page.route('**/api/connectors/slack/send', (route) =>
      route.fulfill({
        json: { status: 'failed', deliveryId: 'd9', messageId: null, reason: 'not_in_channel' },
      }),
    );
    await viewer.go(page, '#/connectors');
    await page.fill('[aria-label="Channel of slack for a test message"]', '#reports');
    const sent = page.waitForRequest('**/api/connectors/slack/send');
    await page.click('button >> text=Send a test');
    expect((await sent).postDataJSON()).to.include({ channel: '#reports' });
    await page.waitForSelector('[data-outcome] >> text=The test message was not sent. not_in_channel');
    await page.context().close();
  });

  it('mark on the strip what was missed where it was due, and what was caught up late', async () => {
    const page = await viewer.open(house.gateway.url, { path: '/' });
    await answerInPlace(page);
    await viewer.go(page, '#/cron');
    const late = page.locator('[data-strip=c1] [data-run=caught-up] title');
    await late.waitFor({ state: 'attached' });
    expect(await late.textContent()).to.match(/ success: caught up, was due at /);
    const missed = page.locator('[data-strip=c1] [data-run=missed]');
    // Due five hours ago, on record since one hour
    const hoursAgo = (1_440 - Number(await missed.getAttribute('x')) - 8) / 60;
    expect(hoursAgo).to.be.within(4.9, 5.1);
    await page.waitForSelector('[data-strip=c1] [aria-label*="1 of them missed, 1 caught up late"]');
    await page.context().close();
  });

  it('break no rule of their own policy and throw nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});

/** A whole gateway over a home with files, which the console reads and writes. */
describe('what is kept in the home, in the console', () => {
  const layout = async () => layoutOf({ home: await mkdtemp(join(tmpdir(), 'console-home-')) });
  let home: Awaited<ReturnType<typeof layout>>;
  let instance: Instance;
  let viewer: Viewer;
  let token: string;
  before(async () => {
    viewer = await openBrowser();
    home = await layout();
    const files = {
      'config.yaml': 'engines: {default: clerk}\n',
      'org/build/ann.yaml':
        '# Ann, since spring\nrank: employee # for now\nengine: clerk\npersona: Builds.\n',
      'skills/review/SKILL.md': '---\nname: review\ndescription: How we review.\n---\n\nRead it **twice**.\n',
      'knowledge/pond.md': '# The pond\n\nIt lies north of the house.\n',
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(home.home, path)), { recursive: true });
      await writeFile(join(home.home, path), text);
    }
    instance = await startInstance({ layout: home, port: 0 });
    token = String((await readAnnouncement(home.announcement))?.token);
  });
  after(async () => {
    await viewer.close();
    await instance.close();
    await rm(home.home, { recursive: true, force: true });
  });
  const open = (place: string, options = {}): Promise<Page> =>
    viewer.open(instance.url, { path: '/', at: place, token, ...options });
  const file = (path: string): Promise<string> => readFile(join(home.home, path), 'utf8');
  const rewrite = async (page: Page, change: (text: string) => string): Promise<void> => {
    await page.fill('textarea.yaml', change(await page.inputValue('textarea.yaml')));
    await page.click('button >> text=Show what changes');
  };

  it('an employee is changed in its file, comments and all, after one has seen what changes', async () => {
    const page = await open('#/organisation');
    await page.click('[data-employee=ann] th a');
    await page.click('button >> text=Edit');
    await rewrite(page, (text) => text.replace('rank: employee', 'rank: boss'));
    await page.waitForSelector('[data-outcome] >> text=/rank/');
    await rewrite(page, (text) => text.replace('rank: boss', 'rank: manager'));
    await page.waitForSelector('.previewed .added >> text=rank: manager # for now');
    // Another writes it in between: what was seen is not what would be done
    await writeFile(join(home.home, 'org/build/ann.yaml'), `${await file('org/build/ann.yaml')}# by hand\n`);
    await page.click('button >> text=Save');
    await page.waitForSelector('[data-outcome] >> text=Preview it again');
    await page.click('button >> text=Show what changes');
    await page.waitForSelector('.previewed .removed >> text=# by hand');
    await page.click('button >> text=Save');
    await page.waitForSelector('[data-outcome] >> text=Saved.');
    expect(await file('org/build/ann.yaml')).to.equal(
      '# Ann, since spring\nrank: manager # for now\nengine: clerk\npersona: Builds.\n',
    );
    await page.context().close();
  });

  it('an employee is hired, and a team made from a template, which the empty home offers too', async () => {
    const page = await open('#/organisation');
    await page.click('.hire summary');
    await page.fill('[aria-label="Name of the new employee"]', 'ann');
    await page.waitForSelector('.hire >> text=There is one of this name.');
    await page.fill('[aria-label="Name of the new employee"]', 'bert');
    await page.click('.hire button[type=submit]');
    await rewrite(page, (text) => `${text}reportsTo: ann\n`);
    await page.waitForSelector('[data-entry="org/build/bert.yaml"] >> text=new');
    await page.click('button >> text=Save');
    await page.waitForSelector('[data-outcome] >> text=Saved.');
    await viewer.go(page, '#/organisation');
    await page.waitForSelector('[data-employee=bert]');
    await viewer.go(page, '#/now');
    await page.click('.first [aria-label="Show Research team"]');
    await page.waitForSelector('.first [data-entry="org/research/editor.yaml"]');
    await page.click('.first >> text=Add this team');
    await page.waitForSelector('[data-template] >> text=the team is employed');
    await viewer.go(page, '#/organisation');
    await page.waitForSelector('[data-employee=researcher]');
    await page.context().close();
  });

  // Their cron jobs went on failing, their sessions at work, and no one had said so
  it('an employee is retired after one has seen what hangs on them, unless others report to them', async () => {
    await writeFile(join(home.home, 'org/build/dora.yaml'), '# Dora\nrank: employee\n');
    await writeFile(join(home.home, 'org/build/emil.yaml'), 'rank: employee\nreportsTo: dora\n');
    // By a part of her name they were taken for his
    await writeFile(join(home.home, 'org/build/emilia.yaml'), 'rank: employee\n');
    await writeFile(join(home.home, 'org/build/zoe.yaml'), 'rank: employee\nreportsTo: emilia\n');
    const page = await open('#/organisation');
    await page.waitForSelector('[data-employee=emil]');
    await page.waitForSelector('[data-employee=zoe]');
    const operator = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
    const post = async (path: string, body: object): Promise<any> => {
      const answer = await operator.post(path, body);
      expect(answer.status, answer.text).to.be.within(200, 299);
      return answer.body;
    };
    const job = await post('/api/cron', {
      ...{ name: 'Count the fish', prompt: 'list', schedule: '0 7 * * 1', employee: 'dora' },
    });
    const [kept, moved] = [
      (await post('/api/work-items', { title: 'Feed them', assignee: 'dora' })).workItem.id as string,
      (await post('/api/work-items', { title: 'Net them', assignee: 'emil' })).workItem.id as string,
    ];
    const session = await post('/api/sessions', { prompt: 'list', employee: 'dora' });
    await page.waitForSelector('[data-load=dora] >> text=/1 open$/');
    await page.waitForSelector('[data-load=zoe] >> text=/^0 open$/');
    await page.click('[aria-label="Retire dora"]');
    await page.waitForSelector('.retire [data-tie=reports] >> text=emil reports to dora');
    await page.waitForSelector('.retire button[type=submit]:disabled');
    await picture(page, 'console-retire-day');
    expect(await wrongWith(page)).to.deep.equal([]);
    await page.click('.retire >> text=Keep dora');
    await page.click('[aria-label="Retire emil"]');
    await page.waitForSelector('.retire [data-tie=items] >> text=1 open work item will stay on the board');
    await page.selectOption('.retire select', 'ann');
    await page.waitForSelector(`.retire [data-tie=items] >> text=will go to ann: ${moved}`);
    await page.press('.retire button[type=submit]', 'Enter');
    await page.waitForSelector('[data-employee=emil]', { state: 'detached' });
    await page.click('[aria-label="Retire dora"]');
    await page.waitForSelector(
      '.retire [data-tie=jobs] >> text=1 cron job will be switched off, and kept: Count the fish',
    );
    await page.waitForSelector('.retire [data-tie=items] >> text=will stay on the board under dora');
    await page.waitForSelector('.retire [data-tie=sessions] >> text=/1 session.* will be .*archived/');
    await page.click('.retire button[type=submit]');
    await page.waitForSelector('[data-employee=dora]', { state: 'detached' });
    expect(await file('org/.retired/build/dora.yaml')).to.include('# Dora');
    const assignee = async (id: string) =>
      (await operator.get(`/api/work-items/${id}`)).body.workItem.assignee;
    expect([await assignee(kept), await assignee(moved)]).to.deep.equal(['dora', 'ann']);
    expect((await operator.get(`/api/cron/${job.id}`)).body).to.include({ enabled: false, employee: 'dora' });
    const ended = (await operator.get(`/api/sessions/${session.id}`)).body;
    expect(ended.archivedAt).to.be.a('string');
    await page.context().close();
  });

  // It said that all was as before, and did not see the sessions of cron jobs
  it('a retirement that is refused midway says what is done; the sessions of cron jobs belong to it', async () => {
    await writeFile(join(home.home, 'org/build/fred.yaml'), 'rank: employee\n');
    const operator = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
    const page = await open('#/organisation');
    await page.waitForSelector('[data-employee=fred]');
    const job = (
      await operator.post('/api/cron', {
        ...{ name: 'Count the newts', prompt: 'list', schedule: '0 7 * * 1', employee: 'fred' },
      })
    ).body;
    expect((await operator.post(`/api/cron/${job.id}/trigger`, {})).status).to.be.within(200, 299);
    await page.route('**/api/sessions/*/archive', (route) =>
      route.fulfill({ status: 409, json: { error: 'CONFLICT', message: 'It is not idle.' } }),
    );
    await page.click('[aria-label="Retire fred"]');
    await page.waitForSelector('.retire [data-tie=jobs] >> text=Count the newts');
    await page.waitForSelector('.retire [data-tie=sessions] >> text=/1 session/');
    await page.click('.retire button[type=submit]');
    await page.waitForSelector(
      '.retire [role=alert] >> text=/fred is not retired. Refused: to archive a session/',
    );
    await page.waitForSelector('.retire [role=alert] >> text=/Done already: cron jobs switched off: 1/');
    await page.unroute('**/api/sessions/*/archive');
    await page.click('.retire button[type=submit]');
    await page.waitForSelector('[data-employee=fred]', { state: 'detached' });
    await page.context().close();
  });

  // Who left an editor of a text, by a link or by closing the tab, lost what was written
  it('keeps what was written and not saved, and throws it away where one wants', async () => {
    const page = await open('#/text/knowledge/pond.md');
    await page.click('button >> text=Edit');
    await page.fill('textarea.yaml', '# The pond\n\nIt is frozen.\n');
    await viewer.go(page, '#/now');
    await page.waitForSelector('.view.now');
    await writeFile(join(home.home, 'knowledge/pond.md'), '# The pond\n\nIt lies south.\n');
    await viewer.go(page, '#/text/knowledge/pond.md');
    await page.waitForSelector('[data-draft] >> text=The file has changed since');
    await page.reload();
    await page.waitForSelector('[data-draft]');
    expect(await page.inputValue('textarea.yaml')).to.include('It is frozen.');
    await page.click('button >> text=Leave it as it was');
    await page.waitForSelector('.text p >> text=It lies south.');
    await page.reload();
    await page.waitForSelector('.text p >> text=It lies south.');
    await writeFile(join(home.home, 'knowledge/pond.md'), '# The pond\n\nIt lies north of the house.\n');
    await page.context().close();
  });

  // On a borrowed device the token was forgotten, and the next person read what had been written
  it('leaves no draft on the device where the token is forgotten, and asks before', async () => {
    const page = await open('#/text/knowledge/pond.md');
    await page.click('button >> text=Edit');
    await page.fill('textarea.yaml', '# The pond\n\nA secret.\n');
    await viewer.go(page, '#/now');
    await page.waitForSelector('.view.now');
    const drafts = () =>
      page.evaluate("Object.keys(localStorage).filter((slot) => slot.includes('pond.md')).length");
    await page.click('text=Forget token');
    await page.waitForSelector('[data-forget] >> text=One unsaved text on this device will be lost.');
    await page.click('[data-forget] >> text=Stay');
    await page.waitForSelector('text=Forget token');
    expect(await drafts()).to.equal(1);
    await page.click('text=Forget token');
    await page.click('[data-forget] >> text=Forget all');
    await page.waitForSelector('#token');
    expect(await drafts()).to.equal(0);
    await page.context().close();
  });

  it('skills and knowledge are read, found, changed and written', async () => {
    const page = await open('#/files');
    await page.click('[data-skill=review]');
    await page.waitForSelector('.text strong >> text=twice');
    await page.click('button >> text=Edit');
    await rewrite(page, (text) => `${text}<img src=x onerror="window.hit=1">\n`);
    await page.waitForSelector('.previewed .added >> text=onerror');
    await page.click('button >> text=Save');
    await page.waitForSelector('[data-outcome] >> text=Saved.');
    expect(await page.evaluate('window.hit')).to.equal(undefined);
    expect(await file('skills/review/SKILL.md')).to.include('onerror');
    await viewer.go(page, '#/files');
    // It showed nothing before one had thought of a word
    await shown(page, 'li:has([data-knowledge="knowledge/pond.md"]) >> text=ago');
    await page.fill('[aria-label="Words in knowledge"]', 'pond');
    await page.press('[aria-label="Words in knowledge"]', 'Enter');
    await shown(page, '[data-knowledge="knowledge/pond.md"] mark');
    await page.fill('[aria-label="Words in knowledge"]', '');
    await page.waitForSelector('[data-knowledge] mark', { state: 'detached' });
    await shown(page, '[data-knowledge="knowledge/pond.md"]');
    await page.fill('[aria-label="Name of a new page"]', 'fish');
    await page.click('button >> text=Write a page');
    await rewrite(page, () => '# Fish\n\nThey like it warm.\n');
    await page.click('button >> text=Save');
    await page.waitForSelector('[data-outcome] >> text=Saved.');
    await page.waitForSelector('.text p >> text=They like it warm.');
    expect(await file('knowledge/fish.md')).to.include('They like it warm.');
    await viewer.go(page, '#/files');
    await shown(page, 'li:has([data-knowledge="knowledge/fish.md"]) >> text=operator,');
    const first = await page.locator('[data-knowledge]').first().getAttribute('data-knowledge');
    expect(first, 'the newest').to.equal('knowledge/fish.md');
    // Each a second after the one before: files written within one tick of a file system's clock are of one age
    const began = Date.now() / 1_000 + 1;
    for (let n = 0; n < 40; n += 1) {
      const path = join(home.home, `knowledge/many-${n}.md`);
      await writeFile(path, `# Many ${n}\n`);
      await utimes(path, began + n, began + n);
    }
    await instance.app.records?.knowledge.library.refresh();
    await page.reload();
    await shown(page, '[data-knowledge="knowledge/many-39.md"]');
    expect(await page.locator('[data-knowledge]').count()).to.equal(30);
    await page.click('button >> text=Show older');
    await shown(page, '[data-knowledge="knowledge/pond.md"]');
    expect(await page.locator('[data-knowledge]').count()).to.equal(42);
    for (let n = 0; n < 40; n += 1) await rm(join(home.home, `knowledge/many-${n}.md`));
    await instance.app.records?.knowledge.library.refresh();
    await page.context().close();
  });

  it('jobs are made, said in words, shown on the strip, run and changed', async () => {
    const page = await open('#/cron');
    await page.click('button >> text=New job');
    await page.fill('[data-field=name] input', 'Weekly');
    await page.fill('[data-field=schedule] input', '61 7 * * 1');
    await page.waitForSelector('[data-field=schedule] >> text=valid cron expression');
    await page.fill('[data-field=schedule] input', '30 */6 * * *');
    await page.waitForSelector('[data-field=schedule] >> text=every 6 hours at :30');
    await page.fill('[data-field=prompt] textarea', 'list');
    await page.click('button >> text=Make it');
    await page.waitForSelector('[data-strip] .due >> nth=3', { state: 'attached' });
    expect(await page.locator('[data-strip] .due').count()).to.equal(4);
    await page.click('[aria-label="Run now: Weekly"]');
    await page.waitForSelector('[data-strip] [data-run=success]', { state: 'attached' });
    await page.click('[aria-label="Edit Weekly"]');
    await page.fill('[data-field=schedule] input', '0 7 * * 1-5');
    await page.click('form button >> text=Save');
    await page.waitForSelector('[data-job] >> text=at 07:00, Monday to Friday');
    await page.context().close();
  });

  for (const [sight, options] of Object.entries({
    day: {},
    night: { colorScheme: 'dark' },
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  } as const))
    it(`is drawn by ${sight}: nothing wider than the window, nothing that a checker finds`, async () => {
      const page = await open('#/now', { ...options, reducedMotion: 'reduce' });
      for (const [name, place, ready, click] of [
        ['hire', '#/organisation', '.hire', '.hire summary'],
        ['employee', '#/text/org/build/ann.yaml', '.text pre', 'button >> text=Edit'],
        ['knowledge', '#/files', '[data-skill=review]', ''],
        ['cron-form', '#/cron', '[data-job]', 'button >> text=New job'],
      ] as const) {
        await viewer.go(page, place);
        await page.waitForSelector(ready);
        if (click !== '') await page.click(click);
        await picture(page, `console-${name}-${sight}`);
        const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(wider, name).to.be.at.most(0);
        expect(await wrongWith(page, sight === 'night' ? rulesOfColour : undefined), name).to.deep.equal([]);
      }
      await page.context().close();
    });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});

const at = new Date(Date.now() - 3_600_000).toISOString();

const paidDays = 7;
const usdPerDay = 2;

/** Of months in which each of the last seven days cost the same. */
function endOfMonth(): string {
  const [year = 0, month = 0, date = 0] = new Date().toISOString().slice(0, 10).split('-').map(Number);
  const daysLeft = new Date(Date.UTC(year, month, 0)).getUTCDate() - date;
  return `$${(usdPerDay * (Math.min(paidDays, date) + daysLeft)).toFixed(2)}`;
}

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
  const delivery = {
    status: 'sent',
    channel: '#reports',
    thread: null,
    reason: null,
    messageId: '17',
    requestedBy: 'cron',
    requestedAt: at,
    settledAt: at,
  };
  const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
  const run = { timestamp: at, durationMs: 1_000, status: 'success' };
  const sums = { sessions: 1, turns: 4, inputTokens: 12_000, outputTokens: 900, cachedTokens: 0 };
  const costs = (keys: readonly string[], costUsd: number) => keys.map((key) => ({ ...sums, key, costUsd }));
  const employee = {
    ...{ rank: 'employee', role: 'Writes the reports', department: 'build', engine: 'pen' },
    directReports: [],
  };
  const answers: Readonly<Record<string, unknown>> = {
    '/api/cron': [
      { ...job, id: 'c1', name: 'Weekly report', lastRun: { status: 'success', timestamp: at } },
      { ...job, id: 'c2', name: 'Look at the mail', lastRun: { status: 'error', timestamp: at } },
      { ...job, id: 'c3', name: 'Water the plants in all the rooms', enabled: false, nextRunAt: null },
    ],
    '/api/cron/c1/runs': [
      { ...run, sessionKey: `cron:c1:${ago(1)}`, why: 'trigger' },
      { ...run, sessionKey: `cron:c1:${ago(3)}`, why: 'caught-up' },
      { ...run, sessionKey: `cron:c1:${ago(5)}`, status: 'missed' },
    ],
    '/api/cron/c2/runs': [],
    '/api/sessions/s1': { id: 's1', title: 'Count the fish', engine: 'pen', status: 'idle' },
    '/api/connectors': [
      { name: 'slack', status: 'running', employee: null, detail: null },
      { name: 'mail', status: 'error', employee: null, detail: 'The server refused the login (535).' },
    ],
    '/api/connectors/slack/deliveries': {
      deliveries: [
        { ...delivery, id: 'd1' },
        { ...delivery, id: 'd2', status: 'failed', reason: 'not_in_channel' },
        { ...delivery, id: 'd3', status: 'unknown', reason: 'The connection was cut. '.repeat(8) },
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
    '/api/org/budgets': {
      budgets: [
        { employee: 'ann', spentUsd: 22.5, limitUsd: 20, grantedUsd: 5, state: 'warned' },
        { employee: 'chief', spentUsd: 3, limitUsd: null, grantedUsd: 0, state: 'within' },
      ],
    },
    '/api/org': {
      setAside: [{ file: 'org/carl.md', reason: 'The rank "boss" is unknown.' }],
      departments: ['build'],
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
  await page.route('**/api/cost/report?*', (route) => {
    const groupBy = new URL(route.request().url()).searchParams.get('groupBy') ?? '';
    const keys =
      groupBy === 'day'
        ? Array.from({ length: paidDays }, (_, n) => ago(24 * n).slice(0, 10))
        : [groupBy === 'session' ? 's1' : 'ann'];
    const groups = costs(keys, usdPerDay);
    const totals = { ...sums, costUsd: 14 };
    return route.fulfill({ json: { groupBy, timeZone: 'UTC', totals, groups, truncated: false } });
  });
}
