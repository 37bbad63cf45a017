import { expect } from 'chai';
import { delegate } from '../../../../lib/commands/sessions/delegate.js';
import { openSession } from '../../../../lib/commands/sessions/open-session.js';
import { operator } from '../../../../machines/caller.js';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import { openApp, type AppFixture } from '../app-fixture.js';

describe('delegate', () => {
  let house: AppFixture;
  beforeEach(async () => {
    house = await openApp();
  });
  afterEach(() => house.close());

  const idempotency = { key: 'k', scope: 'operator', hash: 'h' };

  it('dispatches the very Todo that an unavailable engine has left, once the engine is there', async () => {
    house.engine.available = false;
    const refused = (await delegate(
      { app: house.app, caller: operator, idempotency },
      { task: 'Paint', engine: 'pen' },
    )) as Refusal;
    expect(refused.code).to.equal('ENGINE_UNAVAILABLE');
    house.engine.available = true;
    const done = await delegate(
      { app: house.app, caller: operator, idempotency },
      { task: 'Paint', engine: 'pen' },
    );
    if (isRefusal(done)) throw new Error(done.message);
    expect(done.body.workItemId).to.equal(refused.details['workItemId']);
    const again = await delegate(
      { app: house.app, caller: operator, idempotency },
      { task: 'Paint', engine: 'pen' },
    );
    if (isRefusal(again)) throw new Error(again.message);
    expect([again.replayed, again.body.sessionId]).to.deep.equal([true, done.body.sessionId]);
    const kept = (await house.app.supervisor.keyValues('delegation/')).filter(([, row]) => row !== null);
    expect(kept, 'the key lasts a day; the note of what was kept lasted for ever').to.deep.equal([]);
  });

  it('lets one of two parallel delegations of the same Todo through', async () => {
    const first = await delegate({ app: house.app, caller: operator }, { task: 'Paint', engine: 'pen' });
    if (isRefusal(first)) throw new Error(first.message);
    const { workItemId, sessionId } = first.body;
    await house.app.supervisor.ask('session', sessionId, { type: 'session.stop' });
    const both = await Promise.all(
      [1, 2, 3].map(() =>
        delegate({ app: house.app, caller: operator }, { task: 'Again', engine: 'pen', workItemId }),
      ),
    );
    expect(both.map((done) => (isRefusal(done) ? done.code : 'done')).sort()).to.deep.equal([
      'LIVE_ATTEMPT',
      'LIVE_ATTEMPT',
      'done',
    ]);
  });

  it('goes on beneath a parent that is halted: the card there is no reason to refuse work', async () => {
    const { supervisor } = house.app;
    const parent = await openSession(
      { app: house.app, caller: operator },
      { engine: 'pen', prompt: 'Begin' },
    );
    if (isRefusal(parent)) throw new Error(parent.message);
    const { id } = parent.body;
    const broken = { type: 'transcript.found' } as never; // without entries its policy throws
    const isHalted = async (): Promise<boolean> => {
      const answer = await supervisor.ask('session', id, broken).catch((): undefined => undefined);
      return isRefusal(answer) && answer.code === 'ACTOR_HALTED';
    };
    for (let failures = 0; !(await isHalted()); failures += 1) expect(failures).to.be.below(50);
    const done = await delegate(
      { app: house.app, caller: operator },
      { task: 'Paint', engine: 'pen', parent: id },
    );
    if (isRefusal(done)) throw new Error(done.message);
    expect(done.body.session.view.parentSessionId).to.equal(id);
  });

  it('leaves neither Todo nor session behind when it is refused', async () => {
    const before = house.app.supervisor.status.position;
    const refused = await delegate({ app: house.app, caller: operator }, { task: 'Paint', engine: 'brush' });
    expect(isRefusal(refused) && refused.code).to.equal('UNKNOWN_ENGINE');
    const orphan = await delegate(
      { app: house.app, caller: operator },
      { task: 'Paint', engine: 'pen', parent: 'nobody' },
    );
    expect(isRefusal(orphan) && orphan.code).to.equal('NOT_FOUND');
    expect(house.app.supervisor.status.position).to.equal(before);
  });
});
