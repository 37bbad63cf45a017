import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { chainIn, chainOf, checkEntry, sealEntry } from '../../../lib/store/chain.js';

describe('the chain of the log', () => {
  const first = sealEntry('', '{"seq":1,"event":{"type":"größer"}}');
  const second = sealEntry(first.chain, '{"seq":2}');

  it('is the SHA-256 of the entry before and of this text, and stands last in the entry', () => {
    expect(first.chain).to.equal(
      createHash('sha256').update('{"seq":1,"event":{"type":"größer"}}').digest('base64url'),
    );
    expect(chainOf(first.chain, '{"seq":2}')).to.equal(second.chain);
    expect(JSON.parse(second.value)).to.deep.equal({ seq: 2, chain: second.chain });
    expect(chainIn(second.value)).to.equal(second.chain);
  });

  it('fits only its own predecessor and its own text', () => {
    expect(checkEntry('', first.value)).to.equal(first.chain);
    expect(checkEntry(first.chain, second.value)).to.equal(second.chain);
    expect(checkEntry('', second.value)).to.equal(undefined);
    expect(checkEntry(first.chain, second.value.replace('2', '3'))).to.equal(undefined);
    expect(checkEntry(first.chain, '{"seq":2}')).to.equal(undefined);
    expect(checkEntry('', '')).to.equal(undefined);
  });
});
