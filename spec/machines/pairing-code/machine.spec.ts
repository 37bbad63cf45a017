import { expect } from 'chai';
import { admitPairingCode } from '../../../machines/pairing-code/machine.js';
import { fresh, redeem } from './beings.js';

const agent = { type: 'session', id: 's1', employee: null, ancestors: [] } as const;

describe('a pairing code', () => {
  it('makes one device, and tells of it when it is written', () => {
    const code = fresh();
    expect(code.send(redeem)).to.equal(undefined);
    expect(code.effects.get('device')?.input).to.deep.equal({
      ...redeem.device,
      kind: 'remote',
      createdAt: code.at,
    });
    expect(code.frames('device:paired')).to.deep.equal([]);
    expect(code.send(redeem)).to.include({ code: 'PAIRING_CODE_INVALID' });
    code.finish('device', null);
    expect(code.value).to.equal('redeemed');
    expect(code.frames('device:paired')[0]?.payload).to.deep.equal({
      id: 'd_1',
      name: 'Linux browser',
      kind: 'remote',
    });
  });

  it('is spent also where the device could not be written, and says why', () => {
    const code = fresh();
    code.send(redeem);
    code.fail('device', 'the disk is full');
    expect([code.value, code.snapshot.context.reason]).to.deep.equal(['failed', 'the disk is full']);
  });

  it('ends when its time is over, also where the timer is late', () => {
    const code = fresh(60_000);
    code.advance(59_999);
    expect(code.value).to.equal('valid');
    code.advance(1);
    expect(code.value).to.equal('expired');
    const late = fresh(60_000);
    late.at += 60_000;
    expect(late.send(redeem)).to.include({ code: 'PAIRING_CODE_INVALID' });
  });

  it('is moved by no agent, nothing unknown, and no device without a hash', () => {
    const code = fresh();
    const before = code.json;
    expect(code.send({ ...redeem, by: agent })).to.include({ code: 'FORBIDDEN' });
    expect(code.send({ type: 'code.prolong' })).to.include({ code: 'UNKNOWN_EVENT' });
    expect(code.send({ ...redeem, device: { ...redeem.device, tokenHash: 'the secret' } })).to.include({
      code: 'BAD_REQUEST',
    });
    expect(code.send({ ...redeem, device: null })).to.include({ code: 'BAD_REQUEST' });
    expect(code.json).to.equal(before);
  });

  it('is admitted for at most five minutes', () => {
    const whole = { id: 'h', at: 1, deviceKind: 'remote', issuedTo: 'challenge', ttlMs: 300_000 } as const;
    expect(admitPairingCode(whole)).to.equal(undefined);
    for (const wrong of [{ ttlMs: 300_001 }, { ttlMs: 0 }, { ttlMs: '5' }, { deviceKind: 'token' }])
      expect(admitPairingCode({ ...whole, ...wrong } as never), JSON.stringify(wrong)).to.include({
        code: 'BAD_REQUEST',
      });
  });
});
