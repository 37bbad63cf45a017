import { expect } from 'chai';
import { remoteWorkers } from '../../lib/worker/remote-workers.js';
import type { App } from '../../lib/commands/app.js';
import { openHouse, poll, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/** Is it stuck, or does it work? One look at a running agent tells. */
describe('a running agent in a browser', () => {
  let house: House;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse({ workers: one });
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
    expect(facts, 'it waits for a slot: its time has not begun').to.match(
      /turn may take, once it begins 1 min/,
    );
    await house.supervisor.ask('session', id, { type: 'turn.began', turnId: `${id}:1` });
    await page.waitForSelector('.work-facts >> text=turn is ended in');
    expect(facts).to.include('cost so far $0.00');
    await picture(page, 'working-day');
    expect(await wrongWith(page), 'by day').to.deep.equal([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await wrongWith(page, rulesOfColour), 'by night').to.deep.equal([]);
    await house.operator.post(`/api/sessions/${id}/stop`);
    await page.waitForSelector('.working', { state: 'detached' });
    await page.context().close();
  });

  it('names the worker of its turn, since when it is there and what it takes, there and in Supervision', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'hang' })).body;
    turnOf = id as string;
    const page = await viewer.open(house.gateway.url, {
      at: `#/actor/session/${id}`,
      viewport: { width: 390, height: 844 },
      reducedMotion: 'reduce',
    });
    await page.waitForSelector('.work-facts dt >> text=worker-1, alive');
    expect(await page.locator('.work-facts').innerText()).to.match(/for \d+ s, [\d,]+ MiB/);
    await page.click('nav >> text=Supervision');
    const row = '[aria-labelledby=workers-title] li';
    await page.waitForSelector(`${row} >> text=serving`);
    expect(await page.locator(row).innerText()).to.match(/process \d+, alive for 1 min, [\d,]+ MiB/);
    expect(await page.locator('#workers-title').innerText()).to.include('1 of 4 slots taken, 2 turns wait');
    expect(await wrongWith(page), 'axe').to.deep.equal([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    await picture(page, 'workers-phone');
    await page.click(`${row} a`);
    await page.waitForSelector('.work-facts');
    expect(await page.evaluate('location.hash')).to.include(id);
    await page.context().close();
  });

  it('is stopped, and its worker drained, in the settings of the console', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'hang' })).body;
    turnOf = id as string;
    const page = await viewer.open(house.gateway.url, {
      path: '/',
      at: '#/settings',
      viewport: { width: 390, height: 844 },
      reducedMotion: 'reduce',
    });
    await page.waitForSelector('[data-worker="worker-1"] >> text=serving');
    expect(await page.locator('[aria-labelledby=workers-title]').innerText()).to.include(
      '1 of 4 slots taken',
    );
    expect(await wrongWith(page), 'axe').to.deep.equal([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    await picture(page, 'console-workers-phone');
    await page.click(`[aria-label="Stop session ${turnOf.slice(0, 8)}"]`);
    await poll(
      () => house.operator.get(`/api/sessions/${turnOf}`),
      ({ body }) => body.status === 'stopped',
    );
    await page.click('[aria-label="Drain worker-1"]');
    await page.waitForSelector('[role=status] >> text=No turn begins there any more');
    expect(drained).to.deep.equal(['worker-1']);
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

let turnOf = '';
const drained: string[] = [];
const minuteMs = 60_000;

/** A worker, as the gateway speaks of one: this process stands for it. */
const here: Pick<
  NonNullable<NonNullable<App['workers']>['local']>,
  'list' | 'hosted' | 'drain' | 'remove'
> = {
  list: () =>
    Promise.resolve([
      {
        name: 'worker-1',
        state: 'serving',
        pid: process.pid,
        startedAt: Date.now() - 1.5 * minuteMs,
        version: '0.1.0',
        turns: [{ turnId: `${turnOf}:1`, sessionId: turnOf, engine: 'pen', beganAt: Date.now() - 1_000 }],
      },
    ]),
  hosted: new Set(['pen']),
  drain: (name) => {
    drained.push(name);
    return Promise.resolve(true);
  },
  remove: () => Promise.resolve(true),
};
const one: NonNullable<App['workers']> = {
  local: here,
  remote: remoteWorkers({ waitMs: minuteMs, redact: (value) => value, onFault: () => undefined }),
  stranded: () => [],
  slots: () => ({ max: 4, running: 1, waiting: 2, engines: { pen: 1 } }),
};
