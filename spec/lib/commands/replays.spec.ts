import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteSession, duplicateSession } from '../../../lib/commands/sessions/session-lifecycle.js';
import { delegate } from '../../../lib/commands/sessions/delegate.js';
import type { Reply } from '../../../lib/commands/request.js';
import { openSession } from '../../../lib/commands/sessions/open-session.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { openApp, type AppFixture } from './app-fixture.js';

// Each of these once judged the world again before it looked at the key: a client whose answer was lost heard
// "no" of something that had been done, or had it done a second time.
describe('an action that is asked for again with its key', () => {
  let house: AppFixture;
  beforeEach(async () => {
    house = await openApp();
  });
  afterEach(() => house.close());

  const asking = { caller: operator, idempotency: { key: 'k', scope: 'operator', hash: 'h' } };
  function taken<Value>(done: Reply<Value> | Refusal): Reply<Value> {
    if (isRefusal(done)) throw new Error(done.message);
    return done;
  }
  const items = (): number =>
    [...house.app.supervisor.totals('work-item').values()].reduce((all, count) => all + count, 0);

  it('mints no second Todo when the engine of a delegation has gone meanwhile', async () => {
    const once = () => delegate({ ...asking, app: house.app }, { task: 'Paint', engine: 'pen' });
    const first = taken(await once());
    house.engine.available = false;
    const again = taken(await once());
    expect([again.replayed, again.body.workItemId, again.body.sessionId, items()]).to.deep.equal([
      true,
      first.body.workItemId,
      first.body.sessionId,
      1,
    ]);
  });

  it('answers a delegation of a Todo that is done by now', async () => {
    const { workItemId, sessionId } = taken(
      await delegate({ app: house.app, caller: operator }, { task: 'Paint', engine: 'pen' }),
    ).body;
    await house.app.supervisor.ask('session', sessionId, { type: 'session.stop' });
    const once = () => delegate({ ...asking, app: house.app }, { task: 'Again', engine: 'pen', workItemId });
    const first = taken(await once());
    await house.app.supervisor.ask('session', first.body.sessionId, { type: 'session.stop' });
    expect(
      isRefusal(
        await house.app.supervisor.ask('work-item', workItemId, { type: 'item.move', status: 'done' }),
      ),
    ).to.equal(false);
    expect(taken(await once()).body.sessionId).to.equal(first.body.sessionId);
  });

  it('makes no further folder for a session that is there, or for its copy', async () => {
    const open = () => openSession({ ...asking, app: house.app }, { prompt: 'digest' });
    const { id } = taken(await open()).body;
    await house.app.supervisor.ask('session', id, { type: 'session.stop' });
    expect(taken(await open()).body.id).to.equal(id);
    const copy = () =>
      duplicateSession(
        { app: house.app, caller: operator, idempotency: { key: 'copy', scope: 'operator', hash: 'h' } },
        id,
      );
    const made = taken(await copy()).body.id;
    expect(taken(await copy()).body.id).to.equal(made);
    expect((await readdir(join(house.home, 'work'))).sort()).to.deep.equal([id, made].sort());
  });

  it('says of a session that it was deleted, and refuses the key with another wish', async () => {
    const { id } = taken(await openSession({ app: house.app, caller: operator }, { prompt: 'digest' })).body;
    await house.app.supervisor.ask('session', id, { type: 'session.stop' });
    expect([
      taken(await deleteSession({ ...asking, app: house.app }, id)).replayed,
      taken(await deleteSession({ ...asking, app: house.app }, id)).replayed,
    ]).to.deep.equal([false, true]);
    const codes = await Promise.all(
      [{ caller: operator }, { caller: operator, idempotency: { ...asking.idempotency, hash: 'other' } }].map(
        (how) => deleteSession({ ...how, app: house.app }, id),
      ),
    );
    expect(codes.map((done) => isRefusal(done) && done.code)).to.deep.equal([
      'NOT_FOUND',
      'IDEMPOTENCY_CONFLICT',
    ]);
  });
});
