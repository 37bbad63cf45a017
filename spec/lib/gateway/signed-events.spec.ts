import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { startInstance } from '../../../lib/instance.js';
import { makeClient, type Answer, type Client } from './fixture.js';

/** A whole gateway with a workflow of one plain step. */
async function openHome() {
  const layout = layoutOf({ home: await mkdtemp(join(tmpdir(), 'signed-')) });
  let served = await startInstance({ layout, port: 0 });
  const token = String((await readAnnouncement(layout.announcement))?.token);
  const port = (): number => Number(new URL(served.url).port);
  const operator = (): Client => makeClient(port(), { authorization: `Bearer ${token}` });
  const nodes = [
    { id: 't', type: 'trigger', trigger: { kind: 'manual' } },
    { id: 'a', type: 'step', actor: { kind: 'noop' } },
  ];
  const drawn = await operator().post('/api/workflow-definitions/mutate', {
    operation: 'create',
    definition: { id: 'deploy', title: 'Deploy', nodes, edges: [{ from: 't', to: 'a' }] },
  });
  expect(drawn.status, drawn.text).to.equal(201);
  return {
    layout,
    operator,
    /** As any program would: the body as text, and what was made of that text. */
    tell: (body: string, headers: Record<string, string>): Promise<Answer> =>
      makeClient(port(), headers).post('/api/workflow-events', body),
    async restart(): Promise<void> {
      await served.close();
      served = await startInstance({ layout, port: 0 });
    },
    async close() {
      await served.close();
      await rm(layout.home, { recursive: true, force: true });
    },
  };
}

const seconds = (late = 0): number => Math.floor(Date.now() / 1000) - late;
function signed(
  secret: string,
  body: string,
  { name = 'push', at = seconds() } = {},
): Record<string, string> {
  const hex = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  return { 'x-svc-workflow-trigger': name, 'x-svc-workflow-signature': `t=${at},v1=${hex}` };
}
const body = (payload: object, fireRef?: string): string =>
  JSON.stringify({ event: 'repo.push', payload, fireRef });
const bind = {
  kind: 'webhook',
  name: 'push',
  event: 'repo.push',
  targetWorkflowId: 'deploy',
  signature: 'hmac-sha256',
};

describe('/api/workflow-events that are signed', () => {
  let home: Awaited<ReturnType<typeof openHome>>;
  let secret: string;
  beforeEach(async () => {
    home = await openHome();
    const made = await home.operator().post('/api/workflow-triggers', bind);
    expect(made.status, made.text).to.equal(201);
    expect(made.body.trigger)
      .to.include({ signature: 'hmac-sha256', activation: 'active' })
      .and.not.have.property('signingSalt');
    expect((await home.operator().get('/api/workflow-triggers')).text, 'nor is it listed').to.not.include(
      'Salt',
    );
    secret = made.body.secretToken;
    expect(secret).to.match(/^svcwk_[A-Za-z0-9_-]{43}$/);
  });
  afterEach(() => home.close());
  const runs = async (): Promise<unknown[]> =>
    (await home.operator().get('/api/workflow-definitions/deploy/runs')).body.runs;

  it('start a run, of the bytes as they came', async () => {
    const text = '{ "payload": {"b": 1e2, "a": "\\u00fc"},\n  "event":"repo.push" }';
    const told = await home.tell(text, signed(secret, text));
    expect([told.status, told.body.outcomes?.[0]?.outcome], told.text).to.deep.equal([202, 'started']);
    expect(await runs()).to.have.length(1);
    const respaced = JSON.stringify(JSON.parse(text));
    expect(
      (await home.tell(respaced, signed(secret, text))).status,
      'the same meaning in other bytes',
    ).to.equal(401);
  });

  // An outsider's 64 KiB were read before the credential was looked at
  it('are refused by their head: what an outsider sends is not read', async () => {
    const malformed = 'x'.repeat(70_000);
    expect((await home.tell(malformed, {})).status).to.equal(401);
    expect((await home.tell(malformed, { 'x-svc-workflow-event-token': 'y'.repeat(40) })).status).to.equal(
      401,
    );
    expect((await home.tell(malformed, signed(secret, malformed, { name: 'nothing' }))).status).to.equal(401);
    expect((await home.tell(malformed, signed(secret, malformed))).status).to.equal(413);
  });

  it('start one run for a signature, however often it is told again, also over a restart', async () => {
    const text = body({ n: 1 });
    const headers = signed(secret, text);
    const first = await home.tell(text, headers);
    const again = await home.tell(text, headers);
    expect([again.status, again.body.outcomes[0].run.runId]).to.deep.equal([
      202,
      first.body.outcomes[0].run.runId,
    ]);
    await home.restart();
    expect((await home.tell(text, headers)).body.outcomes[0].run.runId).to.equal(
      first.body.outcomes[0].run.runId,
    );
    expect(await runs()).to.have.length(1);
    expect(
      (await home.tell(text, signed(secret, text, { at: seconds(5) }))).status,
      'told anew, later',
    ).to.equal(202);
    expect(await runs()).to.have.length(2);
  });

  it('start one run for a fireRef, whatever the signature', async () => {
    const text = body({ n: 1 }, 'push-1');
    for (const late of [0, 1, 2])
      expect((await home.tell(text, signed(secret, text, { at: seconds(late) }))).status).to.equal(202);
    expect(await runs()).to.have.length(1);
  });

  it('are refused when they are old, or from the future', async () => {
    const text = body({});
    for (const late of [400, -400, 1e9]) {
      const told = await home.tell(text, signed(secret, text, { at: seconds(late) }));
      expect([told.status, told.body.code, told.body.windowSeconds], String(late)).to.deep.equal([
        401,
        'UNAUTHENTICATED',
        300,
      ]);
    }
    expect(await runs()).to.have.length(0);
  });

  it('are refused with any other signature, and are not told why', async () => {
    const text = body({ n: 1 });
    const good = signed(secret, text);
    const signature = good['x-svc-workflow-signature'] ?? '';
    const hex = signature.split('v1=')[1] ?? '';
    await home.operator().post('/api/workflow-triggers', { ...bind, name: 'plain', signature: undefined });
    const {
      body: { secretToken: others },
    } = await home.operator().post('/api/workflow-triggers', { ...bind, name: 'other' });
    const wrong: Record<string, [string, Record<string, string>]> = {
      'another body': [body({ n: 2 }), good],
      'another time': [text, { ...good, 'x-svc-workflow-signature': `t=${seconds(1)},v1=${hex}` }],
      'another secret': [text, signed(`${secret}x`, text)],
      'the secret of another binding': [text, signed(others, text)],
      'another binding': [text, { ...good, 'x-svc-workflow-trigger': 'other' }],
      'a binding that is not signed': [text, { ...good, 'x-svc-workflow-trigger': 'plain' }],
      'nothing as the secret of a binding that is not signed': [text, signed('', text, { name: 'plain' })],
      'no binding': [text, { 'x-svc-workflow-signature': signature }],
      'a binding that is not there': [text, signed('', text, { name: 'nobody' })],
      'a name that is none': [text, signed('', text, { name: '../push' })],
      'half a signature': [text, { ...good, 'x-svc-workflow-signature': signature.slice(0, -2) }],
      'no time': [text, { ...good, 'x-svc-workflow-signature': `v1=${hex}` }],
      capitals: [text, { ...good, 'x-svc-workflow-signature': `t=${seconds()},v1=${hex.toUpperCase()}` }],
      nothing: [text, {}],
      'the secret itself': [text, { 'x-svc-workflow-event-token': secret }],
    };
    for (const [what, [sent, headers]] of Object.entries(wrong)) {
      const told = await home.tell(sent, headers);
      expect([told.status, told.body.error], what).to.deep.equal([
        401,
        'Workflow event authentication required',
      ]);
    }
    expect(await runs()).to.have.length(0);
    expect((await home.tell(text, good)).status, 'and the right one is still good').to.equal(202);
  });

  it('have a secret that is kept nowhere, and ends with its binding', async () => {
    const text = body({ n: 1 });
    expect((await home.operator().call('DELETE', '/api/workflow-triggers/push')).status).to.equal(200);
    expect((await home.tell(text, signed(secret, text))).status).to.equal(401);
    const {
      body: { secretToken: renewed },
    } = await home.operator().post('/api/workflow-triggers', bind);
    expect(renewed).to.not.equal(secret);
    expect((await home.tell(text, signed(secret, text))).status).to.equal(401);
    expect((await home.tell(text, signed(renewed, text))).status).to.equal(202);
    expect((await home.operator().get('/api/workflow-triggers')).text).to.not.include(renewed);
    await home.restart();
    for (const file of await readdir(home.layout.home, { recursive: true, withFileTypes: true })) {
      if (file.isFile())
        expect((await readFile(join(file.parentPath, file.name))).includes(renewed), file.name).to.equal(
          false,
        );
    }
  });

  it('are bound with a secret that is made, never chosen; and are in the document of the interface', async () => {
    const chosen = await home
      .operator()
      .post('/api/workflow-triggers', { ...bind, name: 'own', secretToken: 'a secret of my own' });
    expect([chosen.status, chosen.body.path]).to.deep.equal([400, 'secretToken']);
    expect(
      (await home.operator().post('/api/workflow-triggers', { ...bind, name: 'own', signature: 'md5' }))
        .status,
    ).to.equal(400);
    const poll = await home
      .operator()
      .post('/api/workflow-triggers', { ...bind, name: 'own', kind: 'poll', command: ['/bin/true'] });
    expect([poll.status, poll.body.path]).to.deep.equal([400, 'signature']);
    const { body: document } = await home.operator().get('/api/openapi.json');
    const named = document.paths['/api/workflow-events'].post.parameters.map(
      ({ name }: { name: string }) => name,
    );
    expect(named).to.include.members([
      'x-svc-workflow-trigger',
      'x-svc-workflow-signature',
      'x-svc-workflow-event-token',
    ]);
  });
});
