import { expect } from 'chai';
import { operator, system } from '../../../machines/caller.js';
import type { SessionContext, SessionEventOf } from '../../../machines/session/context.js';
import { holdsOutput } from '../../../machines/session/kept-output.js';
import { sessionPolicy } from '../../../machines/session/policy.js';
import { fitSwept, sweepOutput, withOutput } from '../../../machines/session/sweep-output.js';
import { writeRow } from '../../../machines/outputs.js';

describe('how long results of tools stay', () => {
  const row = (turnId: string, more: object = {}) => ({
    id: 'm',
    role: 'assistant',
    content: 'Using Read',
    timestamp: 1,
    meta: { kind: 'tool', turnId, toolOutput: 'x'.repeat(600), ...more },
  });
  const written = (n: number) => writeRow('messages', n, row('s1:1'));
  const kept = (more: object = {}) =>
    ({
      messages: 9,
      turn: { id: 's1:2' },
      leftTurns: ['s1:1'],
      toolOutput: { last: 9, dropped: 0, marks: [[9, 100]], ...more },
    }) as unknown as SessionContext; // as far as these decisions read it
  const swept = (more: Partial<SessionEventOf<'output.swept'>> = {}): SessionEventOf<'output.swept'> => ({
    type: 'output.swept',
    now: 500,
    everyMs: 100,
    at: 7,
    by: system('tool-output'),
    ...more,
  });

  it('leaves those of a turn that still speaks, and goes on there the next time', () => {
    const rows = [
      { n: 2, row: row('s1:0') },
      { n: 5, row: row('s1:1') },
      { n: 6, row: row('s1:0') },
    ];
    const { set, outputs = [] } = sweepOutput(kept(), swept({ dropped: { mark: [9, 100], upTo: 9, rows } }));
    expect(set?.toolOutput).to.deep.equal({ last: 9, dropped: 4, marks: [[9, 100]] });
    expect(outputs.map((one) => ('n' in one ? one.n : 0))).to.deep.equal([2]);
  });

  it('marks what came since the last mark, no more often than it must', () => {
    const marksAfter = (now: number): unknown =>
      sweepOutput(kept({ last: 12, marks: [[9, 450]] }), swept({ now })).set?.toolOutput?.marks;
    expect(marksAfter(500)).to.deep.equal([[9, 450]]);
    expect(marksAfter(550)).to.deep.equal([
      [9, 450],
      [9, 550],
    ]);
    expect(sweepOutput({ ...kept(), toolOutput: null }, swept())).to.deep.equal({});
  });

  // A tool that began before a mark and ended after it was dropped too early by the time that it took.
  it('believes no mark about a result that was written after it', () => {
    const { toolOutput } = withOutput(kept({ dropped: 6, marks: [[9, 100]] }), [written(5)]);
    expect(toolOutput).to.deep.equal({ last: 9, dropped: 4, marks: [] });
    expect(
      withOutput(kept(), [writeRow('messages', 10, { meta: { kind: 'tool', toolOutput: 'short' } })]),
    ).to.deep.equal({});
  });

  it('counts the bytes of a result, a file beside it, and nothing twice', () => {
    const holds = (meta: object, media?: unknown): boolean =>
      holdsOutput({ meta: { kind: 'tool', ...meta }, ...(media !== undefined && { media }) });
    expect(holds({ toolOutput: 'é'.repeat(300) })).to.equal(true);
    expect(holds({ toolOutput: 'x'.repeat(300) })).to.equal(false);
    expect(holds({ toolOutput: 'x' }, [{ url: '/api/files/1' }])).to.equal(true);
    expect(holds({ toolOutput: 'x'.repeat(600), droppedAt: 1 })).to.equal(false);
    expect(holdsOutput({ meta: { kind: 'changes' }, media: [] })).to.equal(false);
  });

  it('takes it from the gateway alone, and no message but of tools', () => {
    const code = (by: typeof operator) =>
      sessionPolicy(kept(), { ...swept(), by }, { by, onBehalfOf: by })?.code;
    expect([code(operator), code(system('tool-output'))]).to.deep.equal(['FORBIDDEN', undefined]);
    const words = { n: 2, row: { ...row('s1:0'), meta: null } };
    const fit = (rows: readonly { n: number; row: ReturnType<typeof row> }[]) =>
      fitSwept(swept({ dropped: { mark: [9, 100], upTo: 9, rows } }))?.code;
    expect(fit([words as never])).to.equal('BAD_REQUEST');
    expect(fit([{ n: 10, row: row('s1:0') }])).to.equal('BAD_REQUEST');
    expect(fit([{ n: 9, row: row('s1:0') }])).to.equal(undefined);
  });
});
