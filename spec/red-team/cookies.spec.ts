import { expect } from 'chai';
import { operatorToken } from '../lib/gateway/fixture.js';
import { openOffice, type Browser, type Office } from '../lib/records/office.js';

/**
 * Cookies as a credential: ASVS 3.3 (attributes, size), 7 (sessions end where they should), 15.3.7 (twice the
 * same name).
 */
describe('red team: cookies', () => {
  let office: Office;
  let browser: Browser;
  let secret: string;
  before(async () => {
    office = await openOffice();
    browser = await office.browser();
    secret = /svc_auth=([\w-]{43})/.exec(browser.cookie)?.[1] ?? '';
  });
  after(() => office.close());

  const statusWith = async (cookie: string, more: Record<string, string> = {}): Promise<number> =>
    (await office.client({ cookie, ...more }).get('/api/work-items')).status;

  // An agent's tool has its own bearer. Without it, it must not become the person whose browser's cookies it
  // got hold of.
  it("let in no call that says it is an agent's", async () => {
    for (const marker of ['x-svc-tool-call', 'x-svc-caller-session', 'x-svc-session-capability'])
      expect(await statusWith(browser.cookie, { [marker]: '1' }), marker).to.equal(401);
    expect(await statusWith(browser.cookie)).to.equal(200);
  });

  it('let no one in by one of the two, by a wrong one, or by guesses around them', async () => {
    const { deviceId } = browser;
    const malformed = [
      `svc_auth=${secret}`,
      `svc_device=${deviceId}`,
      `svc_auth=${secret}; svc_device=d_0000000000000000`,
      `svc_auth=${'x'.repeat(43)}; svc_device=${deviceId}`,
      `svc_auth=${secret.slice(1)}; svc_device=${deviceId}`,
      `svc_auth=${secret}x; svc_device=${deviceId}`,
      `svc_auth="${secret}"; svc_device=${deviceId}`,
      `SVC_AUTH=${secret}; SVC_DEVICE=${deviceId}`,
      `svc_auth_default=${secret}; svc_device_default=${deviceId}`,
      `svc_auth=; svc_device=`,
      `svc_auth=${secret}; svc_device=__proto__`,
      `svc_auth=${secret}; svc_device=${deviceId}${'x'.repeat(9_000)}`,
      `x=${'y'.repeat(8_200)}; svc_auth=${secret}; svc_device=${deviceId}`,
    ];
    for (const cookie of malformed) expect(await statusWith(cookie), cookie.slice(0, 80)).to.equal(401);
    expect(await statusWith(`theme=dark; ${browser.cookie}; other=1`), 'beside other cookies').to.equal(200);
  });

  // A page on another port of this host can plant a cookie of the same name: it must log no one out.
  it('count where one of several of a name is right', async () => {
    const { deviceId } = browser;
    for (const cookie of [
      `svc_auth=${secret}; svc_auth=${secret}; svc_device=${deviceId}`,
      `svc_auth=${'x'.repeat(43)}; svc_auth=${secret}; svc_device=${deviceId}`,
      `svc_auth=${secret}; svc_auth=${'x'.repeat(43)}; svc_device=${deviceId}`,
    ])
      expect(await statusWith(cookie), cookie.slice(0, 60)).to.equal(200);
    const wrong = `svc_auth=${'x'.repeat(43)}; svc_auth=${'y'.repeat(43)}; svc_device=${deviceId}`;
    expect(await statusWith(wrong), 'none of them').to.equal(401);
  });

  it('are no bearer, and a bearer counts alone', async () => {
    expect(
      (await office.client({ authorization: `Bearer ${secret}` }).get('/api/work-items')).status,
    ).to.equal(401);
    expect(
      await statusWith(browser.cookie, { authorization: 'Bearer wrong' }),
      'a wrong bearer beside right cookies',
    ).to.equal(401);
    expect(await statusWith(browser.cookie, { authorization: '' }), 'an empty one').to.equal(401);
    expect(
      await statusWith('svc_auth=x; svc_device=y', { authorization: `Bearer ${operatorToken}` }),
    ).to.equal(200);
  });

  it('do not widen an agent: its markers need its own token', async () => {
    expect(await statusWith(browser.cookie, { 'x-svc-tool-call': 'svc-mcp' })).to.equal(401);
    expect(
      await statusWith(browser.cookie, { 'x-svc-caller-session': 's1', 'x-svc-session-capability': 'x' }),
    ).to.equal(401);
  });

  it('are small, hidden from scripts, and sent to no one else', async () => {
    const {
      body: { code },
    } = await browser.post('/api/auth/pairing-codes');
    const { headers } = await office.client().post('/api/auth/pair', { code });
    for (const cookie of headers['set-cookie'] as string[]) {
      expect(cookie.length).to.be.below(200);
      expect(cookie)
        .to.match(/; HttpOnly/)
        .and.match(/; SameSite=Strict/)
        .and.match(/; Path=\//)
        .and.not.match(/Domain=/i);
    }
  });

  it('of one browser are never given to another, whatever it brings along (fixation)', async () => {
    const {
      body: { code },
    } = await browser.post('/api/auth/pairing-codes');
    const paired = await office
      .client({ cookie: browser.cookie, origin: browser.headers['origin'] ?? '' })
      .post('/api/auth/pair', { code });
    expect(paired.body.device.id).not.to.equal(browser.deviceId);
    expect(String(paired.headers['set-cookie'])).not.to.include(secret);
  });

  it('mean nothing in an address or a body', async () => {
    expect(
      (await office.client().get(`/api/work-items?svc_auth=${secret}&svc_device=${browser.deviceId}`)).status,
    ).to.equal(401);
    expect(
      (
        await office
          .client()
          .post('/api/work-items', { svc_auth: secret, svc_device: browser.deviceId, title: 'x' })
      ).status,
    ).to.equal(401);
  });

  it('answer the same, with the same work, to a device that exists and one that does not', async () => {
    const [known, unknown] = await Promise.all(
      [
        `svc_auth=${'x'.repeat(43)}; svc_device=${browser.deviceId}`,
        `svc_auth=${'x'.repeat(43)}; svc_device=d_0000000000000000`,
      ].map((cookie) => office.client({ cookie }).get('/api/work-items')),
    );
    expect(known?.text).to.equal(unknown?.text);
  });
});
