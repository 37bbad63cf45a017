import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openOffice, type Office } from '../records/office.js';
import { watch } from './fixture.js';

/** What the gateway tells its audit log: every decision about authority, and nothing that was said. */
describe('the audit of authority', () => {
  let office: Office;
  beforeEach(async () => {
    office = await openOffice();
  });
  afterEach(() => office.close());

  const told = async (): Promise<Record<string, unknown>[]> => {
    await office.records.audit.flush();
    return (await readFile(join(office.layout.audit, '000001.jsonl'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const short = async (): Promise<string[]> =>
    (await told())
      .filter(({ verdict }) => verdict)
      .map(({ verdict, by, authority, method, code, count }) =>
        [verdict, by, authority, method, code, count].filter((one) => one !== undefined).join(' '),
      );

  it('tells of changes by whom they were made, of reads in numbers, and not of what is open to everybody', async () => {
    const browser = await office.browser();
    const made = await browser.post('/api/work-items', { title: 'secret plan canary' });
    for (let n = 0; n < 3; n++) await office.operator.get('/api/work-items');
    await office.client().get('/api/status');
    const lines = await short();
    expect(lines).to.include(`allowed device:${browser.deviceId} work-item.create POST`);
    expect(lines).to.include('allowed operator work-item.list GET 3');
    expect(lines.some((line) => line.includes('status.read'))).to.equal(false);
    await browser.post(`/api/work-items/${made.body.workItem.id}/archive`);
    const all = await told();
    expect(all.find(({ authority }) => authority === 'work-item.archive')?.['target']).to.equal(
      made.body.workItem.id,
    );
    expect(JSON.stringify(all)).not.to.include('canary');
  });

  it('tells of refusals: at authentication, by the table, by a policy, on the socket and through tools', async () => {
    const agent = await office.agent();
    const {
      body: { workItem },
    } = await office.operator.post('/api/work-items', { title: 'x' });
    await office.client().get('/api/work-items');
    await office.client({ host: 'evil.example' }).get('/api/work-items');
    await office.client({ origin: 'https://evil.example' }).post('/api/work-items', {});
    await agent.get('/api/auth/devices');
    await agent.post(`/api/work-items/${workItem.id}/archive`);
    await agent.post('/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'archive_work_item', arguments: { id: workItem.id } },
    });
    await watch(`ws://127.0.0.1:${office.port}/ws`, { authorization: 'Bearer bad' }).catch(() => undefined);
    const lines = (await short()).filter((line) => line.startsWith('refused'));
    expect(lines).to.include('refused anonymous authentication GET UNAUTHENTICATED 1');
    expect(lines).to.include('refused unknown authentication GET HOST_REFUSED 1');
    expect(lines).to.include('refused unknown authentication POST ORIGIN_REFUSED 1');
    expect(lines).to.include(`refused session:${agent.sessionId} auth.devices GET FORBIDDEN 1`);
    expect(
      lines.some((line) =>
        line.startsWith(`refused session:${agent.sessionId} work-item.archive POST NOT_OWNER`),
      ),
    ).to.equal(true);
    expect(lines).to.include('refused invalid ws.watch GET UNAUTHENTICATED 1');
  });

  it('counts what was allowed and could not be as allowed, with the reason', async () => {
    await office.operator.post('/api/work-items/TRP-404/archive');
    expect(await short()).to.include('allowed operator work-item.archive POST NOT_FOUND');
  });

  it('holds no line that a client could write: a name with line ends is one JSON text', async () => {
    await office.operator.call(
      'DELETE',
      `/api/files/${encodeURIComponent('x\n{"n":1,"verdict":"allowed","by":"forged"}')}`,
    );
    expect((await told()).some(({ by }) => by === 'forged')).to.equal(false);
  });
});
