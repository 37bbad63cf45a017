import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setup } from 'xstate';
import type { Kind } from '../../actors/contracts.js';
import { mountInspector, type MountedInspector } from '../../lib/gateway/mount-inspector.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { memoryStore } from '../../lib/store/memory.js';
import { wrongWith } from './axe.js';
import { openBrowser, picture, type Viewer } from './browser.js';

const machine = setup({}).createMachine({
  id: 'light',
  initial: 'red',
  states: { red: { on: { go: 'green' } }, green: { on: { stop: 'red' } } },
});
const light = {
  kind: 'light',
  version: 1,
  machine,
  view: ({ value }) => ({ title: 'North', state: value }),
  operatorEvents: { go: {}, stop: {} },
} satisfies Kind<typeof machine> as unknown as Kind; // a list of kinds forgets the type of each one's machine

/** The page in another application: in a frame of it, below its path, signed in by its cookie. */
describe('a mounted inspector in a browser', () => {
  let viewer: Viewer;
  let supervisor: Supervisor;
  let inspector: MountedInspector;
  let server: Server;
  let isSignedIn = true;
  before(async () => {
    viewer = await openBrowser();
    supervisor = await createSupervisor({ kinds: [light], store: memoryStore() });
    await supervisor.spawn('light', { id: 'north' });
    inspector = mountInspector(supervisor, {
      prefix: '/ops/inspect',
      authorize: () => isSignedIn,
      frameAncestors: ["'self'"],
    });
    server = createServer((request, response) =>
      inspector.handler(request, response, () =>
        response
          .setHeader('content-type', 'text/html')
          .end('<title>App</title><iframe src="/ops/inspect" width="1200" height="800"></iframe>'),
      ),
    );
    server.on('upgrade', inspector.upgrade).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(async () => {
    await viewer.close();
    inspector.close();
    server.close();
    server.closeAllConnections();
    await supervisor.stop();
  });

  it('shows an actor live in a frame of the application, sends to it, and says when one is signed out', async () => {
    const { port } = server.address() as AddressInfo;
    const page = await viewer.open(`http://127.0.0.1:${port}`, { signedIn: false });
    await page.goto(`http://127.0.0.1:${port}/`);
    const frame = page.frameLocator('iframe');
    await frame.locator('[data-connection=live]').waitFor({ state: 'attached' });
    await frame.locator('.row .who b').click();
    await frame.locator('[data-state=red].lit').waitFor();
    await frame.locator('[data-event=go] > button').click();
    await frame.locator('[data-event=go] button[type=submit]').click();
    await frame.locator('[data-state=green].lit').waitFor();
    await picture(page, 'mounted-day');
    for (const view of ['waiting', 'time', 'supervision', 'runs'])
      await frame
        .locator(`nav a[href="#/${view}"]`)
        .click()
        .then(() => frame.locator('main h1').waitFor());
    isSignedIn = false;
    await page.goto(`http://127.0.0.1:${port}/ops/inspect#/waiting`);
    expect(await page.locator('body').innerText()).to.include('The application does not let you in');
    isSignedIn = true;
    await page.reload();
    await page.waitForSelector('[data-connection=live]', { state: 'attached' });
    isSignedIn = false;
    inspector.close(); // every socket with it, as where the application goes
    await page.waitForSelector('.gate >> text=You are signed out');
    expect(await wrongWith(page)).to.deep.equal([]);
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
  });
});
