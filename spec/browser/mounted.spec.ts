import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { defineKind } from '../../actors/define-kind.js';
import type { Kind, StandardSchema } from '../../actors/contracts.js';
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

/** A library that cannot say its schemas as JSON Schema: of its members no more is known than their types. */
const mute: StandardSchema = {
  '~standard': {
    version: 1,
    vendor: 'mute',
    validate: (value) =>
      (value as { lines?: unknown }).lines === undefined
        ? { issues: [{ message: 'Name the lines.', path: ['lines', 0, { key: 'sku' }] }] }
        : { value },
  },
};
const shopMachine = setup({
  types: {} as {
    context: { placed: unknown };
    events: { type: 'place'; count: number; size: string } | { type: 'restock'; lines: readonly string[] };
  },
}).createMachine({
  id: 'shop',
  context: { placed: null },
  initial: 'open',
  states: {
    open: {
      on: {
        place: {
          target: 'packing',
          actions: assign({ placed: ({ event }) => ({ ...event }) }),
        },
        restock: { target: 'full' },
      },
    },
    packing: {},
    full: {},
  },
});
const shop = defineKind({
  kind: 'shop',
  version: 1,
  machine: shopMachine,
  view: ({ value, context }) => ({ title: 'Shop', state: value, placed: context.placed as never }),
  panels: ({ value }) => [
    {
      type: 'table',
      title: 'Stock <i>today</i>',
      columns: ['thing', 'left'],
      rows: [['<img src=x onerror="window.hit=1">', 3]],
    },
    { type: 'key-values', title: 'Facts', values: { state: String(value), secret: 'hunter2', open: true } },
    { type: 'bars', title: 'Sold', unit: 'pieces', bars: [{ label: 'small', value: 12, of: 10 }] },
    { type: 'text', title: 'Note', text: 'first line\n<script>window.hit=1</script>' },
    {
      type: 'links',
      title: 'See also',
      links: [
        { label: 'the light', to: { kind: 'light', id: 'north' } },
        { label: 'its page', to: 'https://shop.example/corner' },
      ],
    },
  ],
  schemas: {
    events: {
      place: z.object({
        count: z.number().int().max(9).describe('How <b>many</b>'),
        size: z.enum(['small', 'large']),
        to: z.object({ town: z.string().min(2) }),
        note: z.string().optional(),
      }),
      restock: mute,
    },
  },
  operatorEvents: {
    place: { count: 'number', size: 'string', to: 'object', note: 'string?' },
    restock: { lines: 'array' },
  },
}) as unknown as Kind;

/** The page in another application: in a frame of it, below its path, signed in by its cookie. */
describe('a mounted inspector in a browser', function () {
  this.timeout(180_000);
  let viewer: Viewer;
  let supervisor: Supervisor;
  let inspector: MountedInspector;
  let server: Server;
  let isSignedIn = true;
  before(async () => {
    viewer = await openBrowser();
    supervisor = await createSupervisor({ kinds: [light, shop], store: memoryStore() });
    await supervisor.spawn('light', { id: 'north' });
    await supervisor.spawn('shop', { id: 'corner' });
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

  it('builds the form of an event from the schema of its kind, and says at each field what is wrong with it', async () => {
    const { port } = server.address() as AddressInfo;
    const page = await viewer.open(`http://127.0.0.1:${port}`, {
      path: '/ops/inspect',
      at: '#/actor/shop/corner',
      signedIn: false,
    });
    await page.click('[data-event=place] > button');
    const form = page.locator('[data-event=place] form');
    expect(await form.locator('[data-field=size] option').allInnerTexts()).to.deep.equal([
      'choose',
      'small',
      'large',
    ]);
    expect(await form.locator('[data-field=count] small').innerText()).to.equal('How <b>many</b>');
    await form.locator('[name=count]').fill('many');
    await form.locator('button[type=submit]').click();
    await form.locator('[data-field=count] >> text=This is not a number.').waitFor();
    await form.locator('[name=count]').fill('12');
    await form.locator('[name=size]').selectOption('large');
    await form.locator('[name=to]').fill('{ "town": "X" }');
    await form.locator('button[type=submit]').click();
    await form.locator('[data-field=to] [role=alert] >> text=/^town: /').waitFor();
    await form.locator('[data-field=count] [role=alert]').waitFor();
    expect(await wrongWith(page), 'axe').to.deep.equal([]);
    await picture(page, 'event-form');
    await form.locator('[name=count]').fill('3');
    await form.locator('[name=to]').fill('{ "town": "Bern" }');
    await page.click('[data-event=restock] > button');
    const bare = page.locator('[data-event=restock] form');
    await bare.locator('button[type=submit]').click();
    await bare.locator('[data-field=lines] [role=alert]').waitFor();
    await page.click('[data-event=place] > button');
    await form.locator('[name=count]').fill('3');
    await form.locator('[name=size]').selectOption('large');
    await form.locator('[name=to]').fill('{ "town": "Bern" }');
    await form.locator('button[type=submit]').click();
    await page.waitForSelector('[data-state=packing].lit');
    const placed = (await supervisor.get('shop', 'corner'))?.view as { placed: unknown };
    expect(placed.placed).to.deep.include({ count: 3, size: 'large', to: { town: 'Bern' } });
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('draws what a kind gives as panels, as text and never as markup, and keeps them true', async () => {
    const { port } = server.address() as AddressInfo;
    const page = await viewer.open(`http://127.0.0.1:${port}`, {
      path: '/ops/inspect',
      at: '#/actor/shop/corner',
      signedIn: false,
      viewport: { width: 390, height: 844 },
      reducedMotion: 'reduce',
    });
    const panels = page.locator('[data-panel]');
    await panels.nth(4).waitFor();
    expect(await panels.locator('h2').allInnerTexts()).to.deep.equal([
      'Stock <i>today</i>',
      'Facts',
      'Sold',
      'Note',
      'See also',
    ]);
    expect(await panels.nth(0).innerText()).to.include('<img src=x onerror="window.hit=1">');
    expect(await panels.nth(1).innerText())
      .to.include('packing')
      .and.not.include('hunter2');
    expect(await panels.nth(2).innerText()).to.include('12 of 10 pieces');
    expect(await panels.nth(3).innerText()).to.include('<script>window.hit=1</script>');
    expect(await page.evaluate('window.hit ?? null')).to.equal(null);
    expect(await panels.locator('a[href^="https:"]').getAttribute('rel')).to.equal('noopener noreferrer');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    expect(await wrongWith(page), 'axe').to.deep.equal([]);
    await picture(page, 'panels-phone');
    await panels.locator('text=the light').click();
    await page.waitForSelector('[data-state=red].lit');
    expect(await panels.count(), 'a kind without panels').to.equal(0);
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
  });

  // It said that a gateway is gone, and how to start one, where there is none
  it('says where the live feed does not come that the application has to pass on its upgrades', async () => {
    const bare = createServer((request, response) => inspector.handler(request, response));
    bare.on('upgrade', (_request, socket) => {
      socket.on('error', () => undefined); // the page may be gone before it has read that
      socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
    });
    await once(bare.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
    const page = await viewer.open(url, { path: '/ops/inspect', at: '#/actor/light/north', signedIn: false });
    await page.waitForSelector('[data-connection=lost]', { state: 'attached' });
    const said = await page.locator('.banner').innerText();
    expect(said).to.match(/^The live feed is cut\.[^]*does the application run, and pass on its upgrades\?$/);
    await page.waitForSelector('#actor-title >> text=North');
    expect(viewer.complaints).to.deep.equal([]);
    await page.context().close();
    bare.close();
    bare.closeAllConnections();
  });

  it('shows an actor live in a frame of the application, sends to it, and says when one is signed out', async () => {
    const { port } = server.address() as AddressInfo;
    const page = await viewer.open(`http://127.0.0.1:${port}`, { signedIn: false });
    await page.goto(`http://127.0.0.1:${port}/`);
    const frame = page.frameLocator('iframe');
    await frame.locator('[data-connection=live]').waitFor({ state: 'attached' });
    await frame.locator('.row .who b >> text=North').click();
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
