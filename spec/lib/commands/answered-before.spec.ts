import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteSession, duplicateSession } from '../../../lib/commands/care-for-session.js';
import { delegate } from '../../../lib/commands/delegate.js';
import type { Done } from '../../../lib/commands/desk.js';
import { openSession } from '../../../lib/commands/open-session.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { openDesk, type DeskHouse } from './desk-fixture.js';

// Each of these once judged the world anew before it looked at the key: a client whose answer was lost heard "no" of
// something that had been done, or had it done a second time.
describe('a deed that is asked for again with its key', () => {
  let house: DeskHouse;
  beforeEach(async () => { house = await openDesk(); });
  afterEach(() => house.close());

  const asking = { by: operator, idempotency: { key: 'k', scope: 'operator', hash: 'h' } };
  function taken<Value>(done: Done<Value> | Refusal): Done<Value> {
    if (isRefusal(done)) throw new Error(done.message);
    return done;
  }
  const items = (): number => [...house.desk.supervisor.counts('work-item').values()].reduce((all, count) => all + count, 0);

  it('mints no second Todo when the engine of a delegation has gone meanwhile', async () => {
    const once = () => delegate(house.desk, { task: 'Paint', engine: 'pen' }, asking);
    const first = taken(await once());
    house.engine.available = false;
    const again = taken(await once());
    expect([again.replayed, again.value.workItemId, again.value.sessionId, items()]).to.deep.equal([true, first.value.workItemId, first.value.sessionId, 1]);
  });

  it('answers a delegation of a Todo that is done by now', async () => {
    const { workItemId, sessionId } = taken(await delegate(house.desk, { task: 'Paint', engine: 'pen' }, { by: operator })).value;
    await house.desk.supervisor.ask('session', sessionId, { type: 'session.stop' });
    const once = () => delegate(house.desk, { task: 'Again', engine: 'pen', workItemId }, asking);
    const first = taken(await once());
    await house.desk.supervisor.ask('session', first.value.sessionId, { type: 'session.stop' });
    expect(isRefusal(await house.desk.supervisor.ask('work-item', workItemId, { type: 'item.move', status: 'done' }))).to.equal(false);
    expect(taken(await once()).value.sessionId).to.equal(first.value.sessionId);
  });

  it('makes no further folder for a session that is there, or for its copy', async () => {
    const open = () => openSession(house.desk, { prompt: 'digest' }, asking);
    const { id } = taken(await open()).value;
    await house.desk.supervisor.ask('session', id, { type: 'session.stop' });
    expect(taken(await open()).value.id).to.equal(id);
    const copy = () => duplicateSession(house.desk, id, { by: operator, idempotency: { key: 'copy', scope: 'operator', hash: 'h' } });
    const made = taken(await copy()).value.id;
    expect(taken(await copy()).value.id).to.equal(made);
    expect((await readdir(join(house.home, 'work'))).sort()).to.deep.equal([id, made].sort());
  });

  it('says of a session that it was deleted, and refuses the key with another wish', async () => {
    const { id } = taken(await openSession(house.desk, { prompt: 'digest' }, { by: operator })).value;
    await house.desk.supervisor.ask('session', id, { type: 'session.stop' });
    expect([taken(await deleteSession(house.desk, id, asking)).replayed, taken(await deleteSession(house.desk, id, asking)).replayed]).to.deep.equal([false, true]);
    const codes = await Promise.all([{ by: operator }, { by: operator, idempotency: { ...asking.idempotency, hash: 'other' } }].map((how) => deleteSession(house.desk, id, how)));
    expect(codes.map((done) => isRefusal(done) && done.code)).to.deep.equal(['NOT_FOUND', 'IDEMPOTENCY_CONFLICT']);
  });
});
