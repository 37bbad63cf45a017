import { expect } from 'chai';
import { readOutcome, trim } from '../../../machines/workflow-run/outcome.js';

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('an outcome', () => {
  it('is read from the last block that is an object, else from the words', () => {
    expect(readOutcome('Done.\n```json\n{"summary": "all well", "fields": {"n": 1}}\n```\nBye.'))
      .to.include({ summary: 'all well', extractedFrom: 'handoff-block' })
      .and.to.deep.include({ fields: { n: 1 } });
    expect(readOutcome('{"n": 2}')).to.deep.include({ fields: { n: 2 }, extractedFrom: 'handoff-block' });
    expect(readOutcome('Done {.')).to.deep.equal({ finalMessage: 'Done {.', extractedFrom: 'final-message' });
  });

  // An agent that ended its words with thousands of brackets had its run stand still: no snapshot could hold
  // them.
  it('keeps no field that is nested deeper than a body may be, and the others', () => {
    const read = readOutcome(
      `{"deep": ${nested(3_000)}, "deeper": {"a": ${nested(40)}}, "fine": ${nested(32)}, "n": 1}`,
    );
    expect(trim(read).fields).to.deep.equal({ deep: null, deeper: null, fine: JSON.parse(nested(32)), n: 1 });
  });
});
