import { expect } from 'chai';
import { createPoll } from '../../../../lib/commands/workflows/polls.js';
import type { Caller } from '../../../../machines/caller.js';
import { openApp } from '../app-fixture.js';

/** A poll is a program of someone's choice, run on this machine again and again. */
describe('createPoll', () => {
  it('is for people: no agent so much as proposes a program, not even the first of all', async () => {
    const { app, close } = await openApp();
    const by: Caller = { type: 'session', id: 's1', employee: null, ancestors: [] };
    const input = {
      name: 'mail',
      event: 'mail',
      targetWorkflowId: 'sort',
      command: [process.execPath, '--version'],
      intervalSeconds: 60,
      timeoutMs: 1_000,
      stdoutMaxBytes: 1_024,
      stderrMaxBytes: 1_024,
    };
    try {
      expect(await createPoll({ app, caller: by }, input)).to.include({ code: 'PERSON_REQUIRED' });
    } finally {
      await close();
    }
  });
});
