import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { setup } from 'xstate';
import type { Kind } from '../../actors/contracts.js';
import { mountInspector, type MountedInspector } from '../../lib/gateway/mount-inspector.js';
import { memoryStore } from '../../lib/store/memory.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';

const machine = setup({}).createMachine({
  id: 'leaf',
  initial: 'green',
  states: { green: { on: { wither: 'brown' } }, brown: {} },
});
const leaf = {
  kind: 'leaf',
  version: 1,
  machine,
  view: ({ value }) => ({ title: '<img src=x onerror="window.hit=1">', state: value }),
} satisfies Kind<typeof machine> as unknown as Kind; // a list of kinds forgets the type of each one's machine

/** Who stands beneath whom, of ten thousand actors, in a real browser. */
describe('the actor tree in a browser', function () {
  this.timeout(180_000);
  let viewer: Viewer;
  let supervisor: Supervisor;
  let inspector: MountedInspector;
  let server: Server;
  let page: Page;
  before(async () => {
    viewer = await openBrowser();
    supervisor = await createSupervisor({ kinds: [leaf], store: memoryStore() });
    await supervisor.spawn('leaf', { id: 'a' });
    for (let n = 0; n < 10_000; n += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, i) =>
          supervisor.spawn('leaf', { id: `c${n + i}`, parent: { kind: 'leaf', id: 'a' } }),
        ),
      );
    for (const [id, parent] of [
      ['deep-1', 'c0'],
      ['deep-2', 'deep-1'],
      ['deep-3', 'deep-2'],
    ] as const)
      await supervisor.spawn('leaf', { id, parent: { kind: 'leaf', id: parent } });
    inspector = mountInspector(supervisor, { authorize: () => true });
    server = createServer(inspector.handler).on('upgrade', inspector.upgrade).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    page = await viewer.open(`http://127.0.0.1:${port}`, { at: '#/tree', signedIn: false });
  });
  after(async () => {
    await viewer.close();
    inspector.close();
    server.close();
    server.closeAllConnections();
    await supervisor.stop();
  });

  const lines = (text: string) => page.locator('[role=treeitem]', { hasText: text });
  const nodes = (): Promise<number> => page.locator('[role=tree] *').count();
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };

  it('opens thousands and what is beneath an actor by keys, reading no more than is looked at', async () => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.waitForSelector('[role=treeitem]');
    await page.focus('[role=tree]');
    await lines('10,001 to 11,000').waitFor();
    expect(
      requests.filter((url) => url.includes('/tree?')),
      'nothing is read of closed ones',
    ).to.have.length(0);
    await press('ArrowDown', 'ArrowRight', 'ArrowDown'); // past the kind, which is open as the only one
    await lines('leaf a').waitFor();
    await press('ArrowRight');
    await lines('leaf c0').waitFor();
    await press('ArrowDown', 'ArrowRight');
    await lines('leaf deep-1').waitFor();
    await press('ArrowDown', 'ArrowRight');
    await lines('leaf deep-2').waitFor();
    expect(await lines('leaf deep-2').getAttribute('aria-level')).to.equal('6');
    expect(await lines('leaf deep-1').getAttribute('aria-expanded')).to.equal('true');
    expect(requests.filter((url) => url.includes('/tree?')).length).to.be.below(20);
    expect(await nodes()).to.be.at.most(400);
    await picture(page, 'tree-day');
    expect(await wrongWith(page), 'axe, by day').to.deep.equal([]);
    await press('ArrowLeft', 'ArrowLeft', 'ArrowLeft');
    await lines('leaf deep-1').waitFor({ state: 'detached' });
  });

  it('holds few nodes at the end of a thousand, and follows what happens to who is shown', async () => {
    // The thousand after it, and the one of the kind, stand below it once it is read
    await until(
      page,
      `(() => {
        const box = document.querySelector('[role=tree]');
        box.scrollTop = box.scrollHeight;
        return box.innerText.split('1,001 to 2,000').length === 3;
      })()`,
    );
    expect(await nodes()).to.be.at.most(400);
    const last = await page.locator('[role=treeitem] small').first().innerText();
    const id = last.replace('leaf ', '');
    await supervisor.ask('leaf', id, { type: 'wither' });
    await page
      .locator('[role=treeitem]', { hasText: `leaf ${id}` })
      .locator('text=brown')
      .waitFor();
    expect(await page.evaluate('window.hit ?? null')).to.equal(null);
  });

  it('shows what is beneath one actor, and the way up and into it', async () => {
    await viewer.go(page, '#/actor/leaf/deep-1');
    await page.click('#relations-title a');
    await lines('leaf deep-2').waitFor();
    await page.locator('.crumbs a', { hasText: 'leaf c0' }).click();
    await lines('leaf deep-1').waitFor();
    await lines('leaf deep-1').click();
    await until(page, `location.hash === '#/actor/leaf/deep-1'`);
    expect(viewer.complaints).to.deep.equal([]);
  });
});
