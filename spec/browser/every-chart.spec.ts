import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { builtInKinds } from '../../lib/cli/built-in-kinds.js';
import type { Announcement } from '../../lib/home/announce.js';
import { openEveryKind, type EveryKind } from '../fixtures/every-kind.js';
import { openBrowser, picture, type Viewer } from './browser.js';
import { checkChart, sizes } from './charts.js';

/** The chart of every kind on the page of one of its actors. */
describe('the chart of every kind', function () {
  this.timeout(300_000);
  let viewer: Viewer;
  let full: EveryKind;
  before(async () => {
    viewer = await openBrowser();
    full = await openEveryKind();
  });
  after(async () => {
    await viewer.close();
    await full?.close();
  });

  for (const [size, options] of Object.entries(sizes))
    it(`is drawn on a ${size}: each region seen or named, each arrow to the state that it is for`, async () => {
      const { home, operator } = full.instance;
      const { url, token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as Announcement;
      const page = await viewer.open(url, { ...options, token, reducedMotion: 'reduce' });
      for (const { kind, machine } of builtInKinds()) {
        const isRun = kind === 'workflow-run';
        const { actors } = (
          await operator.get(`/api/inspect/actors?kind=${kind}${isRun ? '&state=completed' : ''}&limit=50`)
        ).body;
        // Ids are random. Some runs are completed by their creation, which is no arrow: one that went on
        const { id } = (actors as readonly { readonly id: string; readonly rev: number }[]).find(
          ({ rev }) => !isRun || rev > 3,
        )!;
        await viewer.go(page, `#/actor/${kind}/${encodeURIComponent(id)}`);
        await page.waitForSelector(`svg.chart[aria-label^="Statechart of ${machine.id}."] .node.lit`);
        await checkChart(page, kind);
        // A run that ends does so by a transition that waits for nothing: no arrow was lit
        if (isRun) await page.waitForSelector('.arrow.lit', { state: 'attached' });
        await picture(page, `chart-${kind}-${size}`);
      }
      await page.context().close();
    });

  it('breaks no rule of its own policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
