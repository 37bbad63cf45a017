import { expect } from 'chai';
import { delegate } from '../../../lib/commands/delegate.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { openDesk, type DeskHouse } from './desk-fixture.js';

describe('delegate', () => {
  let house: DeskHouse;
  beforeEach(async () => { house = await openDesk(); });
  afterEach(() => house.close());

  const idempotency = { key: 'k', scope: 'operator', hash: 'h' };

  it('dispatches the very Todo that an unavailable engine has left, once the engine is there', async () => {
    house.engine.available = false;
    const refused = await delegate(house.desk, { task: 'Paint', engine: 'pen' }, { by: operator, idempotency }) as Refusal;
    expect(refused.code).to.equal('ENGINE_UNAVAILABLE');
    house.engine.available = true;
    const done = await delegate(house.desk, { task: 'Paint', engine: 'pen' }, { by: operator, idempotency });
    if (isRefusal(done)) throw new Error(done.message);
    expect(done.value.workItemId).to.equal(refused.details['workItemId']);
    const again = await delegate(house.desk, { task: 'Paint', engine: 'pen' }, { by: operator, idempotency });
    if (isRefusal(again)) throw new Error(again.message);
    expect([again.replayed, again.value.sessionId]).to.deep.equal([true, done.value.sessionId]);
    const kept = (await house.desk.supervisor.meta('delegation/')).filter(([, row]) => row !== null);
    expect(kept, 'the key lasts a day; the note of what was kept lasted for ever').to.deep.equal([]);
  });

  it('lets one of two parallel delegations of the same Todo through', async () => {
    const first = await delegate(house.desk, { task: 'Paint', engine: 'pen' }, { by: operator });
    if (isRefusal(first)) throw new Error(first.message);
    const { workItemId, sessionId } = first.value;
    await house.desk.supervisor.ask('session', sessionId, { type: 'session.stop' });
    const both = await Promise.all([1, 2, 3].map(() => delegate(house.desk, { task: 'Again', engine: 'pen', workItemId }, { by: operator })));
    expect(both.map((done) => (isRefusal(done) ? done.code : 'done')).sort()).to.deep.equal(['LIVE_ATTEMPT', 'LIVE_ATTEMPT', 'done']);
  });

  it('leaves neither Todo nor session behind when it is refused', async () => {
    const before = house.desk.supervisor.status.seq;
    const refused = await delegate(house.desk, { task: 'Paint', engine: 'brush' }, { by: operator });
    expect(isRefusal(refused) && refused.code).to.equal('UNKNOWN_ENGINE');
    const orphan = await delegate(house.desk, { task: 'Paint', engine: 'pen', parent: 'nobody' }, { by: operator });
    expect(isRefusal(orphan) && orphan.code).to.equal('NOT_FOUND');
    expect(house.desk.supervisor.status.seq).to.equal(before);
  });
});
