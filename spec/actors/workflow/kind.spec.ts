import { expect } from 'chai';
import type { AtLeastOnceEffect } from '../../../actors/contracts.js';
import { departmentManagers, workflowKind } from '../../../actors/workflow/kind.js';
import type { EvidenceInput, EvidenceOutput } from '../../../machines/workflow/context.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openHouse, seen, type House } from '../../fixtures/house.js';
import { chain, noop, trigger } from '../../machines/graph/graphs.js';

/** Hands that fail, hang or write, as the spec says; what they wrote is remembered. */
function scribe() {
  const written: number[] = [];
  let mood: 'writes' | 'fails' | 'hangs' = 'writes';
  const effect: AtLeastOnceEffect<EvidenceInput, EvidenceOutput> = {
    guarantee: 'at-least-once',
    async run({ version }, context) {
      if (mood === 'fails') throw new Error('The disk is full.');
      if (mood === 'hangs')
        await new Promise<void>((resolve) =>
          context.signal.addEventListener('abort', () => resolve(), { once: true }),
        );
      const rows = await context.rows('versions', { last: 20 });
      written.push(...rows.map((row) => (row as { version: number }).version));
      return { version };
    },
  };
  return {
    effect,
    written,
    set: (next: typeof mood) => {
      mood = next;
    },
  };
}

describe('the workflow kind', () => {
  const { effect, written, set } = scribe();
  let house: House;
  beforeEach(async () => {
    set('writes');
    written.length = 0;
    house = await openHouse([workflowKind({ evidence: effect })]);
  });
  afterEach(() => house.stop());
  const spawn = (definition: object, id = 'w') =>
    house.supervisor.spawn('workflow', { id, input: { definition } as never });
  const update = (definition: object, expectedVersion: number) =>
    house.supervisor.ask('workflow', 'w', { type: 'definition.update', definition, expectedVersion });
  const evidence = async () => seen(await house.supervisor.get('workflow', 'w'))['evidence'];
  const refusedAs = (answer: unknown) => (isRefusal(answer) ? answer.code : 'taken');

  it('keeps every version as it was written, over crashes', async () => {
    await spawn(chain('a'));
    await update({ ...chain('a', 'b'), status: 'paused' }, 1);
    await house.crash();
    await update({ ...chain('a', 'b', 'c'), status: 'active' }, 2);
    const rows = (await house.supervisor.rows({ kind: 'workflow', id: 'w' }, 'versions')).map(
      ({ n, row }) => [
        n,
        (row as { version: number }).version,
        (row as { status: string }).status,
        (row as { nodes: unknown[] }).nodes.length,
      ],
    );
    expect(rows).to.deep.equal([
      [1, 1, 'active', 2],
      [2, 2, 'paused', 3],
      [3, 3, 'active', 4],
    ]);
    expect(house.faults).to.deep.equal([]);
  });

  it('is paused from the start where its first version says so', async () => {
    expect(seen(await spawn({ ...chain('a'), status: 'paused' }))['status']).to.equal('paused');
    expect(
      (await house.supervisor.list('workflow', { index: 'name' })).items.map(({ id, key }) => [id, key]),
    ).to.deep.equal([['w', 'chain/']]);
  });

  it('refuses faulty and retired definitions at creation, no matter who embeds it', async () => {
    expect(refusedAs(await spawn({ title: 'x', nodes: [] }))).to.equal('WORKFLOW_INVALID');
    expect(refusedAs(await spawn({ ...chain('a'), status: 'retired' }))).to.equal('WORKFLOW_INVALID');
    expect(refusedAs(await house.supervisor.spawn('workflow', { id: 'x' }))).to.equal('WORKFLOW_INVALID');
    expect(await house.supervisor.get('workflow', 'w')).to.equal(undefined);
  });

  it('refuses what is no write, and its own words from others; nothing moved', async () => {
    await spawn(chain('a'));
    expect(refusedAs(await house.supervisor.ask('workflow', 'w', { type: 'version.written' }))).to.equal(
      'UNKNOWN_EVENT',
    );
    expect(refusedAs(await house.supervisor.ask('workflow', 'w', { type: 'definition.erase' }))).to.equal(
      'UNKNOWN_EVENT',
    );
    expect(refusedAs(await update(chain('b'), 7))).to.equal('VERSION_CONFLICT');
    expect(
      refusedAs(await house.supervisor.ask('workflow', 'w', { type: 'definition.update', definition: 5 })),
    ).to.equal('VERSION_CONFLICT');
    expect(refusedAs(await update(5 as never, 1))).to.equal('WORKFLOW_INVALID');
    expect(seen(await house.supervisor.get('workflow', 'w'))['version']).to.equal(1);
  });

  it('tries evidence again that could not be written, and says why it is missing until then', async () => {
    set('fails');
    await spawn(chain('a'));
    await house.environment.advance(0);
    expect(await evidence()).to.deep.equal({ version: 0, fault: 'The disk is full.' });
    set('writes');
    await house.environment.advance(60_000);
    expect(await evidence()).to.deep.equal({ version: 1, fault: null });
    expect(written).to.deep.equal([1]);
  });

  it('writes evidence after a crash that came between the version and its file', async () => {
    set('hangs');
    await spawn(chain('a'));
    await house.environment.advance(0);
    set('writes');
    await house.crash();
    await house.environment.advance(0);
    expect(await evidence()).to.deep.equal({ version: 1, fault: null });
  });

  it('holds the largest definition in a small snapshot, and refuses a larger one', async () => {
    const big = (chars: number) => ({
      ...chain('a'),
      nodes: [
        trigger,
        ...Array.from({ length: 90 }, (_, n) => noop(`n${n}`, { instructions: 'x'.repeat(chars) })),
      ],
      edges: Array.from({ length: 90 }, (_, n) => ({ id: `e${n}`, from: 't', to: `n${n}` })),
    });
    expect(seen(await spawn(big(2_000)))['nodeCount']).to.equal(91);
    const refused = await spawn(big(3_000), 'x');
    expect(isRefusal(refused) && JSON.stringify(refused.details)).to.include('definition-too-large');
    expect(house.faults).to.deep.equal([]);
  });

  it('knows who manages a department: its managers and executives, and who stands above them', () => {
    const roster = {
      employees: [
        { name: 'chief', rank: 'executive', department: 'board', reportsTo: null },
        { name: 'bob', rank: 'manager', department: 'build', reportsTo: 'chief' },
        { name: 'ann', rank: 'employee', department: 'build', reportsTo: 'bob' },
        { name: 'sue', rank: 'manager', department: 'sales', reportsTo: 'sue' },
      ],
    };
    expect(departmentManagers(roster, 'build')).to.deep.equal(['bob', 'chief']);
    expect(departmentManagers(roster, 'sales')).to.deep.equal(['sue']);
    expect(departmentManagers(roster, 'gone')).to.deep.equal([]);
  });
});
