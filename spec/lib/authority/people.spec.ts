import { expect } from 'chai';
import { openOffice, type Office } from '../records/office.js';

/** A phone is lost: whose was it, and what was decided with it? */
describe('people behind paired browsers', () => {
  let office: Office;
  before(async () => {
    office = await openOffice();
  });
  after(() => office.close());

  it('are named, stand in ledger and audit log, and what they decided is listed after the browser is revoked, too', async () => {
    const phone = await office.browser();
    const path = `/api/auth/devices/${phone.deviceId}`;
    expect((await office.operator.call('PATCH', path, { person: 'Eva' })).status).to.equal(200);
    expect((await office.operator.get('/api/auth/devices')).body.devices[0]).to.include({ person: 'Eva' });
    expect(
      (await office.operator.call('PATCH', '/api/auth/devices/none', { person: 'Eva' })).status,
    ).to.equal(404);
    const agent = await office.agent();
    expect((await agent.call('PATCH', path, { person: 'me' })).status).to.equal(403);
    expect((await agent.get(`${path}/decisions`)).status).to.equal(403);

    const { id } = (await office.operator.post('/api/work-items', { title: 'x' })).body.workItem;
    await office.operator.post(`/api/work-items/${id}/approval/request`, { request: 'may I?' });
    const decided = await phone.post(`/api/work-items/${id}/approval`, { decision: 'approve' });
    expect(decided.status, decided.text).to.equal(200);
    const [approval] = (await office.operator.get(`/api/work-items/${id}/approvals`)).body.approvals;
    expect(approval).to.include({ decidedBy: `device:${phone.deviceId}`, person: 'Eva' });

    const { events } = (await office.operator.get(`/api/work-items/${id}`)).body;
    expect(events.at(-1)).to.include({ person: 'Eva' });

    expect((await office.operator.call('DELETE', path)).status).to.equal(200);
    const { decisions } = (await office.operator.get(`${path}/decisions`)).body;
    expect(decisions[0]).to.include({
      authority: 'approval.decide',
      method: 'POST',
      target: id,
      person: 'Eva',
    });
  });
});
