import { expect } from 'chai';
import { createPoll } from '../../../lib/commands/polls.js';
import type { Caller } from '../../../machines/caller.js';
import { openDesk } from './desk-fixture.js';

/** A poll is a program of somebody's choice, run on this machine again and again. */
describe('createPoll', () => {
  it('is for people: no agent so much as proposes a program, not even the first of all', async () => {
    const { desk, close } = await openDesk();
    const by: Caller = { type: 'session', id: 's1', employee: null, ancestors: [] };
    const wish = { name: 'mail', event: 'mail', targetWorkflowId: 'sort', command: [process.execPath, '--version'], intervalSeconds: 60, timeoutMs: 1_000, stdoutMaxBytes: 1_024, stderrMaxBytes: 1_024 };
    try {
      expect(await createPoll(desk, wish, { by })).to.include({ code: 'PERSON_REQUIRED' });
    } finally {
      await close();
    }
  });
});
