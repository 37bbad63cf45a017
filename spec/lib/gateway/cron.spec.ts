import { expect } from 'chai';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { startInstance } from '../../../lib/instance.js';
import { verdict } from '../../../lib/gateway/authorization.js';
import { farSide } from '../../actors/connectors/far-side.js';
import { makeClient, poll, watch, type Client } from './fixture.js';

/** A whole gateway with a company of two and the clerk as its engine. */
async function openHome(config = '') {
  const layout = layoutOf({ home: await mkdtemp(join(tmpdir(), 'cron-')) });
  await mkdir(join(layout.org, 'build'), { recursive: true });
  await writeFile(join(layout.org, 'build', 'ann.yaml'), 'rank: employee\nengine: clerk\n');
  await writeFile(layout.config, `engines: {default: clerk}\n${config}`);
  let served = await startInstance({ layout, port: 0 });
  const connect = async (): Promise<Client> =>
    makeClient(Number(new URL(served.url).port), {
      authorization: `Bearer ${String((await readAnnouncement(layout.announcement))?.token)}`,
    });
  return {
    layout,
    async socket() {
      const announcement = await readAnnouncement(layout.announcement);
      return watch(`ws://127.0.0.1:${announcement?.port}/ws`, {
        authorization: `Bearer ${String(announcement?.token)}`,
      });
    },
    operator: await connect(),
    anonymous: makeClient(Number(new URL(served.url).port), {}),
    async restart(): Promise<Client> {
      await served.close();
      served = await startInstance({ layout, port: 0 });
      return connect();
    },
    async close() {
      await served.close();
      await rm(layout.home, { recursive: true, force: true });
    },
  };
}
const ended = (client: Client, id: string, count = 1) =>
  poll(
    () => client.get(`/api/cron/${id}/runs`),
    ({ body }) => (body as unknown[]).length >= count,
  );

describe('/api/cron', () => {
  let home: Awaited<ReturnType<typeof openHome>>;
  afterEach(() => home.close());

  it('keeps what people write, lists it with its latest run, and takes it away', async () => {
    home = await openHome();
    const made = await home.operator.post('/api/cron', {
      id: 'daily',
      name: 'Daily digest',
      schedule: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      employee: 'ann',
      prompt: 'digest',
    });
    expect(made.status).to.equal(201);
    expect(made.body).to.deep.include({
      id: 'daily',
      enabled: true,
      missed: 'skip',
      engine: null,
      managedBy: null,
      prompt: 'digest',
    });
    expect(made.body.nextRunAt).to.match(/T0[78]:00:00\.000Z$/);
    expect((await home.operator.get('/api/cron')).body).to.have.lengthOf(1);
    expect((await home.operator.get('/api/cron')).body[0]).to.not.have.property('prompt');
    const changed = await home.operator.call('PUT', '/api/cron/daily', { enabled: false, name: 'Paused' });
    expect(changed.body).to.deep.include({
      id: 'daily',
      name: 'Paused',
      enabled: false,
      nextRunAt: null,
      schedule: '0 9 * * 1-5',
    });
    expect((await home.operator.call('DELETE', '/api/cron/daily')).body).to.deep.equal({
      deleted: 'daily',
      name: 'Paused',
    });
    expect((await home.operator.get('/api/cron')).body).to.deep.equal([]);
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/trigger'],
    ] as const)
      expect(
        (await home.operator.call(method, `/api/cron/daily${path}`, method === 'GET' ? undefined : {}))
          .status,
        method,
      ).to.equal(404);
    expect(
      (await home.operator.post('/api/cron', { id: 'daily', prompt: 'again' })).status,
      'the name is free again',
    ).to.equal(201);
  });

  it('refuses what cannot work, and names it', async () => {
    home = await openHome();
    await home.operator.post('/api/cron', { id: 'taken', prompt: 'x' });
    for (const [path, body] of [
      ['prompt', { prompt: ' ' }],
      ['prompt', {}],
      ['schedule', { prompt: 'x', schedule: 'soon' }],
      ['schedule', { prompt: 'x', schedule: '* * * * * *' }],
      ['schedule', { prompt: 'x', schedule: '0 0 30 2 *' }],
      ['timezone', { prompt: 'x', timezone: 'Mars/Base' }],
      ['id', { prompt: 'x', id: '../up' }],
      ['id', { prompt: 'x', id: ' a' }],
      ['id', { prompt: 'x', id: 'TAKEN' }],
      ['id', { prompt: 'x', id: 'workflow:daily' }],
      ['managedBy', { prompt: 'x', managedBy: 'workflow' }],
      ['workflowId', { prompt: 'x', workflowId: 'w' }],
      ['employee', { prompt: 'x', employee: 'eve' }],
      ['engine', { prompt: 'x', engine: 'none' }],
      ['delivery.connector', { prompt: 'x', delivery: { connector: 'none', channel: 'c' } }],
    ] as const) {
      const { status, body: answer } = await home.operator.post('/api/cron', body);
      expect(status, JSON.stringify(body)).to.equal(400);
      expect(JSON.stringify(answer), JSON.stringify(body)).to.include(path);
    }
    expect((await home.operator.call('PUT', '/api/cron/taken', { schedule: 'soon' })).status).to.equal(400);
    expect((await home.operator.call('PUT', '/api/cron/taken', { managedBy: 'me' })).status).to.equal(400);
    expect((await home.operator.get('/api/cron')).body).to.have.lengthOf(1);
  });

  it('judges a change by the job as it will be, not by the default engine', async () => {
    home = await openHome();
    const { engines } = (await home.operator.get('/api/engines')).body;
    const [model, other] = engines.claude.models.map(({ id }: { id: string }) => id) as [string, string];
    await home.operator.post('/api/cron', { id: 'odd', prompt: 'x', engine: 'claude', model });
    const put = (body: object) => home.operator.call('PUT', '/api/cron/odd', body);
    expect([(await put({ model: other })).status, (await put({ name: 'Odd' })).body.model]).to.deep.equal([
      200,
      other,
    ]);
    const moved = await put({ engine: 'clerk' });
    expect([moved.status, moved.body.code], 'the model means nothing on another engine').to.deep.equal([
      400,
      'UNKNOWN_MODEL',
    ]);
    expect((await put({ engine: 'clerk', model: null })).status).to.equal(200);
  });

  it('gives an id to one job only, whatever its letters, also when two ask at once or with a key', async () => {
    home = await openHome(); // two at once became two jobs, which share a file where file names have no case
    const answers = await Promise.all(
      ['race', 'RACE', 'Race', 'race'].map((id) => home.operator.post('/api/cron', { id, prompt: 'digest' })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([201, 400, 400, 400]);
    const [{ id }] = (await home.operator.get('/api/cron')).body as [{ id: string }];
    const other = id === 'race' ? 'RACE' : 'race';
    expect(
      (await home.operator.post('/api/cron', { id: other, prompt: 'digest', idempotencyKey: 'k' })).status,
    ).to.equal(400);
    const keyed = { id: 'keyed', prompt: 'digest', idempotencyKey: 'l' };
    expect([
      (await home.operator.post('/api/cron', keyed)).status,
      (await home.operator.post('/api/cron', keyed)).headers['idempotency-replayed'],
    ]).to.deep.equal([201, 'true']);
    const away = () => home.operator.call('DELETE', '/api/cron/keyed', {}, { 'idempotency-key': 'm' });
    expect([
      (await away()).status,
      (await away()).status,
      (await home.operator.call('DELETE', '/api/cron/keyed')).status,
    ]).to.deep.equal([200, 200, 404]);
  });

  it('runs by hand: a todo and a session of the cron group, a record, and the result in a chat', async () => {
    const far = await farSide();
    home = await openHome(
      `connectors:\n  instances:\n    - {name: hook, type: webhook, url: "${far.url}", secret: a secret of the specs}\n`,
    );
    await poll(
      () => home.operator.get('/api/connectors'),
      ({ body }) => body[0]?.status === 'running',
    );
    await home.operator.post('/api/cron', {
      id: 'daily',
      name: 'Daily',
      enabled: false,
      employee: 'ann',
      prompt: 'help',
      delivery: { connector: 'hook', channel: 'general' },
    });
    const { status, body } = await home.operator.post('/api/cron/daily/trigger', { idempotencyKey: 'once' });
    expect([status, body.triggered, body.jobId, body.employee]).to.deep.equal([200, true, 'daily', 'ann']);
    await home.operator.post('/api/cron/daily/trigger', { idempotencyKey: 'once' });
    const { body: runs } = await ended(home.operator, 'daily');
    expect(runs).to.have.lengthOf(1);
    expect(runs[0]).to.deep.include({ status: 'success', error: null, why: 'trigger' });
    const { body: sessions } = await home.operator.get('/api/sessions?group=__cron__');
    expect(
      sessions.map(({ id, source, sourceRef }: Record<string, string>) => [id, source, sourceRef]),
    ).to.deep.equal([[runs[0].sessionId, 'cron', runs[0].sessionKey]]);
    const { body: items } = await home.operator.get('/api/work-items?source=cron');
    expect(
      items.workItems.map(({ status: word, sourceRef, assignee }: Record<string, string>) => [
        word,
        sourceRef,
        assignee,
      ]),
    ).to.deep.equal([['done', runs[0].sessionKey, 'ann']]);
    await poll(
      () => home.operator.get('/api/connectors/hook/deliveries'),
      ({ body: log }) => log.deliveries[0]?.status === 'sent',
    );
    expect(JSON.parse(far.got.find(({ method }) => method === 'POST')?.body ?? '{}').text).to.include(
      'digest',
    );
    const {
      body: [listed],
    } = await poll(
      () => home.operator.get('/api/cron'),
      ({ body: jobs }) => jobs[0].lastRun !== null,
    ); // the job hears of it after the file does
    expect(listed.lastRun).to.deep.include({ sessionKey: runs[0].sessionKey, status: 'success' });
    const operator = await home.restart();
    expect((await operator.get('/api/cron/daily/runs')).body).to.deep.equal(runs);
    await far.close();
  });

  it('calls a run an error when no one is there to do it', async () => {
    home = await openHome();
    await home.operator.post('/api/cron', { id: 'lost', employee: 'ann', prompt: 'help' });
    await rm(join(home.layout.org, 'build', 'ann.yaml'));
    await writeFile(join(home.layout.org, 'build', 'bob.yaml'), 'rank: employee\n');
    await poll(
      () => home.operator.get('/api/org'),
      ({ body }) => body.employees[0]?.name === 'bob',
    );
    await home.operator.post('/api/cron/lost/trigger');
    const { body } = await ended(home.operator, 'lost');
    expect(body[0]).to.deep.include({ status: 'error', sessionId: null });
    expect(body[0].error).to.include('unknown employee "ann"');
  });

  it('tells watchers under the names that clients of this API listen for', async () => {
    home = await openHome();
    const socket = await home.socket();
    await home.operator.post('/api/cron', { id: 'well', employee: 'ann', prompt: 'help' });
    await home.operator.post('/api/cron/well/trigger');
    await socket.until(
      ({ event, payload }) =>
        event === 'cron:completed' && payload.id === 'well' && payload.status === 'success',
    );
    await home.operator.post('/api/cron', { id: 'ill', employee: 'ann', prompt: 'no such instruction' });
    await home.operator.post('/api/cron/ill/trigger');
    await socket.until(({ event, payload }) => event === 'cron:error' && payload.id === 'ill');
    await home.operator.call('DELETE', '/api/cron/well');
    await socket.until(({ event, payload }) => event === 'cron:reloaded' && payload.action === 'deleted');
    expect(
      socket.frames
        .filter(({ event }) => event.startsWith('cron:'))
        .map(({ event, payload }) => `${event} ${payload.id}`),
    ).to.deep.equal([
      'cron:reloaded well',
      'cron:started well',
      'cron:completed well',
      'cron:reloaded ill',
      'cron:started ill',
      'cron:error ill',
      'cron:reloaded well',
    ]);
    socket.ws.terminate();
  });

  it('passes over lines of the file that are none, and reads no other file', async () => {
    home = await openHome();
    await home.operator.post('/api/cron', { id: 'daily', prompt: 'help' });
    const file = join(home.layout.cronRuns, 'daily.jsonl');
    await mkdir(home.layout.cronRuns, { recursive: true });
    await writeFile(file, 'no json\n{"sessionKey":7}\n\n{"torn');
    await home.operator.post('/api/cron/daily/trigger');
    const { body } = await ended(home.operator, 'daily');
    expect(body).to.have.lengthOf(1);
    expect((await readFile(file, 'utf8')).split('\n').at(-2)).to.equal(JSON.stringify(body[0]));
    await appendFile(
      file,
      Array.from({ length: 600 }, (_, n) => `${JSON.stringify({ ...body[0], sessionKey: `k${n}` })}\n`).join(
        '',
      ),
    );
    for (const [limit, count] of [
      ['0', 50],
      ['soon', 50],
      ['3', 3],
      ['9999', 500],
      ['-5', 1],
    ] as const)
      expect((await home.operator.get(`/api/cron/daily/runs?limit=${limit}`)).body, limit).to.have.lengthOf(
        count,
      );
    expect((await home.operator.get('/api/cron/daily/runs?limit=1')).body[0].sessionKey).to.equal('k599');
    const first = (await home.operator.get('/api/cron/daily/runs?limit=2&cursor=')).body;
    const second = (await home.operator.get(`/api/cron/daily/runs?limit=2&cursor=${first.nextCursor}`)).body;
    expect([...first.runs, ...second.runs].map(({ sessionKey }) => sessionKey)).to.deep.equal([
      'k599',
      'k598',
      'k597',
      'k596',
    ]);
    for (const id of ['nobody', '..%2f..%2fconfig', '__proto__'])
      expect((await home.operator.get(`/api/cron/${id}/runs`)).body, id).to.deep.equal([]);
  });

  it('is for people; agents read', async () => {
    home = await openHome();
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/x/runs'],
      ['POST', '/x/trigger'],
    ] as const)
      expect(
        (await home.anonymous.call(method, `/api/cron${path}`, method === 'GET' ? undefined : {})).status,
        path,
      ).to.equal(401);
    expect([verdict('cron.read', 'outsider'), verdict('cron.edit', 'above')]).to.deep.equal([
      'yes',
      'FORBIDDEN',
    ]);
  });
});
