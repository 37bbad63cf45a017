import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemEnvironment } from '../../../../lib/environment.js';
import { arePushKeys, isPushAddress, openPushRoom } from '../../../../lib/records/push/push-room.js';
import { encryptPush, newPushKey, publicPushKey } from '../../../../lib/records/push/encrypt-push.js';
import { decryptPush, pushBrowser } from '../../../helpers/push-service.js';

describe('a message to a browser', () => {
  // RFC 8291, appendix A and section 5
  const privateKey = Buffer.from('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url');
  const auth = 'BTBZMqHH6r4Tts7J_aSIgg';
  const p256dh = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
  const sealed =
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_' +
    'yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN';

  it('is encrypted as RFC 8291 does it, byte for byte', () => {
    const entropy = {
      key: Buffer.from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw', 'base64url'),
      salt: Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url'),
    };
    const text = 'When I grow up, I want to be a watermelon';
    const made = encryptPush(text, { endpoint: '', keys: { p256dh, auth } }, entropy);
    expect(made.toString('base64url')).to.equal(sealed);
    const opened = decryptPush(made, { privateKey, auth: Buffer.from(auth, 'base64url') });
    expect(opened).to.equal(text);
  });

  it('has a new key and salt each time, and is read by the browser alone', () => {
    const { subscription, read } = pushBrowser('p');
    const [one, two] = [encryptPush('{"a":"ä"}', subscription), encryptPush('{"a":"ä"}', subscription)];
    expect(one.equals(two)).to.equal(false);
    expect([read(one), read(two)]).to.deep.equal([{ a: 'ä' }, { a: 'ä' }]);
    expect(() => pushBrowser('other').read(one)).to.throw();
    one[one.length - 20] = (one[one.length - 20] ?? 0) ^ 1;
    expect(() => read(one), 'a changed byte').to.throw();
  });

  it('is made for a point of P-256 and 16 bytes alone, and goes to https alone', () => {
    expect(arePushKeys({ p256dh, auth })).to.equal(true);
    const off = Buffer.from(p256dh, 'base64url');
    off[64] = (off[64] ?? 0) ^ 1;
    for (const keys of [
      { p256dh: off.toString('base64url'), auth },
      { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth },
      { p256dh: '', auth },
      { p256dh, auth: auth.slice(2) },
    ])
      expect(arePushKeys(keys), JSON.stringify(keys)).to.equal(false);
    const good = 'https://push.example.org/send/abc';
    const bad = ['http://push.example.org/', 'https://a:b@push.example.org/', 'file:///etc/passwd', 'x', ''];
    expect([good, ...bad, `https://push.example.org/${'x'.repeat(1_024)}`].map(isPushAddress)).to.deep.equal([
      true,
      ...Array<boolean>(6).fill(false),
    ]);
  });

  it('has no word of a damaged key, or of where it lies, in what is said of it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-push-'));
    const path = join(folder, 'push-key.json');
    const room = openPushRoom({ path, environment: systemEnvironment() });
    for (const text of [
      '{"privateKey":"c2VjcmV0',
      '{"privateKey":7}',
      '{}',
      '{"privateKey":"c2VjcmV0"}',
      '',
    ]) {
      await writeFile(path, text, { mode: 0o600 });
      const said = await room.publicKey().then(String, ({ message }: Error) => message);
      expect(said, text).to.equal(
        'push-key.json of the home is damaged. Remove it; browsers must then ask again.',
      );
    }
    await rm(folder, { recursive: true });
  });

  it('is signed by a key whose public half has 65 bytes, also where the private one begins with zeros', () => {
    const small = Buffer.concat([Buffer.alloc(31), Buffer.from([7])]);
    expect([
      newPushKey().length,
      publicPushKey(newPushKey()).length,
      publicPushKey(small).length,
    ]).to.deep.equal([32, 65, 65]);
  });
});
