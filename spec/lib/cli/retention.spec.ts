import { expect } from 'chai';
import { openLevelStore } from '../../../lib/store/level.js';
import { Troupe } from './troupe.js';

/**
 * A home whose last gateway ran forty days ago by a clock that no one can vouch for: what would be forgotten
 * is held until a person decides.
 */
describe('troupe retention', () => {
  let troupe: Troupe;
  beforeEach(async () => {
    troupe = await Troupe.create();
  });
  afterEach(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];

  async function away(days: number): Promise<void> {
    const gateway = await troupe.start();
    await troupe.run(...at('run', 'add "water the plants"'));
    await gateway.kill('SIGTERM');
    const store = await openLevelStore({ directory: troupe.home() });
    const then = Date.now() - days * 86_400_000;
    const clock = { at: then, boot: 'another', sinceBoot: 1, wall: then, level: 0, pause: 0, allowance: 0 };
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [['m/kernel%2Fretention-clock', JSON.stringify(clock)]],
    });
    await store.close();
    await troupe.start();
  }

  it('shows what is held, in status and doctor, too, and releases it', async () => {
    await away(40);
    expect((await troupe.run(...at('retention'))).out).to.match(
      /^The clock claims 40 d that this machine cannot verify\.\n.*\n.*troupe retention allow/,
    );
    expect((await troupe.run(...at('status'))).out).to.match(/retention +40 d held back/);
    expect((await troupe.run(...at('doctor'))).out).to.match(/note +retention +the clock claims 40 d/);
    expect(await troupe.run(...at('retention', 'allow')))
      .to.include({ code: 0 })
      .and.property('out')
      .match(/^Released 40 d: /);
    expect((await troupe.run(...at('retention'))).out).to.equal('Nothing is held back.\n');
    expect((await troupe.run(...at('doctor'))).out).to.match(/ok +retention +the clocks agree/);
  });

  it('dismisses it where the clock was set, and knows no other word', async () => {
    await away(40);
    expect((await troupe.run(...at('retention', 'dismiss'))).out).to.match(/^Dismissed 40 d: nothing/);
    const { out } = await troupe.run(...at('retention', '--json'));
    expect(JSON.parse(out)).to.deep.include({ heldMs: 0, wouldForget: { entries: 0, others: 0 } });
    expect((await troupe.run(...at('retention', 'forget'))).code).to.equal(2);
  });
});
