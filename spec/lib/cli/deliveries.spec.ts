import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WaitingItem } from '../../../lib/cli/waiting.js';
import { farSide, type FarSide } from '../../actors/connectors/far-side.js';
import { poll } from '../gateway/fixture.js';
import { Troupe } from './troupe.js';

/**
 * A message that was on its way when its gateway was killed ended as `unknown` for ever: no one saw what it had said,
 * and no one could say what had become of it. Now it waits for a person.
 */
describe('a message whose gateway is killed while it is sent', () => {
  let troupe: Troupe;
  let far: FarSide;
  beforeEach(async () => {
    far = await farSide();
    troupe = await Troupe.create();
    await mkdir(troupe.home());
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      `engines: {default: clerk}\nconnectors:\n  instances:\n    - name: hook\n      type: webhook\n` +
        `      url: ${far.url}\n      secret: a secret of the specs\n`,
    );
  });
  afterEach(async () => {
    await troupe.clear();
    await far.close();
  });
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];
  const waiting = async (): Promise<readonly WaitingItem[]> =>
    JSON.parse((await troupe.run(...at('waiting', '--json'))).out) as WaitingItem[];
  const posts = (): string[] =>
    far.got.flatMap(({ method, body }) =>
      method === 'POST' ? [(JSON.parse(body) as { text: string }).text] : [],
    );

  const posted = async (count: number): Promise<void> => {
    while (posts().length < count) await far.came(far.got.length + 1);
  };

  /** Sends `words`, and kills the gateway once they have left and before they were answered. */
  async function cut(words: string): Promise<void> {
    const gateway = await troupe.start();
    const { url, token } = await troupe.announcement();
    const call = (path: string, body?: object): Promise<Response> =>
      fetch(new URL(path, url), {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    await poll(
      async () => (await (await call('/api/connectors')).json()) as { status: string }[],
      ([hook]) => hook?.status === 'running',
    );
    far.answers = ['hang'];
    const sent = call('/api/connectors/hook/send', { channel: 'general', text: words }).catch(
      () => undefined,
    );
    await posted(1);
    await gateway.kill('SIGKILL');
    await sent;
    await troupe.start();
    await poll(waiting, (items) => items.length === 1);
  }

  it('is listed as what may have arrived, and is sent again once a person says so, and once', async () => {
    await cut('Water the cactus');
    const listed = await troupe.run(...at('waiting'));
    expect(listed.out).to.match(
      /unknown-delivery +you .*hook: a message to general may have arrived, or not\./,
    );
    expect(listed.err).to.match(
      /A message: troupe resend .*it arrived: troupe approve .*give it up: troupe reject /,
    );
    const again = await troupe.run(...at('resend', 'hook'));
    expect(again.out).to.match(/^Sent again: hook: a message to general/);
    await posted(2);
    expect(posts()).to.deep.equal(['Water the cactus', 'Water the cactus']);
    expect(await waiting()).to.deep.equal([]);
    expect((await troupe.run(...at('resend', 'hook'))).code).to.equal(2);
    expect(posts()).to.have.length(2);
  });

  it('is not sent again where a person says that it arrived', async () => {
    await cut('Feed the fish');
    expect((await troupe.run(...at('approve', 'hook'))).out).to.match(/^Arrived: /);
    expect([await waiting(), posts()]).to.deep.equal([[], ['Feed the fish']]);
  });
});
