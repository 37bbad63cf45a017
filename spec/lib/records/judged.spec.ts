import { expect } from 'chai';
import * as z from 'zod';
import { judged } from '../../../lib/records/judged.js';

describe('judged', () => {
  const schema = z.strictObject({
    note: z.string().min(1).max(5).optional(),
    tags: z.array(z.string()).max(2).optional(),
  });

  it('answers what fits, and names what does not', () => {
    expect(judged(schema, { note: 'well' })).to.deep.include({ success: true, data: { note: 'well' } });
    expect(judged(schema, { note: 7 }).error?.issues[0]?.path).to.deep.equal(['note']);
  });

  // The fuzzer met this: one body was enough for a fault of ours and an answer 500.
  it('takes a length that cannot be compared for a fault of the value', () => {
    for (const length of [
      { toString: 1, valueOf: 1 },
      { toString: null, valueOf: null },
    ]) {
      for (const member of ['note', 'tags'])
        expect(judged(schema, { [member]: { length } }).success).to.equal(false);
    }
  });

  it('hides no fault of a schema of ours', () => {
    const broken = z.string().transform(() => {
      throw new RangeError('ours');
    });
    expect(() => judged(broken, 'x')).to.throw(RangeError, 'ours');
  });
});
