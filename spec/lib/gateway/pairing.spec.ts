import { expect } from 'chai';
import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  authorityIds,
  callerKinds,
  verdict,
  type AuthorityId,
  type CallerKind,
} from '../../../lib/gateway/authorization.js';
import { unclosable } from '../../fixtures/house.js';
import { ownerProof, ownerProofHeader } from '../../../lib/commands/pair.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { testEnvironment } from '../../../lib/testing/test-environment.js';
import { cookiesOf, openOffice, type Browser, type Office } from '../records/office.js';
import { operatorToken, watch, type Answer, type Client } from './fixture.js';

/** The whole way of a browser into the gateway, over real HTTP and real files. */
describe('pairing', () => {
  let office: Office;
  beforeEach(async () => {
    office = await openOffice();
  });
  afterEach(() => office.close());

  const challenged = async (mode = 0o600): Promise<{ challengeId: string; path: string; nonce: string }> => {
    const { body } = await office.client().post('/api/auth/pairing-challenges');
    await writeFile(body.path, body.nonce, { mode });
    await chmod(body.path, mode);
    return body;
  };
  const minted = async (): Promise<string> =>
    (await office.client().post('/api/auth/pairing-codes', { challengeId: (await challenged()).challengeId }))
      .body.code;
  const isThere = (path: string): Promise<boolean> =>
    stat(path).then(
      () => true,
      () => false,
    );

  it("goes from a proof over a code to cookies that are a person's credential", async () => {
    const opened = await office.client().post('/api/auth/pairing-challenges');
    expect(opened.status).to.equal(200);
    expect(opened.body).to.have.all.keys('challengeId', 'nonce', 'path', 'expiresAt', 'ttlSeconds');
    expect([opened.body.challengeId.length, opened.body.nonce.length, opened.body.ttlSeconds]).to.deep.equal([
      43, 43, 10,
    ]);
    expect(opened.body.path).to.equal(join(office.layout.home, `pair-challenge-${opened.body.challengeId}`));
    expect(await isThere(opened.body.path), 'the server does not write the proof').to.equal(false);
    await writeFile(opened.body.path, opened.body.nonce, { mode: 0o600 });
    const code = await office
      .client()
      .post('/api/auth/pairing-codes', { challengeId: opened.body.challengeId });
    expect(code.body).to.have.all.keys('status', 'code', 'expiresAt', 'ttlSeconds');
    expect(code.body.code).to.match(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/);
    expect(code.body.ttlSeconds).to.be.within(295, 300);
    expect(await isThere(opened.body.path)).to.equal(false);
    const paired = await office
      .client({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' })
      .post('/api/auth/pair', { code: code.body.code });
    expect(paired.body).to.deep.include({ status: 'ok', authRequired: true });
    expect(paired.body.device).to.include({
      name: 'Linux browser',
      kind: 'remote',
      current: true,
      lastIp: '127.0.0.1',
    });
    const [auth, device] = paired.headers['set-cookie'] as string[];
    expect(auth).to.match(/^svc_auth=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=31536000$/);
    expect(device).to.equal(
      `svc_device=${paired.body.device.id}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`,
    );
    const browser = office.client({ cookie: cookiesOf(paired), origin: `http://127.0.0.1:${office.port}` });
    expect((await browser.get('/api/auth/state')).body).to.include({ authenticated: true });
    expect((await browser.post('/api/work-items', { title: 'by a browser' })).status).to.equal(201);
    expect((await browser.get('/api/auth/devices')).body.devices).to.deep.equal([paired.body.device]);
  });

  it('takes the code in any case, with blanks or without dashes, once', async () => {
    for (const spoil of [
      (code: string) => code.toLowerCase(),
      (code: string) => code.replaceAll('-', ''),
      (code: string) => ` ${code.replaceAll('-', ' ')} `,
    ]) {
      const code = await minted();
      expect((await office.client().post('/api/auth/pair', { code: spoil(code) })).status).to.equal(200);
      const again = await office.client().post('/api/auth/pair', { code });
      expect([again.status, again.body.error, again.headers['set-cookie']]).to.deep.equal(
        [401, 'Invalid or expired pairing code', undefined].map((one) =>
          one === 'Invalid or expired pairing code' ? `${one}.` : one,
        ),
      );
    }
  });

  it('refuses every proof that is none, and uses the challenge up', async () => {
    const plants: ((opened: { path: string; nonce: string }) => Promise<unknown>)[] = [
      async () => undefined,
      ({ path }) => writeFile(path, 'x'.repeat(43), { mode: 0o600 }),
      async ({ path, nonce }) => {
        await writeFile(path, nonce);
        await chmod(path, 0o644);
      },
      async ({ path, nonce }) => {
        await writeFile(`${path}-aside`, nonce, { mode: 0o600 });
        await symlink(`${path}-aside`, path);
      },
    ];
    for (const plant of plants) {
      const { body } = await office.client().post('/api/auth/pairing-challenges');
      await plant(body);
      for (const attempt of [1, 2]) {
        const answer = await office
          .client()
          .post('/api/auth/pairing-codes', { challengeId: body.challengeId });
        expect([answer.status, answer.body.code], `${attempt}`).to.deep.equal([403, 'CHALLENGE_FAILED']);
        // Too late: the attempt is spent
        if (attempt === 1) await writeFile(body.path, body.nonce, { mode: 0o600 });
      }
    }
    for (const challengeId of ['', 'x', 'x'.repeat(43), '../auth-devices.json', '__proto__']) {
      expect(
        (await office.client().post('/api/auth/pairing-codes', { challengeId })).status,
        challengeId,
      ).to.equal(403);
    }
  });

  it('mints one code of one proof, however many ask at once', async () => {
    const { challengeId } = await challenged();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => office.client().post('/api/auth/pairing-codes', { challengeId })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([
      200,
      ...Array.from({ length: 7 }, () => 403),
    ]);
    expect(
      (await office.supervisor.get('pairing', challengeId))?.value,
      'spent in the commit that made the code',
    ).to.equal('spent');
  });

  it('makes one device of one code, however many redeem it at once', async () => {
    const code = await minted();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => office.client().post('/api/auth/pair', { code })),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    expect((await office.operator.get('/api/auth/devices')).body.devices).to.have.length(1);
  });

  it('gives no code to a bearer, right or wrong, proof or not, and none to no one', async () => {
    const { challengeId } = await challenged();
    const cookie = (await office.browser()).cookie;
    const wrong = office.client({ authorization: 'Bearer wrong' });
    expect((await office.operator.post('/api/auth/pairing-codes', { challengeId })).status).to.equal(403);
    expect(
      (
        await office.operator.post(
          '/api/auth/pairing-codes',
          {},
          { cookie, origin: `http://127.0.0.1:${office.port}` },
        )
      ).status,
      'bearer and cookie is a bearer',
    ).to.equal(403);
    expect((await wrong.post('/api/auth/pairing-codes', { challengeId })).status).to.equal(403);
    expect((await office.client().post('/api/auth/pairing-codes')).status).to.equal(401);
    expect(
      (await office.client().post('/api/auth/pairing-codes', { challengeId })).status,
      'nobody has used the proof up',
    ).to.equal(200);
  });

  it('gives a paired browser a code for the next one', async () => {
    const browser = await office.browser();
    const { body } = await browser.post('/api/auth/pairing-codes');
    expect((await office.client().post('/api/auth/pair', { code: body.code })).status).to.equal(200);
  });

  it('keeps neither nonce nor code nor secret in store, log or file', async () => {
    const store = memoryStore();
    const watched = await openOffice({}, { store });
    try {
      const { body: opened } = await watched.client().post('/api/auth/pairing-challenges');
      await writeFile(opened.path, opened.nonce, { mode: 0o600 });
      const {
        body: { code },
      } = await watched.client().post('/api/auth/pairing-codes', { challengeId: opened.challengeId });
      const paired = await watched.client().post('/api/auth/pair', { code });
      const secret = cookiesOf(paired).split(';')[0]?.split('=')[1] ?? '';
      const rows = JSON.stringify(await store.page({ gte: '', lt: '\uffff', limit: 10_000 }));
      expect(rows).to.include(opened.challengeId);
      const written = rows + (await readFile(watched.layout.authDevices, 'utf8'));
      for (const hidden of [opened.nonce, code, code.replaceAll('-', ''), secret])
        expect(written.includes(hidden), hidden).to.equal(false);
    } finally {
      await watched.close();
    }
  });

  it('is not for agents', async () => {
    const agent = await office.agent();
    for (const [path, body] of [
      ['pairing-challenges', {}],
      ['pairing-codes', { challengeId: 'x'.repeat(43) }],
      ['pair', { code: await minted() }],
      ['bootstrap-grants', {}],
      ['bootstrap', {}],
    ] as const) {
      expect((await agent.post(`/api/auth/${path}`, body)).status, path).to.equal(403);
    }
    const lost = office.client({ 'x-svc-tool-call': 'svc-mcp' });
    expect(
      (await lost.post('/api/auth/pair', { code: await minted() })).status,
      "an agent's call that lost its identity",
    ).to.be.oneOf([401, 403]);
    expect((await agent.get('/api/auth/devices')).status).to.equal(403);
  });

  it('starts only here: not by another name, not through a proxy', async () => {
    const far = await openOffice({}, { gateway: { allowedHosts: ['console.example'] } });
    try {
      for (const headers of [
        { host: 'console.example' },
        { 'x-forwarded-for': '10.0.0.1' },
        { forwarded: 'for=10.0.0.1' },
      ] as Record<string, string>[]) {
        const answer = await far.client(headers).post('/api/auth/pairing-challenges');
        expect([answer.status, answer.body.code], JSON.stringify(headers)).to.deep.equal([403, 'LOCAL_ONLY']);
        expect((await far.client(headers).get('/api/auth/state')).body.canBootstrapLocal).to.equal(false);
        expect(
          (
            await far
              .client({ ...headers, 'x-svc-bootstrap-grant': 'x'.repeat(43) })
              .post('/api/auth/bootstrap')
          ).body.code,
        ).to.equal('LOCAL_ONLY');
      }
      expect((await far.client().get('/api/auth/state')).body.canBootstrapLocal).to.equal(true);
    } finally {
      await far.close();
    }
  });

  it('bootstraps the browser of this machine with a grant, once, and a code is no grant', async () => {
    const {
      body: { grant, ttlSeconds },
    } = await office
      .client()
      .post('/api/auth/bootstrap-grants', { challengeId: (await challenged()).challengeId });
    expect([grant.length, ttlSeconds <= 60]).to.deep.equal([43, true]);
    const bootstrap = (value: string): Promise<Answer> =>
      office.client({ 'x-svc-bootstrap-grant': value }).post('/api/auth/bootstrap');
    expect((await office.client().post('/api/auth/pair', { code: grant })).status).to.equal(401);
    expect((await bootstrap(await minted())).status).to.equal(401);
    const answer = await bootstrap(grant);
    expect(answer.body.device).to.include({ kind: 'local', current: true });
    expect((await bootstrap(grant)).status).to.equal(401);
    expect((await office.client().post('/api/auth/bootstrap')).status).to.equal(401);
  });

  it('throttles wrong codes and never the right one', async () => {
    const code = await minted();
    const answers: number[] = [];
    for (let guess = 0; guess < 25; guess++)
      answers.push(
        (await office.client().post('/api/auth/pair', { code: `AAAA-BBBB-CC${22 + guess}` })).status,
      );
    expect(answers.slice(0, 20).every((status) => status === 401)).to.equal(true);
    expect(answers.slice(20).every((status) => status === 429)).to.equal(true);
    const throttled = await office.client().post('/api/auth/pair', { code: 'AAAA-BBBB-CCCC' });
    expect(Number(throttled.headers['retry-after'])).to.be.within(1, 60);
    expect(throttled.body.resetAt).to.be.a('number');
    expect((await office.client().post('/api/auth/pair', { code })).status).to.equal(200);
  });

  // another user of this machine, or a program that was talked into it, takes all there is in every minute
  it('lets the owner of the home through when a group stands at authentication', async () => {
    const crowded = await openOffice({});
    try {
      const statuses: number[] = [];
      for (let n = 0; n < 130; n++)
        statuses.push((await crowded.client().post('/api/auth/pairing-challenges')).status);
      expect([statuses.at(0), statuses.at(-1)]).to.deep.equal([200, 429]);
      const { environment } = crowded.supervisor;
      const asked = (proof: string) =>
        crowded.client({ [ownerProofHeader]: proof }).post('/api/auth/pairing-challenges');
      const owner = await asked(ownerProof(operatorToken, environment.clock.now()));
      expect(owner.status).to.equal(200);
      await writeFile(owner.body.path, owner.body.nonce, { mode: 0o600 });
      expect(
        (await crowded.client().post('/api/auth/pairing-codes', { challengeId: owner.body.challengeId }))
          .status,
      ).to.equal(200);
      for (const proof of [
        ownerProof('another-token-of-43-characters-aaaaaaaaaaaaa', environment.clock.now()),
        ownerProof(operatorToken, environment.clock.now() - 600_000),
        operatorToken,
        'x'.repeat(43),
        'ü'.repeat(43),
        '',
      ]) {
        expect((await asked(proof)).status, proof).to.equal(429);
      }
      expect(
        (
          await crowded
            .client({ [ownerProofHeader]: ownerProof(operatorToken, environment.clock.now()) })
            .post('/api/auth/pairing-codes')
        ).status,
        'it opens nothing',
      ).to.equal(401);
    } finally {
      await crowded.close();
    }
  });

  it('keeps a challenge an hour and a code a day after their end, and then nothing of them', async () => {
    const environment = testEnvironment();
    const store = memoryStore();
    const timed = await openOffice({}, { environment, store });
    const left = async (): Promise<string[]> =>
      (await store.page({ gte: 'a/pairing', lt: 'a/pairing\x7f', limit: 100 })).map(
        ([key]) => key.split('/')[1] as string,
      );
    const rest = async (ms: number): Promise<void> => {
      await environment.sleep(ms);
      await environment.advance(5_000);
    };
    try {
      const { body } = await timed.client().post('/api/auth/pairing-challenges');
      await timed.client().post('/api/auth/pairing-challenges');
      await writeFile(body.path, body.nonce, { mode: 0o600 });
      const {
        body: { code },
      } = await timed.client().post('/api/auth/pairing-codes', { challengeId: body.challengeId });
      await rest(600_000);
      expect(await left()).to.deep.equal(['pairing-code', 'pairing', 'pairing']);
      // the hour begins when the challenge's file is gone, which a real disk says when it is done
      for (let minutes = 0; minutes < 1_200 && (await left()).includes('pairing'); minutes += 10) {
        await rest(600_000);
        await new Promise((done) => setTimeout(done, 10));
      }
      expect(await left()).to.deep.equal(['pairing-code']);
      await rest(24 * 3_600_000);
      expect(await left()).to.deep.equal([]);
      expect((await timed.client().post('/api/auth/pair', { code })).status).to.equal(401);
    } finally {
      await timed.close();
    }
  });

  it('refuses crooked bodies', async () => {
    for (const body of [{}, { code: 1 }, { code: null }, { code: ['A'] }, { code: 'x'.repeat(201) }])
      expect((await office.client().post('/api/auth/pair', body)).status, JSON.stringify(body)).to.equal(400);
    expect(
      (await office.client().post('/api/auth/pair', { code: 'x', more: 'y'.repeat(20_000) })).status,
    ).to.equal(413);
    expect((await office.client().post('/api/auth/pair', '')).status).to.equal(400);
  });

  describe('time', () => {
    it('is over for a challenge after ten seconds, also when someone sets the clock back', async () => {
      const environment = testEnvironment();
      const timed = await openOffice({}, { environment });
      try {
        const { body } = await timed.client().post('/api/auth/pairing-challenges');
        await writeFile(body.path, body.nonce, { mode: 0o600 });
        await environment.setWall(-3_600_000);
        await environment.advance(10_000);
        expect(
          (await timed.client().post('/api/auth/pairing-codes', { challengeId: body.challengeId })).status,
        ).to.equal(403);
        for (let looks = 0; looks < 100 && (await isThere(body.path)); looks++) await environment.settle();
        expect(await isThere(body.path)).to.equal(false);
      } finally {
        await timed.close();
      }
    });

    it('is over for a code after five minutes, and not before, also across a restart', async () => {
      const environment = testEnvironment();
      const store = unclosable(memoryStore());
      const first = await openOffice({}, { environment, store });
      const { body } = await first.client().post('/api/auth/pairing-challenges');
      await writeFile(body.path, body.nonce, { mode: 0o600 });
      const {
        body: { code },
      } = await first.client().post('/api/auth/pairing-codes', { challengeId: body.challengeId });
      const {
        body: { challengeId, path, nonce },
      } = await first.client().post('/api/auth/pairing-challenges');
      await writeFile(path, nonce, { mode: 0o600 });
      const {
        body: { code: other },
      } = await first.client().post('/api/auth/pairing-codes', { challengeId });
      await first.close();
      await environment.advance(299_000);
      const second = await openOffice({}, { environment, store });
      try {
        expect((await second.client().post('/api/auth/pair', { code })).status).to.equal(200);
        await environment.advance(1_000);
        expect((await second.client().post('/api/auth/pair', { code: other })).status).to.equal(401);
      } finally {
        await second.close();
      }
    });
  });

  describe('a paired browser', () => {
    let browser: Browser;
    beforeEach(async () => {
      browser = await office.browser();
    });

    it('is let in no more once it logged out, and its cookies are taken away', async () => {
      const answer = await browser.post('/api/auth/logout');
      expect(answer.body).to.deep.equal({ status: 'ok' });
      expect(answer.headers['set-cookie']).to.deep.equal([
        'svc_auth=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
        'svc_device=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
      ]);
      expect((await browser.get('/api/work-items')).status).to.equal(401);
      expect((await browser.post('/api/auth/logout')).status).to.equal(200);
      expect((await office.operator.post('/api/auth/logout')).status).to.equal(200);
    });

    // A page of another port of this host can plant cookies of the same names: that logged everybody out
    it('is let in beside cookies of the same names that a neighbour planted', async () => {
      const { cookie, headers } = await office.browser();
      const planted = `svc_auth=${'x'.repeat(43)}; svc_device=d_${'x'.repeat(16)}; svc_auth=no; ${cookie}`;
      expect((await office.client({ ...headers, cookie: planted }).get('/api/work-items')).status).to.equal(
        200,
      );
      const outsiders = planted.replace(cookie, '');
      expect((await office.client({ ...headers, cookie: outsiders }).get('/api/work-items')).status).to.equal(
        401,
      );
    });

    it('is removed by another, and keeps its cookies until it is told', async () => {
      const other = await office.browser();
      const answer = await other.call('DELETE', `/api/auth/devices/${browser.deviceId}`);
      expect([answer.status, answer.body, answer.headers['set-cookie']]).to.deep.equal([
        200,
        { status: 'ok', current: false },
        undefined,
      ]);
      expect((await browser.get('/api/work-items')).status).to.equal(401);
      expect((await other.call('DELETE', `/api/auth/devices/${browser.deviceId}`)).body).to.deep.equal({
        error: 'Paired browser not found',
        code: 'NOT_FOUND',
      });
      const own = await other.call('DELETE', `/api/auth/devices/${other.deviceId}`);
      expect([own.body.current, (own.headers['set-cookie'] as string[]).length]).to.deep.equal([true, 2]);
    });

    it('has its socket closed when it is removed, and hears of nothing more', async () => {
      const socket = await office.socket(browser.headers);
      const others = await office.socket();
      await office.operator.call('DELETE', `/api/auth/devices/${browser.deviceId}`);
      expect(await socket.closed).to.equal(4001);
      expect((await others.until(({ event }) => event === 'device:revoked')).payload).to.deep.equal({
        id: browser.deviceId,
      });
      expect(socket.frames.some(({ event }) => event === 'device:revoked')).to.equal(false);
    });

    it('ends with the links for Stately that it made, used and unused', async () => {
      const own = await office.browser();
      const link = async () => (await own.post('/api/inspect/stately-links', {})).body.path as string;
      const [used, unused] = [await link(), await link()];
      const open = (path: string) => watch(`ws://127.0.0.1:${office.port}${path}`, {});
      const socket = await open(used);
      await office.operator.call('DELETE', `/api/auth/devices/${own.deviceId}`);
      expect(await socket.closed).to.equal(4001);
      expect(await open(unused).catch((error: { status?: number }) => error.status)).to.equal(401);
    });

    it('is announced, and shown without any secret', async () => {
      const socket = await office.socket();
      const next = await office.browser();
      expect((await socket.until(({ event }) => event === 'device:paired')).payload).to.deep.equal({
        id: next.deviceId,
        name: 'Remote browser',
        kind: 'remote',
      });
      const { text } = await office.operator.get('/api/auth/devices');
      expect(text).not.to.match(/tokenHash|[0-9a-f]{64}/);
    });

    it('is no one while the file is damaged, which the answer says', async () => {
      await writeFile(office.layout.authDevices, '{', { mode: 0o600 });
      let answer = await browser.get('/api/work-items');
      for (let looks = 0; looks < 5_000 && answer.status === 200; looks++)
        answer = await browser.get('/api/work-items'); // noticed within a second
      expect(answer.status).to.equal(401);
      const listed = await office.operator.get('/api/auth/devices');
      expect([listed.status, listed.body.code]).to.deep.equal([503, 'DEVICES_DAMAGED']);
      expect(listed.body.error).to.match(/auth-devices\.json is damaged/);
      const paired = await office.client().post('/api/auth/pair', { code: await minted() });
      expect([paired.status, paired.headers['set-cookie']]).to.deep.equal([503, undefined]);
      expect(await readFile(office.layout.authDevices, 'utf8')).to.equal('{');
    });
  });

  it('names the cookies for the instance, so that gateways of one host stay apart', async () => {
    const named = await openOffice({}, { gateway: { name: 'lab' } });
    try {
      const browser = await named.browser();
      expect(browser.cookie).to.match(/^svc_auth_lab=[\w-]{43}; svc_device_lab=d_[\w-]{16}$/);
      expect((await browser.get('/api/work-items')).status).to.equal(200);
      expect(
        (await named.client({ cookie: browser.cookie.replaceAll('_lab', '') }).get('/api/work-items')).status,
      ).to.equal(401);
      expect((await office.client({ cookie: browser.cookie }).get('/api/work-items')).status).to.equal(401);
    } finally {
      await named.close();
    }
  });

  it('answers every caller as the table says', async () => {
    const asks: Partial<Record<AuthorityId, (client: Client) => Promise<Answer>>> = {
      'auth.challenge': (client) => client.post('/api/auth/pairing-challenges'),
      'auth.code': async (client) =>
        client.post('/api/auth/pairing-codes', { challengeId: (await challenged()).challengeId }),
      'auth.grant': async (client) =>
        client.post('/api/auth/bootstrap-grants', { challengeId: (await challenged()).challengeId }),
      'auth.pair': async (client) => client.post('/api/auth/pair', { code: await minted() }),
      'auth.bootstrap': async (client) =>
        client.post(
          '/api/auth/bootstrap',
          {},
          {
            'x-svc-bootstrap-grant': (
              await office
                .client()
                .post('/api/auth/bootstrap-grants', { challengeId: (await challenged()).challengeId })
            ).body.grant,
          },
        ),
      'auth.devices': (client) => client.get('/api/auth/devices'),
      'auth.revoke': async (client) =>
        client.call('DELETE', `/api/auth/devices/${(await office.browser()).deviceId}`),
      'auth.logout': (client) => client.post('/api/auth/logout'),
    };
    expect((await office.client().get('/pair')).status).to.equal(200);
    expect([...Object.keys(asks), 'auth.state']).to.have.members(
      authorityIds.filter((id) => id.startsWith('auth.')),
    );
    for (const [authority, ask] of Object.entries(asks) as [
      AuthorityId,
      (client: Client) => Promise<Answer>,
    ][]) {
      const agent = await office.agent();
      const clients: Record<CallerKind, Client> = {
        none: office.client(),
        bad: office.client({ authorization: 'Bearer bad' }),
        operator: office.operator,
        device: await office.browser(),
        self: agent,
        above: agent,
        below: agent,
        outsider: agent,
      };
      for (const kind of callerKinds) {
        const answer = await ask(clients[kind]);
        const judged = verdict(authority, kind);
        if (judged === 'yes' || judged === 'policy')
          expect(answer.status, `${authority} ${kind} ${answer.text}`).to.equal(200);
        else expect(answer.body.code, `${authority} ${kind}`).to.equal(judged);
      }
    }
  });
});
