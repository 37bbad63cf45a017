import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { readSignature, signingSecret } from '../../../../lib/commands/workflows/triggers.js';
import type { App } from '../../../../lib/commands/app.js';

/**
 * Whose signatures count: those of a binding that is active and signs, made with a secret that no one else
 * can make.
 */
const now = Date.UTC(2026, 0, 1);
const bytes = Buffer.from('{"event":"repo.push"}');

function deskWith(binding: { readonly value: string; readonly view: object } | undefined, keyed = true): App {
  const supervisor = { get: async () => binding, environment: { clock: { now: () => now } } };
  return {
    supervisor,
    ...(keyed && {
      keyFor: (label: string) => createHmac('sha256', 'token').update(label).digest('base64url'),
    }),
  } as unknown as App; // all that is read of it
}

const signed = (secret: string): string =>
  `t=${now / 1000},v1=${createHmac('sha256', secret)
    .update(`${now / 1000}.`)
    .update(bytes)
    .digest('hex')}`;
const read = (app: App, secret: string) =>
  readSignature(app, { name: 'push', signature: signed(secret), bytes });

describe('readSignature', () => {
  const secretOf = (salt: string): string => signingSecret(deskWith(undefined), 'push', salt) ?? '';

  it('knows the signature of an active binding', async () => {
    expect(await read(deskWith({ value: 'active', view: { signingSalt: 's1' } }), secretOf('s1'))).to.include(
      { is: 'fresh' },
    );
  });

  it('knows none of a binding that is not active, whatever it has kept', async () => {
    expect(await read(deskWith({ value: 'deleted', view: { signingSalt: 's1' } }), secretOf('s1'))).to.equal(
      undefined,
    );
  });

  it('knows none of a binding that does not sign, or of none at all', async () => {
    expect(await read(deskWith({ value: 'active', view: { signingSalt: null } }), secretOf(''))).to.equal(
      undefined,
    );
    expect(await read(deskWith(undefined), secretOf(''))).to.equal(undefined);
  });

  it("knows none where there is nothing to make a secret of: the empty one is everybody's", async () => {
    expect(await read(deskWith({ value: 'active', view: { signingSalt: 's1' } }, false), '')).to.equal(
      undefined,
    );
  });
});
