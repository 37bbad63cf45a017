import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../lib/home/announce.js';
import { layoutOf } from '../../lib/home/layout.js';
import { startInstance, type Instance } from '../../lib/instance.js';
import { makeClient, type Client } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

/**
 * What one sees first, and what one sees when nothing is there: the first run, each empty view, the palette, a workflow
 * with faults. Pictures for people, and a checker's verdict.
 */
describe('an empty home, in the console', () => {
  let home: ReturnType<typeof layoutOf>;
  let instance: Instance;
  let viewer: Viewer;
  let token: string;
  let operator: Client;
  before(async () => {
    viewer = await openBrowser();
    home = layoutOf({ home: await mkdtemp(join(tmpdir(), 'empty-home-')) });
    instance = await startInstance({ layout: home, port: 0 });
    token = String((await readAnnouncement(home.announcement))?.token);
    operator = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
  });
  after(async () => {
    await viewer.close();
    await instance.close();
    await rm(home.home, { recursive: true, force: true });
  });

  const sights = {
    day: {},
    night: { colorScheme: 'dark' },
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  } as const;
  const open = (at: string, sight: keyof typeof sights) =>
    viewer.open(instance.url, { path: '/', at, token, ...sights[sight], reducedMotion: 'reduce' });
  type Shown = Awaited<ReturnType<typeof open>>;
  const isSound = async (page: Shown, name: string, sight: keyof typeof sights): Promise<void> => {
    await picture(page, `console-${name}-${sight}`);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).to.be.at.most(0);
    expect(await wrongWith(page, sight === 'night' ? rulesOfColour : undefined), name).to.deep.equal([]);
  };
  const views = [
    ['first-run', '#/now', '.first .rows [data-template], .first .engine'],
    ['empty-inbox', '#/inbox', 'text=You are done here.'],
    ['empty-board', '#/board', '#column-backlog'],
    ['empty-workflows', '#/workflows', '.workflows .empty, .empty'],
    ['empty-organisation', '#/organisation', 'text=There are no employees yet.'],
    ['empty-cost', '#/cost', '.empty'],
    ['empty-cron', '#/cron', '.empty'],
    ['empty-connectors', '#/connectors', '.empty'],
    ['empty-files', '#/files', 'text=No files.'],
    ['first-settings', '#/settings', '.engine'],
  ] as const;

  for (const sight of ['day', 'night', 'phone'] as const) {
    it(`is drawn by ${sight}: nothing wider than the window, nothing that a checker finds`, async () => {
      const page = await open('#/more', sight);
      for (const [name, at, ready] of views) {
        await viewer.go(page, at);
        await page.waitForSelector(ready);
        await isSound(page, name, sight);
      }
      await page.context().close();
    });

    it(`has a gate, a palette and a list of keys by ${sight}`, async () => {
      const gate = await viewer.open(instance.url, {
        ...{ path: '/', signedIn: false, reducedMotion: 'reduce' },
        ...sights[sight],
      });
      await gate.waitForSelector('#token');
      await isSound(gate, 'gate', sight);
      await gate.context().close();
      const page = await open('#/now', sight);
      await page.waitForSelector('.first .engine');
      await page.keyboard.press('/');
      await page.fill('.palette input', 'set');
      await page.waitForSelector('.palette li >> text=Settings');
      await isSound(page, 'palette', sight);
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog.palette', { state: 'hidden' }); // until then it is typed into it
      await page.keyboard.press('?');
      await page.waitForSelector('dialog.keys[open]');
      await isSound(page, 'keys', sight);
      await page.context().close();
    });
  }

  it('shows a workflow with faults by day, by night and on a phone', async () => {
    const nodes = [
      { id: 'look', type: 'step', label: 'Look at the pond', actor: { kind: 'noop' } },
      { id: 'feed', type: 'step', label: 'Feed the fish', actor: { kind: 'noop' } },
    ];
    const made = await operator.post('/api/workflow-definitions', {
      definition: { title: 'Pond', nodes, edges: [{ id: 'then', from: 'look', to: 'feed' }] },
    });
    expect(made.status, made.text).to.equal(201);
    for (const sight of ['day', 'night', 'phone'] as const) {
      const page = await open(`#/workflow-editor/${made.body.id}`, sight);
      await page.waitForSelector('[data-node=feed]');
      const text = await page.inputValue('textarea.yaml');
      await page.fill('textarea.yaml', text.replace('to: feed', 'to: fed'));
      await page.waitForSelector('.fault');
      await isSound(page, 'editor-faults', sight);
      await page.context().close();
    }
  });

  it('breaks no rule of the policy of the page and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
