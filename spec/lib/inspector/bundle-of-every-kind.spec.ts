import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtInKinds } from '../../../lib/cli/built-in-kinds.js';
import type { Bundle } from '../../../lib/inspector/bundle.js';
import { replayBundle } from '../../../lib/inspector/replay-bundle.js';
import { openFarSide, type FarSide } from '../../golden/far-side.js';
import { configOf, connectorNames, furnish, installPrograms } from '../../golden/furnish.js';
import { startInstance, type Instance } from '../../golden/instance.js';
import { makeConnectors, makeCron, pairBrowsers } from '../../golden/outlets.js';
import { makeBudgets, makeFiles, makeSessions } from '../../golden/sessions.js';
import { makeBindings, makeWorkflows } from '../../golden/workflows.js';
import { makeWorkItems, must } from '../../golden/work.js';

/**
 * A home with actors of every kind, some of which failed, whose bundles are made as people make them. A failed run
 * once could not be replayed, because `onError: "fail-run"` looked like a text by its name.
 */
describe('bundles of every kind', function () {
  this.timeout(300_000);
  let folder: string;
  let far: FarSide;
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
    folder = await mkdtemp(join(tmpdir(), 'troupe-bundles-'));
    const home = join(folder, 'home');
    far = await openFarSide(false);
    await installPrograms(folder);
    const notify = 'notify: { command: [/bin/cat], afterSeconds: 0 }\n';
    await furnish(home, configOf({ folder, farSide: far.url, isSlow: true }, connectorNames) + notify);
    instance = await startInstance(home, Date.UTC(2026, 2, 2, 9));
    // Evidence of this workflow cannot be written: its place is taken
    const unwritable = join(home, 'workflow-evidence/workflows/unwritable');
    await mkdir(dirname(unwritable), { recursive: true });
    await writeFile(unwritable, '');
    const { operator } = instance;
    await makeWorkItems(operator);
    await makeSessions(operator);
    await makeBudgets(operator);
    await makeFiles(operator);
    await makeWorkflows(operator);
    await makeBindings(operator);
    await makeConnectors(operator);
    await makeCron(operator);
    await pairBrowsers(instance);
    await must(operator, 'POST', '/api/workers', { name: 'gpu1' });
    const { waiting } = (await get('/api/attention')) as {
      waiting: readonly Readonly<Record<'what' | 'kind' | 'id' | 'waitingId', string>>[];
    };
    const { kind, id, waitingId } = waiting.find(({ what }) => what === 'approval')!;
    const note = 'Not without a can.';
    await must(operator, 'POST', '/api/held-decisions', { kind, id, waitingId, decision: 'reject', note });
  });
  after(async () => {
    await instance?.kill();
    await far?.close();
    await rm(folder, { recursive: true, force: true });
  });

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
        folder,
      ])
        expect(text.includes(written), `"${written}" from ${from}`).to.equal(false);
    }
  });
});
