import { expect } from 'chai';
import { workItemKind } from '../../../actors/work-item/kind.js';
import type { Caller } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import { gateMatrix, type Relation } from '../../../machines/workflow-run/authority.js';
import { matchesGlob } from '../../../machines/workflow-run/gates.js';
import { openHouse, settled, type House } from '../../fixtures/house.js';
import {
  chain,
  definitionOf,
  edge,
  farSide,
  noop,
  receiptsOf,
  runInput,
  runKind,
  runOf,
  step,
  told,
  type Far,
} from '../../fixtures/workflow.js';

const roster = {
  employees: [
    { name: 'chief', rank: 'executive', reportsTo: null },
    { name: 'vice', rank: 'executive', reportsTo: 'chief' },
    { name: 'bob', rank: 'manager', reportsTo: 'chief' },
    { name: 'ann', rank: 'employee', reportsTo: 'bob' },
    { name: 'cat', rank: 'employee', reportsTo: 'chief' },
  ],
};
const as = (employee: string, id = `of-${employee}`): Caller => ({
  type: 'session',
  id,
  employee,
  ancestors: [],
});
const gate = (id: string, more: object = {}) => ({
  id,
  type: 'gate',
  gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?', ...more },
});
const by: Caller = { type: 'operator' };

describe('a gate', () => {
  let house: House;
  let far: Far;
  afterEach(async () => {
    expect(house.faults).to.deep.equal([]);
    await house.stop();
  });
  async function begin(
    raw: object,
    more: Parameters<typeof runInput>[1] = {},
    answer?: Far['answer'],
    facts: object = {},
  ): Promise<void> {
    const definition = definitionOf(raw);
    far = farSide(definition);
    if (answer !== undefined) far.answer = answer;
    house = await openHouse([runKind(far)], { facts: facts as never });
    await house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition, more) });
    await house.environment.settle();
  }
  const view = () => runOf(house.supervisor);
  const receipts = async () => told(await receiptsOf(house.supervisor));
  const decide = (caller: Caller = by, decision = 'approve', more: object = {}) =>
    settled(
      house,
      house.supervisor.ask('workflow-run', 'r', { type: 'gate.resolve', decision, ...more }, { by: caller }),
    );

  it('parks the run for a week, over a restart, and goes on when it is opened', async () => {
    await begin({ nodes: [gate('g'), step('a')], edges: chain('g', 'a') });
    expect((await view()).status).to.equal('parked');
    await house.environment.advance(3 * 86_400_000);
    await house.crash();
    await house.environment.advance(4 * 86_400_000);
    expect((await view()).status).to.equal('parked');
    await decide();
    expect(await receipts()).to.equal('trigger:fired g:checkpoint a:done');
    expect((await decide()) as unknown).to.deep.include({ code: 'CONFLICT', status: 409 });
  });

  describe('that a work item shows', () => {
    async function shown(approvalRef: string): Promise<() => Promise<Record<string, unknown>>> {
      const definition = definitionOf({
        nodes: [gate('g', { approvalRef }), noop('a')],
        edges: chain('g', 'a'),
      });
      far = farSide(definition);
      house = await openHouse([runKind(far), workItemKind()], { facts: { roster } as never });
      await house.supervisor.spawn('work-item', {
        id: 'TRP-1',
        input: {
          title: 'Ship',
          body: null,
          acceptance: null,
          assignee: 'bob',
          department: null,
          verifyPolicy: null,
          source: 'human',
          sourceRef: null,
          createdBy: 'operator',
        },
      });
      await house.supervisor.spawn('workflow-run', {
        id: 'r',
        input: runInput(definition, { workItemId: 'TRP-1' }),
      });
      await house.environment.settle();
      return async () => (await house.supervisor.get('work-item', 'TRP-1'))?.view as Record<string, unknown>;
    }

    it('is decided there, too, where the run was decided before the item showed it: the item once waited for ever', async () => {
      const item = await shown('chief');
      expect(await item()).to.include({ approvalState: 'pending', approvalTarget: 'chief' });
      await decide(as('chief'), 'approve', { note: 'fine' });
      expect([(await view()).status, (await item())['approvalState']]).to.deep.equal([
        'completed',
        'approved',
      ]);
      expect(isRefusal(await house.supervisor.ask('work-item', 'TRP-1', { type: 'item.archive' }))).to.equal(
        false,
      );
    });

    it('takes no other approval of that item with it when the run ends: it once rejected what someone else had asked', async () => {
      const item = await shown('bob'); // the owner cannot be asked, so the item does not show the gate
      await house.supervisor.ask('work-item', 'TRP-1', {
        type: 'approval.request',
        requestId: 'own',
        request: 'May I?',
        target: 'chief',
      });
      await house.supervisor.ask('workflow-run', 'r', { type: 'run.cancel' });
      await house.environment.settle();
      expect([(await view()).status, (await item())['approvalState']]).to.deep.equal([
        'cancelled',
        'pending',
      ]);
    });
  });

  it('costs no memory while it waits, beyond the awake actors', async () => {
    const definition = definitionOf({ nodes: [gate('g'), noop('a')], edges: chain('g', 'a') });
    far = farSide(definition);
    house = await openHouse([runKind(far)], { limits: { awakeActorsMax: 64 } });
    for (let n = 0; n < 300; n += 1)
      await house.supervisor.spawn('workflow-run', { id: `r${n}`, input: runInput(definition) });
    await house.environment.settle();
    expect(house.supervisor.status.awake).to.be.at.most(64);
    expect((await runOf(house.supervisor, 'r7')).status).to.equal('parked');
    await house.supervisor.ask('workflow-run', 'r7', { type: 'gate.resolve', decision: 'approve' });
    await house.environment.settle();
    expect((await runOf(house.supervisor, 'r7')).status).to.equal('completed');
  });

  it('is rejected at its deadline', async () => {
    await begin({ nodes: [gate('g', { timeoutMinutes: 60 }), noop('a')], edges: chain('g', 'a') });
    await house.environment.advance(3_600_001);
    expect((await view()).errors).to.deep.equal([
      { code: 'GATE_REJECTED', message: 'no decision in time', ref: 'g' },
    ]);
  });

  it('escalates by itself when no one answers', async () => {
    await begin(
      { nodes: [gate('g'), noop('a')], edges: chain('g', 'a') },
      { requester: { employee: 'ann', sessionId: 'of-ann' } },
      undefined,
      { roster },
    );
    expect((await view()).parked).to.deep.include({ target: 'bob', escalatedAt: null });
    expect(await decide()).to.include({ code: 'NOT_ROUTED' });
    await house.environment.advance(86_400_001);
    expect((await view()).parked?.escalatedAt).to.be.a('string');
    await decide();
    expect((await view()).status).to.equal('completed');
  });

  it('before a step parks it, and stands in the way of nothing else', async () => {
    await begin({
      nodes: [
        noop('s'),
        step('a', {
          gates: [
            { kind: 'approval', approvalRef: 'x', description: 'May a?' },
            { kind: 'approval', approvalRef: 'y', description: 'Really?' },
          ],
        }),
        step('b'),
      ],
      edges: [edge('s', 'a'), edge('s', 'b')],
    });
    expect(far.acts).to.deep.equal(['b@1:1']);
    await decide();
    expect((await view()).status).to.equal('parked');
    await decide();
    expect(far.acts).to.deep.equal(['b@1:1', 'a@1:1']);
    expect((await view()).status).to.equal('completed');
  });

  it('of the whole run stands before its first step', async () => {
    await begin({
      nodes: [step('a')],
      runGates: [{ kind: 'approval', approvalRef: 'x', description: 'May it?' }],
    });
    expect([far.acts.length, (await view()).status]).to.deep.equal([0, 'parked']);
    await decide();
    expect((await view()).status).to.equal('completed');
  });

  it('for a flag or an artifact opens when an outcome brings it, before or after', async () => {
    let bring = (): void => undefined;
    const flagged = { id: 'f', type: 'gate', gate: { kind: 'flag', flag: 'tested', description: 'Tested?' } };
    const built = {
      id: 'o',
      type: 'gate',
      gate: { kind: 'artifact', glob: 'out/**/*.pdf', description: 'Built?' },
    };
    await begin(
      {
        nodes: [step('a'), step('b'), flagged, built, noop('end')],
        edges: [edge('a', 'f'), edge('a', 'o'), edge('f', 'end'), edge('o', 'end'), edge('b', 'end')],
      },
      {},
      ({ nodeId }) =>
        nodeId === 'a'
          ? { artifacts: ['out/x/y/report.pdf'] }
          : new Promise((resolve) => {
              bring = () => resolve({ fields: { tested: true } });
            }),
    );
    expect((await view()).gates).to.have.length(1);
    bring();
    await house.environment.settle();
    expect(await receipts()).to.equal('trigger:fired a:done b:done f:checkpoint o:checkpoint end:done');
  });

  it('is rejected with a note, and the run says so', async () => {
    await begin({ nodes: [gate('g'), noop('a')], edges: chain('g', 'a') });
    await decide(by, 'reject', { note: 'too dear' });
    expect(await view()).to.deep.include({ status: 'failed' });
    expect((await view()).gateDecisions[0]).to.include({
      gateKey: 'g/g@1',
      decision: 'reject',
      actor: 'operator',
      note: 'too dear',
    });
  });

  describe('is decided', () => {
    const callers: Readonly<Record<Relation, Caller | undefined>> = {
      operator: by,
      system: { type: 'system', part: 'test' },
      requester: as('ann'),
      'routed manager': as('bob'),
      root: as('chief'),
      executive: as('vice'),
      other: as('cat'),
    };
    const columns = {
      manager: { employee: 'ann', sessionId: 'of-ann' },
      root: { employee: 'bob', sessionId: 'of-bob' },
      escalated: { employee: 'ann', sessionId: 'of-ann' },
    } as const;
    for (const [column, requester] of Object.entries(columns)) {
      for (const [standing, caller] of Object.entries(callers)) {
        if (
          caller === undefined ||
          (column === 'root' && (standing === 'routed manager' || standing === 'requester'))
        )
          continue; // bob asks there himself
        const cell = gateMatrix[standing as Relation][column as keyof typeof columns];
        it(`${cell === 'yes' ? '' : 'not '}by ${standing}, when it is ${column === 'escalated' ? column : `routed to the ${column}`}`, async () => {
          await begin({ nodes: [gate('g'), noop('a')], edges: chain('g', 'a') }, { requester }, undefined, {
            roster,
          });
          if (column === 'escalated')
            await house.supervisor.ask('workflow-run', 'r', { type: 'gate.escalate' }, { by: as('bob') });
          const answer = await decide(caller);
          expect(isRefusal(answer) ? answer.code : 'yes').to.equal(cell);
          expect((await view()).status).to.equal(cell === 'yes' ? 'completed' : 'parked');
        });
      }
    }
  });

  it('matches globs in bounded time', async () => {
    await begin({ nodes: [noop('a')] });
    expect(matchesGlob('*.pdf', 'a.pdf')).to.equal(true);
    expect(matchesGlob('*.pdf', 'x/a.pdf')).to.equal(false);
    expect(matchesGlob('**.pdf', 'x/a.pdf')).to.equal(true);
    expect(matchesGlob('a?c', 'abc') && !matchesGlob('a?c', 'a/c')).to.equal(true);
    // What backtracks does not come back from this
    expect(matchesGlob('*a'.repeat(40), 'a'.repeat(400) + 'b')).to.equal(false);
  });
});
