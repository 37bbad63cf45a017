import { expect } from 'chai';
import { openHouse, type Client, type House } from '../gateway/fixture.js';
import { openOffice, type Office } from '../records/office.js';

/** Ways by which an agent had its own work judged by no one, or read what it may not read. */
describe('what an agent may choose for its own work', () => {
  let house: House;
  let ann: Client;
  before(async () => {
    house = await openHouse({ withRoster: true });
    const { body } = await house.operator.post('/api/sessions', { prompt: 'hello', employee: 'ann' });
    ann = house.agent(body.id as string);
  });
  after(() => house.close());

  it('is not that its work is trusted', async () => {
    const create = (more: object) => ann.post('/api/work-items', { title: 'x', ...more });
    const trust = { verifyPolicy: { mode: 'trust' } };
    expect((await create(trust)).body).to.include({ code: 'PERSON_REQUIRED' });
    expect((await create({ ...trust, assignee: 'ann' })).body).to.include({ code: 'PERSON_REQUIRED' });
    expect((await create({ verifyPolicy: { mode: 'thorough' } })).status).to.equal(201);
    expect((await house.operator.post('/api/work-items', { title: 'x', ...trust })).status).to.equal(201);
  });

  it('is not who stands beside or below it, or is outside of its line, to approve it', async () => {
    const { body } = await ann.post('/api/work-items', { title: 'x', assignee: 'ann' });
    const ask = (target: string) =>
      ann.post(`/api/work-items/${body.workItem.id}/approval/request`, { request: 'may I?', target });
    expect((await ask('cat')).body).to.deep.include({
      code: 'NOT_ROUTED',
      routes: ['operator', 'bob', 'chief'],
    });
    for (const target of ['bob', 'chief', 'operator'])
      expect((await ask(target)).status, target).to.equal(200);
  });
});

describe('files that an agent names by id', () => {
  let office: Office;
  before(async () => {
    office = await openOffice();
  });
  after(() => office.close());

  // The route reads files to people only; a message with the id of any file had it shown all the same
  it('are those of its own session, and no others', async () => {
    const secret = await office.operator.post('/api/files', {
      content: Buffer.from('secret').toString('base64'),
      filename: 'secret.txt',
    });
    const id = (secret.body.file ?? secret.body).id as string;
    const agent = await office.agent();
    const open = (client: Client, attachment: string) =>
      client.post('/api/sessions', { prompt: 'look', attachments: [attachment] });
    expect((await open(agent, id)).body).to.deep.include({
      code: 'UNKNOWN_ATTACHMENT',
      unresolvedAttachments: [id],
    });
    expect((await open(office.operator, id)).status).to.equal(201);
    const own = await agent.post(`/api/sessions/${agent.sessionId}/attachments`, {
      content: Buffer.from('mine').toString('base64'),
      filename: 'mine.txt',
    });
    expect((await open(agent, own.body.id as string)).status, own.text).to.equal(201);
  });
});
