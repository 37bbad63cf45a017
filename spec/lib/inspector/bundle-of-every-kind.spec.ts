import { expect } from 'chai';
import { dirname } from 'node:path';
import { builtInKinds } from '../../../lib/cli/built-in-kinds.js';
import type { Bundle } from '../../../lib/inspector/bundle.js';
import { replayBundle } from '../../../lib/inspector/replay-bundle.js';
import { openEveryKind, type EveryKind } from '../../fixtures/every-kind.js';
import type { Instance } from '../../golden/instance.js';
import { must } from '../../golden/work.js';

/**
 * A home with actors of every kind, some of which failed, whose bundles are made as people make them. A failed run
 * once could not be replayed, because `onError: "fail-run"` looked like a text by its name.
 */
describe('bundles of every kind', function () {
  this.timeout(300_000);
  let full: EveryKind;
  let instance: Instance;
  const kinds = builtInKinds();
  const get = (address: string): Promise<Record<string, unknown>> =>
    must(instance.operator, 'GET', address) as Promise<Record<string, unknown>>;
  const bundle = async (query: string): Promise<Bundle> =>
    (await get(`/api/inspect/bundle?${query}`)) as unknown as Bundle;
  const differences = (made: Bundle): readonly string[] =>
    replayBundle(made, kinds).actors.flatMap(({ kind, id, differs }) =>
      differs === null ? [] : [`${kind}/${id}: ${JSON.stringify(differs)}`],
    );

  before(async () => {
    full = await openEveryKind();
    ({ instance } = full);
  });
  after(() => full?.close());

  it('replay whole: each actor from its creation, the failed ones too', async () => {
    const made = await bundle('from=1');
    expect(new Set(made.actors.map(({ kind }) => kind))).to.deep.equal(
      new Set(kinds.map(({ kind }) => kind)),
    );
    const ended = made.actors.flatMap(({ entries }) => entries.map(({ to }) => JSON.stringify(to)));
    expect(ended).to.include('"failed"');
    expect(differences(made)).to.deep.equal([]);
  });

  it('replay from the middle of lives', async () => {
    const { seq } = (await get('/api/inspect/fleet')) as { seq: number };
    for (let from = 2; from <= seq; from += 7)
      expect(differences(await bundle(`from=${from}&to=${from + 40}`)), `from ${from}`).to.deep.equal([]);
  });

  it('hold nothing of what people wrote, named or ran, whole or sliced', async () => {
    const { seq } = (await get('/api/inspect/fleet')) as { seq: number };
    for (const from of [1, Math.ceil(seq / 2)]) {
      const text = JSON.stringify(await bundle(`from=${from}`));
      for (const written of [
        'Water the plants',
        'May I water them',
        'backlog with approval',
        'In /tmp',
        'Not without a can.',
        'Enough.',
        'Go on?',
        'It must fail',
        '/bin/sh',
        'hello.txt',
        'Remote browser',
        'golden',
        'it broke',
        dirname(instance.home),
      ])
        expect(text.includes(written), `"${written}" from ${from}`).to.equal(false);
    }
  });
});
