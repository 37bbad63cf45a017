import { expect } from 'chai';
import { foundMax } from '../../../machines/session/transcript.js';
import { inState, status, outsider, view } from './beings.js';

/** Someone goes on with a conversation in the agent's own program. */
describe('a record of the engine', () => {
  const found = (
    ...entries: readonly (readonly [id: string, timestamp: number, role?: 'user' | 'assistant'])[]
  ) => ({
    type: 'transcript.found' as const,
    entries: entries.map(([id, timestamp, role = 'user']) => ({
      id,
      role,
      content: `words of ${id}`,
      timestamp,
    })),
    by: { type: 'system' as const, part: 'backfill' },
  });

  for (const state of ['idle', 'error', 'interrupted', 'stopped'] as const) {
    it(`gives a session that is ${state} the words that are newer than anything it knows, once`, () => {
      const life = inState[state]();
      const { lastActivity, messages } = life.snapshot.context;
      life.advance(1_000);
      const event = found(
        ['old', lastActivity],
        ['t1', lastActivity + 1],
        ['t2', lastActivity + 2, 'assistant'],
      );
      expect(life.send(event)).to.equal(undefined);
      expect(
        life
          .rows('messages')
          .filter(({ n }) => Number(n) > messages)
          .map(({ row }) => row),
      ).to.deep.equal([
        {
          id: 't1',
          role: 'user',
          content: 'words of t1',
          timestamp: lastActivity + 1,
          meta: { kind: 'external' },
        },
        {
          id: 't2',
          role: 'assistant',
          content: 'words of t2',
          timestamp: lastActivity + 2,
          meta: { kind: 'external' },
        },
      ]);
      expect(life.frames('session:external-turn')[0]?.payload).to.deep.equal({
        sessionId: 's1',
        messages: 2,
      });
      expect([status(life), life.snapshot.context.lastActivity]).to.deep.equal([state, lastActivity + 2]);
      expect(life.send(event)?.code, 'found again').to.equal('BAD_REQUEST');
      expect(view(life).status).to.equal(state);
    });
  }

  it('is not believed while a turn runs or waits, from agents, about the future, or without an end', () => {
    for (const state of ['running', 'waiting'] as const) {
      const life = inState[state]();
      const { lastActivity } = life.snapshot.context;
      life.advance(1_000);
      expect(life.send(found(['t1', lastActivity + 1]))?.code, state).to.equal('CONFLICT');
    }
    const life = inState.idle();
    const { lastActivity } = life.snapshot.context;
    life.advance(1_000);
    expect(life.send({ ...found(['t1', lastActivity + 1]), by: outsider })?.code).to.equal('FORBIDDEN');
    expect(life.send(found(['t1', life.at + 60_000]))?.code).to.equal('BAD_REQUEST');
    expect(
      life.send(
        found(...Array.from({ length: foundMax + 1 }, (_, n) => [`t${n}`, lastActivity + 1] as const)),
      )?.code,
    ).to.equal('BAD_REQUEST');
  });
});
