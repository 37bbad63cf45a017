import { expect } from 'chai';
import { fitActivity, record } from '../../../machines/session/activity.js';
import { activityLimits, isActivity, type ActivityEntry } from '../../../machines/session/activity-entry.js';
import type { SessionContext, SessionEventOf } from '../../../machines/session/context.js';
import { sessionPolicy } from '../../../machines/session/policy.js';
import { isRefusal } from '../../../machines/refusals.js';
import { operator, system } from '../../../machines/caller.js';

describe('what an agent did, as rows of its session', () => {
  // as far as these decisions read it
  const context = { messages: 3, turn: { id: 's1:1' }, leftTurns: ['s1:0'] } as unknown as SessionContext;
  const entry = (id: string, more: Partial<ActivityEntry> = {}): ActivityEntry => ({
    id,
    content: 'Using Bash',
    meta: { kind: 'tool', turnId: 's1:1' },
    isOpen: false,
    ...more,
  });
  const recorded = (entries: readonly ActivityEntry[], turnId = 's1:1'): SessionEventOf<'turn.recorded'> => ({
    type: 'turn.recorded',
    turnId,
    entries,
    at: 7,
    by: operator,
  });
  const after = (now: SessionContext, event: SessionEventOf<'turn.recorded'>) => {
    const { set = {}, outputs = [] } = record(now, event);
    return { now: { ...now, ...set }, rows: outputs as unknown as { n: number; row: object }[] };
  };

  it('writes each behind the last, and one that ends in the place where it began', () => {
    const first = after(context, recorded([entry('a', { isOpen: true }), entry('b')]));
    expect(first.now).to.include({ messages: 5 });
    expect(first.now.openMessages).to.deep.equal([{ id: 'a', turnId: 's1:1', n: 4, at: 7 }]);
    const second = after(first.now, { ...recorded([entry('a', { content: 'Used Bash' })]), at: 9 });
    expect(second.now).to.include({ messages: 5 });
    expect(second.now.openMessages).to.deep.equal([]);
    expect(JSON.stringify(second.rows)).to.include('Used Bash').and.include('"timestamp":7');
  });

  it('takes what a turn that was left still reports, and nothing of one that is forgotten', () => {
    expect(after(context, recorded([entry('a')], 's1:0')).now).to.include({ messages: 4 });
    expect(record(context, recorded([entry('a')], 'other:1'))).to.deep.equal({});
  });

  it('remembers no more open ones than it may, and those of no other turn', () => {
    const many = Array.from({ length: activityLimits.entriesMax }, (_, n) =>
      entry(`a${n}`, { isOpen: true }),
    );
    const full = after(after(context, recorded(many)).now, recorded([entry('more', { isOpen: true })])).now;
    expect(full.openMessages).to.have.length(activityLimits.openMax);
    const next = { ...full, turn: { ...full.turn, id: 's1:2' }, leftTurns: [] } as unknown as SessionContext;
    expect(after(next, recorded([entry('x')], 's1:2')).now.openMessages).to.deep.equal([]);
  });

  it('takes them from the effect alone: an agent could put words in its own mouth', () => {
    const agent = { type: 'session', id: 's1', employee: null, ancestors: [] } as const;
    const refusal = sessionPolicy(context, recorded([entry('a')]), { by: agent, onBehalfOf: agent });
    expect(isRefusal(refusal) && refusal.code).to.equal('FORBIDDEN');
    const own = system('effect:engine-turn');
    expect(sessionPolicy(context, recorded([entry('a')]), { by: own, onBehalfOf: own })).to.equal(undefined);
  });

  it('refuses what is too much, and messages of another sort', () => {
    const codeOf = (entries: readonly unknown[]): unknown => fitActivity(recorded(entries as never))?.code;
    expect(codeOf(Array.from({ length: activityLimits.entriesMax + 1 }, () => entry('a')))).to.equal(
      'BAD_REQUEST',
    );
    expect(codeOf([entry('a', { content: 'x'.repeat(activityLimits.bytesMax) })])).to.equal('BAD_REQUEST');
    expect(codeOf([{ ...entry('a'), meta: { kind: 'error' } }])).to.equal('BAD_REQUEST');
    expect(codeOf([entry('no id')])).to.equal('BAD_REQUEST');
    expect(isActivity({ meta: { kind: 'callback' } })).to.equal(false);
  });
});
