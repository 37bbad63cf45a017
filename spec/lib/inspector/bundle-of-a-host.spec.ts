import { expect } from 'chai';
import { assign, setup } from 'xstate';
import type { Kind } from '../../../actors/contracts.js';
import type { Bundle } from '../../../lib/inspector/bundle.js';
import { makeBundle } from '../../../lib/inspector/make-bundle.js';
import { replayBundle } from '../../../lib/inspector/replay-bundle.js';
import { openHouse } from '../../fixtures/house.js';

/** Members were once blanked where their name looked private: `owner`, `tags` and keys like addresses were given away. */
type Context = { owner: string; tags: string[]; stage: string; lent: Record<string, { since: string }> };
const machine = setup({
  types: {} as {
    context: Context;
    events:
      | { type: 'lend'; to: string; since: string; stage: string }
      | { type: 'tag'; tags: string[] }
      | { type: 'end' };
  },
  guards: { isLast: ({ context }) => context.stage === 'last' },
  actions: {
    lend: assign({
      stage: ({ event }) => (event as { stage: string }).stage,
      lent: ({ context, event }) => {
        const { to, since } = event as { to: string; since: string };
        return { ...context.lent, [to]: { since } };
      },
    }),
    tag: assign({ tags: ({ event }) => (event as { tags: string[] }).tags }),
  },
}).createMachine({
  id: 'shelf',
  context: { owner: 'Ann Example', tags: [], stage: 'first', lent: {} },
  initial: 'open',
  states: {
    open: {
      on: { lend: { actions: 'lend' }, tag: { actions: 'tag' }, end: { target: 'shut', guard: 'isLast' } },
    },
    shut: {},
  },
});
const rack = (keptInBundles?: readonly string[]): Kind =>
  ({
    kind: 'shelf',
    version: 1,
    machine,
    view: ({ value }) => ({ value }),
    ...(keptInBundles && { keptInBundles }),
  }) as Kind<typeof machine> as unknown as Kind;

describe("a bundle of a host's kind", () => {
  const bundled = async (kind: Kind, from = 1): Promise<Bundle> => {
    const house = await openHouse([kind]);
    await house.supervisor.spawn('shelf', { id: 's' });
    await house.supervisor.ask('shelf', 's', { type: 'tag', tags: ['diary of Bob'] });
    const since = '2026-11-22T10:00:00.000Z';
    const to = 'bob@example.com';
    await house.supervisor.ask('shelf', 's', { type: 'lend', to, since, stage: 'last' });
    await house.supervisor.ask('shelf', 's', { type: 'end' });
    const made = (await makeBundle(house.supervisor, { from })) as Bundle;
    await house.stop();
    return JSON.parse(JSON.stringify(made)) as Bundle;
  };

  it('holds no text of a member that the kind does not declare, in lists and keys neither', async () => {
    for (const from of [1, 3]) {
      const text = JSON.stringify(await bundled(rack(), from));
      expect(text).to.not.match(/Ann|Bob|bob@|"last"/);
      expect(text).to.include('2026-11-22T10:00:00.000Z');
    }
  });

  it('replays from any position on, once the words that it decides by are declared', async () => {
    for (const from of [1, 2, 3, 4]) {
      const made = await bundled(rack(['stage']), from);
      expect(JSON.stringify(made)).to.not.match(/Ann|Bob|bob@/);
      expect(replayBundle(made, [rack()]).actors[0]?.differs, `from ${from}`).to.equal(null);
    }
  });

  it('keeps no text of a member that is redacted, whatever else is declared', async () => {
    const kind = { ...rack(['stage', 'tags']), redacted: ['tags'] } as Kind;
    expect(JSON.stringify(await bundled(kind))).to.not.include('diary');
  });
});
