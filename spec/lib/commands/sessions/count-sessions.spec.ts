import { expect } from 'chai';
import { countSessions } from '../../../../lib/commands/sessions/list-sessions.js';
import { openSession } from '../../../../lib/commands/sessions/open-session.js';
import { operator } from '../../../../machines/caller.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { openApp } from '../app-fixture.js';

describe('countSessions', () => {
  it('counts a session that has been at work for long, however many others were active since', async () => {
    const house = await openApp(); // it once looked among the 500 last active ones alone
    try {
      expect(
        isRefusal(await openSession({ app: house.app, caller: operator }, { prompt: 'a long turn' })),
      ).to.equal(false);
      const idle = {
        engine: 'pen',
        model: null,
        effort: null,
        employee: null,
        parentSessionId: null,
        ancestors: [],
        workItemId: null,
        title: null,
        cwd: house.home,
        source: 'web',
        sourceRef: null,
        interruptOnNewMessage: true,
        turnDeadlineMs: 60_000,
      };
      await Promise.all(
        Array.from({ length: 500 }, () => house.app.supervisor.spawn('session', { input: idle })),
      );
      expect(await countSessions(house.app)).to.deep.equal({ total: 501, running: 1, active: 1 });
    } finally {
      await house.close();
    }
  });
});
