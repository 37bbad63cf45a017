import { expect } from 'chai';
import { countSessions } from '../../../lib/commands/count-sessions.js';
import { openSession } from '../../../lib/commands/open-session.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openDesk } from './desk-fixture.js';

describe('countSessions', () => {
  it('counts a session that has been at work for long, however many others were active since', async () => {
    const house = await openDesk(); // it once looked among the 500 last active ones alone
    try {
      expect(isRefusal(await openSession(house.desk, { prompt: 'a long turn' }, { by: operator }))).to.equal(false);
      const idle = { engine: 'pen', model: null, effort: null, employee: null, parentSessionId: null, ancestors: [], workItemId: null, title: null, cwd: house.home, source: 'web', sourceRef: null, interruptOnNewMessage: true, turnDeadlineMs: 60_000 };
      await Promise.all(Array.from({ length: 500 }, () => house.desk.supervisor.spawn('session', { input: idle })));
      expect(await countSessions(house.desk)).to.deep.equal({ total: 501, running: 1, active: 1 });
    } finally {
      await house.close();
    }
  });
});
