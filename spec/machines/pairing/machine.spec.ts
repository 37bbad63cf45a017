import { expect } from 'chai';
import { admitPairing } from '../../../machines/pairing/machine.js';
import { fresh } from './beings.js';

const agent = { type: 'session', id: 's1', employee: null, ancestors: [] } as const;

describe('a pairing challenge', () => {
  it('is redeemed once, proven, and spent once', () => {
    const challenge = fresh();
    expect(challenge.send({ type: 'challenge.redeem' })).to.equal(undefined);
    expect(challenge.send({ type: 'challenge.redeem' })).to.include({ code: 'CHALLENGE_FAILED' });
    expect(challenge.send({ type: 'challenge.spend' })).to.include({ code: 'CHALLENGE_FAILED' });
    challenge.finish('proof', { proven: true });
    expect(challenge.send({ type: 'challenge.spend' })).to.equal(undefined);
    expect([challenge.value, challenge.snapshot.status]).to.deep.equal(['spent', 'done']);
  });

  it('takes only the word "proven" for a proof', () => {
    for (const output of [{ proven: false }, { proven: 1 }, {}, { proven: 'true' }]) {
      const challenge = fresh();
      challenge.send({ type: 'challenge.redeem' });
      challenge.finish('proof', output);
      expect(challenge.value, JSON.stringify(output)).to.equal('failed');
    }
  });

  it('ends after ten seconds, also where the timer is late, and its file is cleared away', () => {
    const challenge = fresh();
    challenge.at += 10_000; // the clock is there, the timer not yet
    expect(challenge.send({ type: 'challenge.redeem' })).to.include({ code: 'CHALLENGE_FAILED' });
    const other = fresh();
    other.advance(9_999);
    expect(other.value).to.equal('open');
    other.advance(1);
    expect(other.effects.has('clearing')).to.equal(true);
    other.finish('clearing', null);
    expect(other.value).to.equal('expired');
  });

  it('does not stay proven: a crash between proof and code leaves nothing to use later', () => {
    const challenge = fresh();
    challenge.send({ type: 'challenge.redeem' });
    challenge.finish('proof', { proven: true });
    challenge.advance(10_000);
    expect(challenge.value).to.equal('expired');
  });

  it('is moved by no agent and nothing unknown, and admitted only with a hash', () => {
    const challenge = fresh();
    const before = challenge.json;
    expect(challenge.send({ type: 'challenge.redeem', by: agent })).to.include({ code: 'FORBIDDEN' });
    expect(challenge.send({ type: 'challenge.forget' })).to.include({ code: 'UNKNOWN_EVENT' });
    expect(challenge.json).to.equal(before);
    expect(admitPairing({ id: 'c', at: 1, nonceHash: 'the nonce itself' })).to.include({
      code: 'BAD_REQUEST',
    });
    expect(admitPairing({ id: 'c', at: 1, nonceHash: 'a'.repeat(64) })).to.equal(undefined);
  });
});
