import { expect } from 'chai';
import { createSessionTokens, tokenHash } from '../../../actors/engines/tokens.js';

describe('createSessionTokens', () => {
  it('knows whose token it is, and nothing of an unknown one', () => {
    const tokens = createSessionTokens();
    const token = tokens.mint('s1');
    expect(token).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect(tokens.resolve(token)).to.equal('s1');
    expect(tokens.resolve(`${token}x`)).to.equal(undefined);
    expect(tokens.resolve(tokenHash(token))).to.equal(undefined);
    expect(tokens.resolve('')).to.equal(undefined);
  });

  it('makes each one again, also for the same session', () => {
    const tokens = createSessionTokens();
    expect(tokens.mint('s1')).to.not.equal(tokens.mint('s1'));
    expect(tokens.size).to.equal(2);
  });

  it('revokes one by itself or by its hash, and all of a session', () => {
    const tokens = createSessionTokens();
    const [one, two, three, other] = [
      tokens.mint('s1'),
      tokens.mint('s1'),
      tokens.mint('s1'),
      tokens.mint('s2'),
    ];
    tokens.revoke(one);
    tokens.revoke(tokenHash(two));
    expect([one, two, three].map((token) => tokens.resolve(token))).to.deep.equal([
      undefined,
      undefined,
      's1',
    ]);
    tokens.revokeSession('s1');
    expect([three, other].map((token) => tokens.resolve(token))).to.deep.equal([undefined, 's2']);
  });
});
