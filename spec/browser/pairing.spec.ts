import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Troupe } from '../lib/cli/troupe.js';
import { makeClient, poll } from '../lib/gateway/fixture.js';
import { pushBrowser } from '../helpers/push-service.js';
import { wrongWith } from './axe.js';
import { openBrowser, type Viewer } from './browser.js';

/** `troupe open`, with a real browser: nothing is typed, and no token is ever in it. */
describe('a paired browser', () => {
  let troupe: Troupe;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    troupe = await Troupe.create();
    await troupe.start();
  });
  after(async () => {
    await viewer.close();
    await troupe.clear();
  });

  it('comes in by the link of troupe open, sees everything live, may send, and keeps nothing that a script can read', async () => {
    const { url, token, port } = await troupe.announcement();
    const operator = makeClient(port, { authorization: `Bearer ${token}` });
    const id = (await operator.post('/api/work-items', { title: 'seen by cookie' })).body.workItem
      .id as string;
    const { out } = await troupe.run('open', '--print', '--home', troupe.home());
    const page = await viewer.open(url, { signedIn: false });
    await page.goto(out.trim());
    await page.waitForURL(`${url}/`);
    await page.waitForSelector('[data-connection=live]');
    expect(page.url()).to.not.include('svc-bootstrap');
    await page.waitForSelector('main h1 >> text=Now'); // it once led to the inspector, and no one found the console
    await page.goto(`${url}/inspect`);
    await page.waitForSelector('[data-connection=live]');
    await page.click(`.row >> text=${id}`);
    await page.click('[data-event="item.move"][data-to="executing"] > button');
    await page.click('[data-event="item.move"][data-to="executing"] button[type=submit]');
    await page.waitForSelector('[data-state="work.executing"].lit');
    // But for how far one has looked, which is a number
    expect(
      await page.evaluate(
        'document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }).replace(/"troupe.seen":"\\d+"/, \'\')',
      ),
    ).to.equal('{}');
    expect(await page.locator('text=Forget token').count()).to.equal(0);
    await page.context().close();
  });

  it('is let in as well by a grant in the fragment of the page itself, which is gone from the address at once', async () => {
    const { url } = await troupe.announcement();
    const { out } = await troupe.run('open', '--print', '--home', troupe.home());
    const page = await viewer.open(url, { signedIn: false, at: new URL(out.trim()).hash });
    await page.waitForSelector('[data-connection=live]');
    expect(page.url()).to.not.include('svc-bootstrap');
    await page.context().close();
  });

  // It once was told that the gateway is gone, where nothing but the socket was in use: on an actor, in time
  for (const at of ['#/actor/work-item/%id', '#/time', '#/waiting'])
    it(`is brought to the gate once it is revoked, at ${at}`, async () => {
      const { url, token, port } = await troupe.announcement();
      const operator = makeClient(port, { authorization: `Bearer ${token}` });
      const { id } = (await operator.post('/api/work-items', { title: 'seen' })).body.workItem as {
        id: string;
      };
      const { out } = await troupe.run('open', '--print', '--home', troupe.home());
      const page = await viewer.open(url, { signedIn: false });
      const known = (await operator.get('/api/auth/devices')).body.devices as { id: string }[];
      await page.goto(out.trim());
      await page.waitForSelector('[data-connection=live]');
      await viewer.go(page, at.replace('%id', id));
      await page.waitForSelector('main h1');
      const devices = (await operator.get('/api/auth/devices')).body.devices as { id: string }[];
      const device = devices.find((one) => known.every((other) => other.id !== one.id));
      expect((await operator.call('DELETE', `/api/auth/devices/${device?.id}`)).status).to.be.below(300);
      await page.waitForSelector('.gate #token');
      await page.context().close();
    });

  // The next person at the device read what had been written on it
  for (const path of ['/', '/inspect'])
    it(`keeps no unsaved text once it is revoked, at ${path}; of a gateway that only does not know it, it does`, async () => {
      const { url, token, port } = await troupe.announcement();
      const operator = makeClient(port, { authorization: `Bearer ${token}` });
      const known = (await operator.get('/api/auth/devices')).body.devices as { id: string }[];
      const { out } = await troupe.run('open', '--print', '--home', troupe.home());
      const page = await viewer.open(url, { path: '/', signedIn: false });
      const drafts = () =>
        page.evaluate("Object.keys(localStorage).filter((slot) => slot.includes('pond')).length");
      // Of an earlier life, or of another home at this address: a person decides, before signing in
      const draft = { text: 'A secret.', version: 0, at: 1 };
      const write = () =>
        page.evaluate(
          `localStorage.setItem('troupe.text.knowledge/pond.md', ${JSON.stringify(JSON.stringify(draft))})`,
        );
      await write();
      await page.reload();
      await page.waitForSelector('[data-kept-texts] >> text=One unsaved text is kept on this device.');
      expect(await drafts()).to.equal(1);
      await page.click('[data-kept-texts] button');
      await page.waitForSelector('[data-kept-texts]', { state: 'detached' });
      expect(await drafts()).to.equal(0);
      await write();
      await page.goto(out.trim());
      await page.waitForSelector('[data-connection=live]');
      await page.goto(`${url}${path}`);
      await page.waitForSelector('[data-connection=live]');
      expect(await drafts()).to.equal(1);
      const devices = (await operator.get('/api/auth/devices')).body.devices as { id: string }[];
      const device = devices.find((one) => known.every((other) => other.id !== one.id));
      expect((await operator.call('DELETE', `/api/auth/devices/${device?.id}`)).status).to.be.below(300);
      await page.waitForSelector('.gate #token');
      expect(await drafts()).to.equal(0);
      expect(await page.locator('[data-kept-texts]').count()).to.equal(0);
      await page.context().close();
    });

  // This browser shows no notifications and no push service is reachable from here: permission and subscription are
  // played, the worker, its policy and the gateway are real.
  it('is notified once a person asks for it, by a worker that the policy of the page lets in', async () => {
    const { url } = await troupe.announcement();
    const { out } = await troupe.run('open', '--print', '--home', troupe.home());
    const page = await viewer.open(url, { signedIn: false });
    const { subscription } = pushBrowser('send/browser');
    await page.addInitScript(`
      Object.defineProperty(Notification, 'permission', { get: () => 'default' });
      Notification.requestPermission = async () => 'granted';
      PushManager.prototype.getSubscription = async () => null;
      PushManager.prototype.subscribe = async (options) => {
        globalThis.asked = options;
        return { toJSON: () => (${JSON.stringify(subscription)}) };
      };`);
    await page.goto(out.trim());
    await page.waitForSelector('[data-connection=live]');
    await viewer.go(page, '#/settings');
    await page.click('text=Notify this browser');
    await page.waitForSelector('text=Stop notifying this browser');
    const state = await page.evaluate<{ publicKey: string; subscribed: boolean }>(
      "fetch('/api/push').then((answer) => answer.json())",
    );
    expect(state.subscribed).to.equal(true);
    expect(await page.evaluate('globalThis.asked')).to.deep.equal({
      userVisibleOnly: true,
      applicationServerKey: state.publicKey,
    });
    expect(await wrongWith(page), 'axe').to.deep.equal([]);
    const worker = page.context().serviceWorkers()[0] ?? (await page.context().waitForEvent('serviceworker'));
    await worker.evaluate(
      'globalThis.shown = []; registration.showNotification = async (...shown) => void globalThis.shown.push(shown)',
    );
    const devtools = await page.context().newCDPSession(page);
    const registrationId = await new Promise<string>((resolve) => {
      devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        for (const one of registrations) resolve(one.registrationId);
      });
      void devtools.send('ServiceWorker.enable');
    });
    const message = { tag: 'm1', waiting: 1, isNew: true };
    for (const data of [message, { ...message, waiting: 0, isNew: false }].map((one) => JSON.stringify(one)))
      await devtools.send('ServiceWorker.deliverPushMessage', { origin: url, registrationId, data });
    const shown = await poll(
      () => worker.evaluate('globalThis.shown') as Promise<readonly unknown[]>,
      (all) => all.length === 2,
    );
    expect(shown).to.deep.equal([
      ['Troupe', { tag: 'm1', body: 'Something waits for you.', silent: false }],
      ['Troupe', { tag: 'm1', body: 'Decided.', silent: true }],
    ]);
    // A browser that renewed its subscription was notified no more: the old address was never replaced
    const renewed = pushBrowser('send/renewed').subscription;
    await worker.evaluate(`new Promise((resolve, reject) => {
      const event = new Event('pushsubscriptionchange');
      event.newSubscription = { toJSON: () => (${JSON.stringify(renewed)}) };
      event.waitUntil = (work) => work.then(resolve, reject);
      dispatchEvent(event);
    })`);
    const kept = await readFile(join(troupe.home(), 'auth-devices.json'), 'utf8');
    expect([kept.includes('send/renewed'), kept.includes('send/browser')]).to.deep.equal([true, false]);
    await page.click('text=Stop notifying this browser');
    await page.waitForSelector('text=Notify this browser');
    await page.context().close();
  });

  it('breaks no rule of the policy and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
