import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { startInstance } from '../../../lib/instance.js';
import { makeClient, type Client } from './fixture.js';

/**
 * A home on its first day has no employees yet. Names were then anybody's, and work went to people who are
 * not there.
 */
describe('a home without employees', () => {
  let operator: Client;
  let close: () => Promise<void>;
  before(async () => {
    const layout = layoutOf({ home: await mkdtemp(join(tmpdir(), 'nobody-')) });
    const served = await startInstance({ layout, port: 0 });
    operator = makeClient(Number(new URL(served.url).port), {
      authorization: `Bearer ${String((await readAnnouncement(layout.announcement))?.token)}`,
    });
    close = async () => {
      await served.close();
      await rm(layout.home, { recursive: true, force: true });
    };
  });
  after(() => close());

  it('gives work to no one: every name is unknown', async () => {
    const {
      body: {
        workItem: { id },
      },
    } = await operator.post('/api/work-items', { title: 'Buy milk' });
    const deeds = [
      ['/api/sessions', { prompt: 'digest', employee: 'ann' }],
      ['/api/delegations', { task: 'digest', employee: 'ann' }],
      ['/api/cron', { prompt: 'digest', employee: 'ann' }],
      [`/api/work-items/${String(id)}/assign`, { assignee: 'ann' }],
      ['/api/work-items', { title: 'Buy bread', assignee: 'ann' }],
      [`/api/work-items/${String(id)}/approval/request`, { request: 'May I?', target: 'ann' }],
    ] as const; // these two once took any name: only the route of the third looked
    for (const [path, body] of deeds) {
      const { status, body: refusal } = await operator.post(path, body);
      expect([status, refusal.code, refusal.employee], path).to.deep.equal([400, 'UNKNOWN_EMPLOYEE', 'ann']);
    }
    expect(
      (await operator.call('PATCH', `/api/work-items/${String(id)}`, { assignee: 'ann', expectedVersion: 1 }))
        .body.code,
    ).to.equal('UNKNOWN_EMPLOYEE');
    expect((await operator.post('/api/work-items/TRP-999/assign', { assignee: 'ann' })).status).to.equal(404);
    expect((await operator.get('/api/sessions?limit=0')).body).to.deep.equal([]);
  });

  it('leaves the root to the operator', async () => {
    const {
      body: {
        workItem: { id },
      },
    } = await operator.post('/api/work-items', { title: 'Buy milk' });
    expect(
      (await operator.post(`/api/work-items/${String(id)}/approval/request`, { request: 'May I?' })).body
        .workItem,
    ).to.include({ approvalState: 'pending', approvalTargetKind: 'virtual' });
    expect(
      (await operator.post(`/api/work-items/${String(id)}/approval`, { decision: 'approve' })).status,
    ).to.equal(200);
  });
});
