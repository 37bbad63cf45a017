import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type { AtLeastOnceEffect, Kind } from '../../actors/contracts.js';
import { mountInspector, type MountedInspector } from '../../lib/gateway/mount-inspector.js';
import { memoryStore } from '../../lib/store/memory.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { exampleMachines } from '../fixtures/example-machines.js';
import { later } from '../fixtures/house.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';
import { checkChart, isSeen, sizes } from './charts.js';

/** The chart of an actor in a real browser: what is in view, and what can be done where it is not. */
describe('a chart in a browser', function () {
  this.timeout(300_000);
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
  });
  after(() => viewer.close());

  describe('of a work item', () => {
    let house: House;
    before(async () => {
      house = await openHouse();
    });
    after(() => house.close());

    const waitingItem = async (): Promise<string> => {
      const { id } = (await house.operator.post('/api/work-items', { title: 'Water the plants' })).body
        .workItem as { id: string };
      await house.operator.post(`/api/work-items/${id}/status`, { status: 'executing' });
      await house.operator.post(`/api/work-items/${id}/approval/request`, { request: 'May I?' });
      return id;
    };
    const open = async (id: string, size: keyof typeof sizes): Promise<Page> => {
      const page = await viewer.open(house.gateway.url, { ...sizes[size], at: `#/actor/work-item/${id}` });
      await page.waitForSelector('[data-state="approval.pending"].lit');
      return page;
    };

    // One of its two active regions was in view, and nothing said that there is another
    it('opens with both regions in which it stands, and the history below it begins in the first view', async () => {
      const page = await open(await waitingItem(), 'desk');
      await until(page, `${isSeen('work.executing')} && ${isSeen('approval.pending')}`);
      expect(await page.locator('.out-of-view').count()).to.equal(0);
      await viewer.go(page, '#/fleet');
      const quiet = (await house.operator.post('/api/work-items', { title: 'Feed the fish' })).body.workItem
        .id as string;
      await viewer.go(page, `#/actor/work-item/${quiet}`);
      await until(page, `${isSeen('work.backlog')} && ${isSeen('approval.none')}`);
      const below = await page.locator('#history-title').boundingBox();
      expect(below?.y).to.be.lessThan(sizes.desk.viewport.height - 60);
      await page.context().close();
    });

    // The approval stayed at the top, out of view, while the work went on to states at the bottom
    it('has both regions in view in whatever state the work is', async () => {
      const id = await waitingItem();
      const page = await open(id, 'desk');
      for (const status of ['in_review', 'blocked', 'escalated', 'done']) {
        const event = { type: 'item.move', status, note: 'So it is.' };
        const sent = await house.operator.post(`/api/inspect/actors/work-item/${id}/send`, { event });
        expect(sent.status, sent.text).to.equal(200);
        await page.reload();
        await until(page, `${isSeen(`work.${status}`)} && ${isSeen('approval.pending')}`);
        await picture(page, `chart-both-${status}`);
      }
      await page.context().close();
    });

    // The state that it had left was shown, and "Where it is" led there too
    it('shows where it stands with the step that it takes, and that alone when asked', async () => {
      const id = await waitingItem();
      const page = await open(id, 'desk');
      const event = { type: 'item.move', status: 'in_review' };
      const sent = await house.operator.post(`/api/inspect/actors/work-item/${id}/send`, { event });
      expect(sent.status, sent.text).to.equal(200);
      await until(page, `${isSeen('work.in_review')} && ${isSeen('approval.pending')}`);
      expect(await page.locator('.out-of-view').count()).to.equal(0);
      await page.click('text=Last step');
      await until(page, `!${isSeen('approval.pending')}`);
      await page.click('text=Where it is');
      await until(page, `${isSeen('work.in_review')} && ${isSeen('approval.pending')}`);
      await page.context().close();
    });

    it('names on a phone where else it stands, and one touch leads there', async () => {
      const page = await open(await waitingItem(), 'phone');
      await until(page, isSeen('work.executing'));
      await until(page, `!${isSeen('approval.pending')}`);
      await picture(page, 'chart-phone');
      expect(await wrongWith(page), 'axe').to.deep.equal([]);
      await page.tap('.out-of-view button >> text=approval.pending');
      await until(page, isSeen('approval.pending'));
      await page.waitForSelector('.out-of-view button >> text=work.executing');
      expect(await page.locator('.out-of-view button:not(.step)').count()).to.equal(1);
      await page.context().close();
    });

    // Its last step was taken for one that happens now, and led away from where it stands
    it('opens where it stands, also where its history comes later', async () => {
      const id = await waitingItem();
      const page = await viewer.open(house.gateway.url, { ...sizes.phone, at: '#/fleet' });
      const { promise: drawn, resolve: isDrawn } = later<void>();
      await page.route(/\/history\?/, (route) => drawn.then(() => route.continue()));
      await viewer.go(page, `#/actor/work-item/${id}`);
      await until(page, isSeen('work.executing'));
      isDrawn();
      await page.waitForSelector('.history li');
      await until(page, `(window.looks = (window.looks ?? 0) + 1) > 20`);
      expect(await page.evaluate(isSeen('work.executing'))).to.equal(true);
      await page.context().close();
    });

    it('fills the window, with all of it larger, until Escape', async () => {
      const page = await open(await waitingItem(), 'desk');
      const height = async (): Promise<number> =>
        (await page.locator('.chart-box').boundingBox())?.height ?? 0;
      expect(await height()).to.be.lessThan(500);
      await page.click('text=Fill the window');
      await until(page, `document.querySelector('dialog .chart-box')?.clientHeight > 760`);
      await until(page, `${isSeen('work.executing', 'dialog ')} && ${isSeen('approval.pending', 'dialog ')}`);
      expect(await wrongWith(page), 'axe').to.deep.equal([]);
      // The focus went on to what is behind it, where no one saw it
      for (let n = 0; n < 12; n += 1) {
        await page.keyboard.press('Tab');
        const isBehind = `document.activeElement !== document.body && document.activeElement.closest('dialog') === null`;
        expect(await page.evaluate(isBehind), `after ${n + 1} times Tab`).to.equal(false);
      }
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog.chart-window', { state: 'detached' });
      expect(await page.evaluate('document.activeElement.textContent')).to.equal('Fill the window');
      // What is chosen in it is shown where it was opened
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog [data-state="approval.pending"].lit');
      await page.click('dialog [data-state="approval.pending"] > .title');
      await page.waitForSelector('dialog.chart-window', { state: 'detached' });
      await until(
        page,
        `document.querySelector('.history-filter select').value === 'state:approval.pending'`,
      );
      await page.context().close();
    });

    it('shows a step that happens while one looks elsewhere, and moves what it took', async () => {
      const id = await waitingItem();
      const page = await open(id, 'desk');
      await page.focus('.chart-box');
      for (let n = 0; n < 4; n += 1) await page.keyboard.press('+');
      await page.evaluate(`document.querySelector('.chart-box').scrollTo(0, 0)`);
      await until(page, `!${isSeen('approval.pending')}`);
      await house.operator.post(`/api/work-items/${id}/approval`, { decision: 'approve' });
      await page.waitForSelector('.arrow.lit.new', { state: 'attached' });
      await until(page, isSeen('approval.approved'));
      const names = await page.evaluate(
        `document.querySelector('.arrow.lit.new').getAnimations().map(({ animationName }) => animationName)`,
      );
      expect(names).to.deep.equal(['taken']);
      await page.context().close();
    });

    // What is scrolled below the bar of time was read above it and beside its round ends
    it('shows nothing of the page around the bar of time', async () => {
      const page = await open(await waitingItem(), 'tablet');
      await page.evaluate('scrollTo(0, 400)');
      await until(page, `document.querySelector('.transport').getBoundingClientRect().top < 20`);
      const covered = await page.evaluate(`(() => {
        const { left, right, top } = document.querySelector('.transport').getBoundingClientRect();
        return [[left + 2, top + 2], [right - 2, top + 2], [left + 200, top - 5], [left - 5, top + 3]]
          .map(([x, y]) => document.elementFromPoint(x, y).className);
      })()`);
      expect(covered).to.deep.equal(Array.from({ length: 4 }, () => 'transport'));
      await page.context().close();
    });
  });

  describe('of machines that are not ours', () => {
    let supervisor: Supervisor;
    let inspector: MountedInspector;
    let server: Server;
    before(async () => {
      const kinds = exampleMachines.map(({ name, machine, works }) => ({
        kind: name,
        version: 1,
        machine,
        view: ({ value }: { readonly value: unknown }) => ({ title: name, state: value }),
        effects: Object.fromEntries(works.map((src) => [src, endless])),
      })) as unknown as readonly Kind[];
      supervisor = await createSupervisor({ kinds, store: memoryStore() });
      for (const { name, events } of exampleMachines) {
        await supervisor.spawn(name, { id: 'one' });
        for (const event of events) await supervisor.ask(name, 'one', event);
      }
      inspector = mountInspector(supervisor, { prefix: '/inspect', authorize: () => true });
      server = createServer((request, response) => inspector.handler(request, response));
      server.on('upgrade', inspector.upgrade).listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    after(async () => {
      inspector.close();
      server.close();
      server.closeAllConnections();
      await supervisor.stop({ drainMs: 0 });
    });

    for (const [size, options] of Object.entries(sizes))
      it(`is drawn on a ${size}: each region seen or named, each arrow to the state that it is for`, async () => {
        const page = await viewer.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
          ...options,
          reducedMotion: 'reduce',
          signedIn: false,
        });
        for (const { name } of exampleMachines) {
          await viewer.go(page, `#/actor/${name}/one`);
          await page.waitForSelector(`svg.chart[aria-label^="Statechart of ${name}."] .node.lit`);
          await checkChart(page, name);
          await picture(page, `chart-${name}-${size}`);
        }
        await page.context().close();
      });
  });

  describe('whatever is drawn', () => {
    it('breaks no rule of its own policy and throws nothing', () => {
      expect(viewer.complaints).to.deep.equal([]);
    });
  });
});

const endless: AtLeastOnceEffect = {
  guarantee: 'at-least-once',
  run: (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    }),
};
