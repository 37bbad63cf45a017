import { expect } from 'chai';
import { readFile, stat } from 'node:fs/promises';
import { openOffice, type Office } from '../records/office.js';
import { pushBrowser, pushService } from '../../helpers/push-service.js';
import { operatorToken, poll } from './fixture.js';

/** What waits, sent to paired browsers through a real push service that can read nothing of it. */
describe('Web Push', () => {
  let office: Office;
  let far: Awaited<ReturnType<typeof pushService>>;
  before(async () => {
    far = await pushService();
    office = await openOffice({}, { notifies: true, fetch: far.fetch });
  });
  beforeEach(() => {
    far.arrived.length = 0;
    Object.assign(far.service, { status: 201, redirectTo: undefined, neverEnds: false });
  });
  after(async () => {
    await office.close();
    far.close();
  });

  async function asks(request: string): Promise<string> {
    const { body } = await office.operator.post('/api/work-items', { title: 'A secret ship' });
    const { id } = body.workItem as { id: string };
    await office.operator.post(`/api/work-items/${id}/approval/request`, { request });
    return id;
  }
  const decide = (id: string) =>
    office.operator.post(`/api/work-items/${id}/approval`, { decision: 'approve' });
  async function notified(path: string) {
    const browser = await office.browser();
    const { subscription, read } = pushBrowser(path);
    const { status, body } = await browser.call('PUT', '/api/push', subscription);
    expect(status, JSON.stringify(body)).to.equal(200);
    return { browser, subscription, read };
  }
  const destinations = async (): Promise<readonly string[]> =>
    (await office.operator.get('/api/notifications')).body.destinations.map(
      ({ name }: { readonly name: string }) => name,
    );

  it('says once that something waits and nothing of it, and takes that back when it is decided', async () => {
    const { browser, read } = await notified('send/one');
    const { publicKey, subscribed, enabled } = (await browser.get('/api/push')).body;
    expect([subscribed, enabled]).to.deep.equal([true, true]);
    const id = await asks('May I sink the enemy?');
    const sent = await far.until(1);
    expect(read(sent.body)).to.deep.equal({ tag: 'm1', waiting: 1, isNew: true });
    expect(sent.path).to.equal('/send/one');
    expect(sent.headers).to.include({
      'content-encoding': 'aes128gcm',
      urgency: 'high',
      topic: 'm1',
      ttl: '86400',
    });
    expect(sent.key).to.equal(publicKey);
    expect(sent.claims).to.include({ aud: 'https://localhost' });
    const [now, ends] = [Date.now() / 1_000, Number(sent.claims['exp'])];
    expect(ends, 'longer than a day is refused by push services').to.be.within(now, now + 86_400);
    expect((await decide(id)).status).to.equal(200);
    const over = await far.until(2);
    expect(read(over.body)).to.deep.equal({ tag: 'm1', waiting: 0, isNew: false });
    expect(over.headers).to.include({ urgency: 'low', topic: 'm1' });
    await browser.call('DELETE', '/api/push');
    expect(await destinations()).to.deep.equal([]);
  });

  it('ends with the pairing', async () => {
    const { browser, subscription } = await notified('send/revoked');
    const other = await notified('send/other');
    const both = [browser, other.browser].map(({ deviceId }) => `push.${deviceId}`);
    expect(await destinations()).to.have.members(both);
    const devices = await readFile(office.layout.authDevices, 'utf8');
    expect(devices).to.include(subscription.endpoint);
    const shown = await office.operator.get('/api/auth/devices');
    expect(shown.text).to.not.include('send/revoked').and.not.include(subscription.keys.auth);
    await office.operator.call('DELETE', `/api/auth/devices/${browser.deviceId}`);
    expect(await readFile(office.layout.authDevices, 'utf8')).to.not.include('send/revoked');
    const id = await asks('Is anyone there?');
    await far.until(1);
    await decide(id);
    await far.until(2);
    expect(far.arrived.map(({ path }) => path)).to.deep.equal(['/send/other', '/send/other']);
    expect(await destinations()).to.deep.equal(both.slice(1));
    expect((await browser.call('PUT', '/api/push', subscription)).status).to.equal(401);
    await other.browser.call('DELETE', '/api/push');
  });

  // What was accepted and then failed would be shown again every five minutes.
  it('is sent once to a push service that accepts it and never ends its answer', async () => {
    const { browser, read } = await notified('send/endless');
    far.service.neverEnds = true;
    const id = await asks('Are you done?');
    await far.until(1);
    await decide(id);
    const over = await far.until(2);
    expect(read(over.body)).to.deep.equal({ tag: 'm1', waiting: 0, isNew: false });
    await browser.call('DELETE', '/api/push');
  });

  // Push services answer 403 to another key than that of the subscription, however often they are asked.
  it('is not sent to a subscription that was made for a key which this home has lost', async () => {
    const { browser, subscription } = await notified('send/old');
    await office.records.devices.notifyAt(browser.deviceId, { ...subscription, sender: 'an-old-key' });
    expect((await browser.get('/api/push')).body.subscribed, 'so the page offers it anew').to.equal(false);
    const id = await asks('Who is that?');
    await poll(destinations, (all) => all.length === 0);
    await decide(id);
    expect(far.arrived).to.deep.equal([]);
    expect(await readFile(office.layout.authDevices, 'utf8')).to.not.include('send/old');
  });

  it('forgets a subscription that the push service does not know any more', async () => {
    const { browser } = await notified('send/gone');
    far.service.status = 410;
    const id = await asks('Hello?');
    await far.until(1);
    await poll(
      async () => (await browser.get('/api/push')).body.subscribed,
      (subscribed) => subscribed === false,
    );
    await poll(destinations, (all) => all.length === 0);
    await decide(id);
    expect(far.arrived.length, 'not asked again').to.equal(1);
  });

  it('is tried again where the push service fails, and follows it nowhere', async () => {
    const { browser, read } = await notified('send/busy');
    Object.assign(far.service, { status: 307, redirectTo: 'https://elsewhere.test/' });
    const id = await asks('Still?');
    await far.until(1);
    Object.assign(far.service, { status: 201, redirectTo: undefined });
    const again = await far.until(2);
    expect([again.path, (read(again.body) as { waiting: number }).waiting]).to.deep.equal(['/send/busy', 1]);
    await decide(id);
    await far.until(3);
    await browser.call('DELETE', '/api/push');
  });

  // The address comes from a browser: it must lead nowhere that only this machine can reach.
  it('asks no address of this machine or its network, whatever a browser says', async () => {
    const browser = await office.browser();
    const { subscription } = pushBrowser('send/x');
    const endpoint = 'https://127.0.0.1:9/inside';
    await browser.call('PUT', '/api/push', { ...subscription, endpoint });
    const id = await asks('Inside?');
    const [destination] = await poll(
      async () => (await office.operator.get('/api/notifications')).body.destinations,
      ([one]) => one?.failures > 0,
    );
    expect(destination.detail).to.include('loopback or private');
    expect(far.arrived).to.deep.equal([]);
    await browser.call('DELETE', '/api/push');
    await decide(id);
  });

  it('is for paired browsers alone, to https alone, and of keys that are keys', async () => {
    const { subscription } = pushBrowser('send/x');
    const agent = await office.agent();
    const asked = [office.operator, agent, office.client()].map(async (client) => [
      (await client.get('/api/push')).status,
      (await client.call('PUT', '/api/push', subscription)).status,
      (await client.call('DELETE', '/api/push')).status,
    ]);
    expect(await Promise.all(asked)).to.deep.equal([
      [403, 403, 403],
      [403, 403, 403],
      [401, 401, 401],
    ]);
    const browser = await office.browser();
    const { keys } = subscription;
    const refused = [
      { ...subscription, endpoint: 'http://localhost/send/x' },
      { ...subscription, endpoint: 'https://user:word@localhost/send/x' },
      { ...subscription, keys: { ...keys, p256dh: 'A'.repeat(87) } },
      { ...subscription, keys: { ...keys, auth: 'A'.repeat(24) } },
      { endpoint: subscription.endpoint },
    ].map(async (body) => (await browser.call('PUT', '/api/push', body)).body.code);
    expect(await Promise.all(refused)).to.deep.equal([
      'URL_REFUSED',
      'URL_REFUSED',
      'BAD_REQUEST',
      'BAD_REQUEST',
      'BAD_REQUEST',
    ]);
    expect((await browser.get('/api/push')).body.subscribed).to.equal(false);
  });

  it('keeps its key in a private file that no answer shows', async () => {
    const { mode } = await stat(office.layout.pushKey);
    expect((mode & 0o777).toString(8)).to.equal('600');
    const { privateKey } = JSON.parse(await readFile(office.layout.pushKey, 'utf8')) as {
      privateKey: string;
    };
    expect(Buffer.from(privateKey, 'base64url').length).to.equal(32);
    const browser = await office.browser();
    for (const path of ['/api/push', '/api/notifications', '/api/auth/devices', '/api/files'])
      expect((await browser.get(path)).text, path)
        .to.not.include(privateKey)
        .and.not.include(operatorToken);
  });
});
