import { expect } from 'chai';
import type { AtLeastOnceEffect, Kind } from '../../../actors/contracts.js';
import { pairingCodeKind } from '../../../actors/pairing-code/kind.js';
import type { ProofInput, ProofOutput } from '../../../machines/pairing/machine.js';
import { pairingKind } from '../../../actors/pairing/kind.js';
import { system } from '../../../machines/caller.js';
import type { NewDevice } from '../../../machines/pairing-code/machine.js';
import { openHouse, type House } from '../../fixtures/house.js';

/** Pairing through crashes: what was committed is done once the gateway is back, and what was not is not. */
describe('pairing and crashes', () => {
  const by = system('pairing');
  const device = {
    id: 'd_1',
    name: 'Linux browser',
    tokenHash: 'b'.repeat(64),
    lastIp: null,
    userAgent: null,
  };
  const hanging: AtLeastOnceEffect<unknown, never> = {
    guarantee: 'at-least-once',
    run: () => new Promise(() => undefined),
  };
  let house: House | undefined;
  afterEach(async () => {
    await house?.stop();
  });

  const kindsWith = (effects: {
    proof?: AtLeastOnceEffect<ProofInput, ProofOutput>;
    clearing?: AtLeastOnceEffect<ProofInput, null>;
    device?: AtLeastOnceEffect<NewDevice, null>;
  }): readonly Kind[] =>
    [
      pairingKind({ proof: effects.proof ?? hanging, clearing: effects.clearing ?? hanging }),
      pairingCodeKind({ device: effects.device ?? hanging }),
    ] as readonly Kind[]; // a list knows only that they are kinds

  it('writes a device that was redeemed right before the crash, under the same id, and redeems the code no second time', async () => {
    house = await openHouse(kindsWith({}));
    await house.supervisor.spawn('pairing-code', {
      id: 'code',
      input: { deviceKind: 'remote', issuedTo: 'challenge', ttlMs: 300_000 },
      by,
    });
    await house.supervisor.ask('pairing-code', 'code', { type: 'code.redeem', device }, { by });
    const kept: NewDevice[] = [];
    await house.crash(
      kindsWith({
        device: {
          guarantee: 'at-least-once',
          run: async (one: NewDevice) => {
            kept.push(one);
            return null;
          },
        },
      }),
    );
    await house.environment.settle();
    expect((await house.supervisor.get('pairing-code', 'code'))?.value).to.equal('redeemed');
    expect(kept.map(({ id, tokenHash }) => [id, tokenHash])).to.deep.equal([[device.id, device.tokenHash]]);
    expect(
      await house.supervisor.ask(
        'pairing-code',
        'code',
        { type: 'code.redeem', device: { ...device, id: 'd_2' } },
        { by },
      ),
    ).to.have.property('refused', true);
    expect(house.faults).to.deep.equal([]);
  });

  it('keeps a code over a crash for the rest of its five minutes, and not a moment longer', async () => {
    house = await openHouse(kindsWith({}));
    await house.supervisor.spawn('pairing-code', {
      id: 'code',
      input: { deviceKind: 'remote', issuedTo: 'challenge', ttlMs: 300_000 },
      by,
    });
    await house.environment.advance(200_000);
    await house.crash();
    await house.environment.advance(99_000);
    expect((await house.supervisor.get('pairing-code', 'code'))?.value).to.equal('valid');
    await house.environment.advance(1_000);
    expect((await house.supervisor.get('pairing-code', 'code'))?.value).to.equal('expired');
  });

  it('looks at a proof again after a crash in the middle; it is the hand that finds it gone', async () => {
    house = await openHouse(kindsWith({}));
    await house.supervisor.spawn('pairing', { id: 'challenge', input: { nonceHash: 'a'.repeat(64) }, by });
    await house.supervisor.ask('pairing', 'challenge', { type: 'challenge.redeem' }, { by });
    await house.crash(
      kindsWith({ proof: { guarantee: 'at-least-once', run: async () => ({ proven: false }) } }),
    );
    await house.environment.settle();
    expect((await house.supervisor.get('pairing', 'challenge'))?.value).to.equal('failed');
  });

  it('clears away the file of a challenge whose time ran out while no one was there', async () => {
    house = await openHouse(kindsWith({}));
    await house.supervisor.spawn('pairing', { id: 'challenge', input: { nonceHash: 'a'.repeat(64) }, by });
    const cleared: unknown[] = [];
    await house.environment.advance(9_000);
    await house.crash(
      kindsWith({
        clearing: {
          guarantee: 'at-least-once',
          run: async (input: unknown) => {
            cleared.push(input);
            return null;
          },
        },
      }),
    );
    await house.environment.advance(60_000);
    expect(cleared).to.deep.equal([{ challengeId: 'challenge', nonceHash: 'a'.repeat(64) }]);
    expect((await house.supervisor.get('pairing', 'challenge'))?.value).to.equal('expired');
  });
});
