import { expect } from 'chai';
import { managersOf, rootOf, workItemFacts, type Roster } from '../../../actors/work-item/facts.js';
import { firstContext, type WorkItemInput } from '../../../machines/work-item/context.js';

const roster: Roster = {
  employees: [
    { name: 'chief', rank: 'executive' },
    { name: 'vp', rank: 'executive', reportsTo: 'chief' },
    { name: 'bob-lead', rank: 'manager', reportsTo: 'chief', department: 'build' },
    { name: 'ann', rank: 'employee', reportsTo: 'bob-lead', department: 'build' },
    { name: 'loose', rank: 'employee', reportsTo: 'nobody-at-all' },
    { name: 'egg', rank: 'manager', reportsTo: 'hen' },
    { name: 'hen', rank: 'manager', reportsTo: 'egg' },
  ],
};
const context = (assignee: string | null) =>
  firstContext({
    id: 'TRP-1',
    at: 0,
    title: 'x',
    body: null,
    acceptance: null,
    assignee,
    department: null,
    verifyPolicy: null,
    source: 'human',
    sourceRef: null,
    createdBy: 'operator',
  } satisfies WorkItemInput);

describe('the facts about a work item', () => {
  it('name root, managers and executives of its owner', () => {
    expect(workItemFacts(context('ann'), { type: 'item.move' }, roster)).to.deep.equal({
      root: 'chief',
      managers: ['bob-lead', 'chief'],
      executives: ['chief', 'vp'],
      named: null,
    });
    expect(workItemFacts(context(null), { type: 'item.move' }, roster).managers).to.deep.equal([]);
  });

  it('are empty without a roster, or with one that is none', () => {
    for (const none of [undefined, null, {}, 'people']) {
      expect(
        workItemFacts(context('ann'), { type: 'item.assign', assignee: 'x' } as { type: string }, none),
      ).to.deep.equal({ root: null, managers: [], executives: [], named: null });
    }
  });

  it('know no one where a roster is kept and empty: the operator is the root, and every name is unknown', () => {
    expect(
      workItemFacts(context('ann'), { type: 'item.assign', assignee: 'x' } as { type: string }, {
        employees: [],
      }),
    ).to.deep.equal({
      root: null,
      managers: [],
      executives: [],
      named: { known: false, department: null, suggestion: null },
    });
  });

  it('say whether the employee whom an event names is known, where, and who may be meant', () => {
    const named = (event: Record<string, unknown>) =>
      workItemFacts(context('ann'), { type: 'x', ...event }, roster).named;
    expect(named({ assignee: 'ann' })).to.deep.equal({ known: true, department: 'build', suggestion: null });
    expect(named({ assignee: 'anne' })).to.deep.equal({ known: false, department: null, suggestion: 'ann' });
    expect(named({ target: 'bob-leed' })?.suggestion).to.equal('bob-lead');
    expect(named({ patch: { assignee: 'zebedee' } })?.suggestion).to.equal(null);
    expect(named({ input: { assignee: 'chief' } })?.known).to.equal(true);
    expect(named({ target: null })).to.equal(null);
  });

  it('survive a roster with a circle or a manager who is not there', () => {
    expect(managersOf(roster, 'egg')).to.deep.equal(['hen']);
    expect(managersOf(roster, 'loose')).to.deep.equal([]);
  });

  it('take the configured root among several, else the first', () => {
    const two: Roster = {
      employees: [
        { name: 'one', rank: 'executive' },
        { name: 'two', rank: 'executive' },
      ],
    };
    expect([
      rootOf(two),
      rootOf({ ...two, root: 'two' }),
      rootOf({ ...two, root: 'three' }),
      rootOf({ employees: [] }),
    ]).to.deep.equal(['one', 'two', 'one', null]);
  });
});
