import { expect } from 'chai';
import fc from 'fast-check';
import { personOf, type Person } from '../../../../lib/records/roster/employee.js';
import { hierarchyOf } from '../../../../lib/records/roster/hierarchy.js';

const person = (name: string, rank: string, reportsTo?: string, department = 'build'): Person => {
  const made = personOf(
    { rank, department, ...(reportsTo !== undefined && { reportsTo }) },
    { name, department },
  );
  if ('fault' in made) throw new Error(made.fault);
  return made;
};
const warned = (people: readonly Person[], root: string | null = null) =>
  hierarchyOf(people, root).hierarchy.warnings.map(({ employee, type }) => `${employee} ${type}`);

describe('the hierarchy', () => {
  it('places everybody below the one executive who reports to no one', () => {
    const { hierarchy, places } = hierarchyOf(
      [
        person('ann', 'employee', 'bob'),
        person('bob', 'manager', 'chief'),
        person('chief', 'executive'),
        person('dan', 'employee'),
      ],
      null,
    );
    expect(hierarchy).to.deep.include({ root: 'chief', warnings: [] });
    expect(hierarchy.sorted).to.deep.equal(['chief', 'bob', 'ann', 'dan']);
    expect(places.get('ann')).to.deep.equal({
      parentName: 'bob',
      directReports: [],
      depth: 2,
      chain: ['chief', 'bob', 'ann'],
    });
    expect(places.get('dan')?.parentName, 'who names nobody stands below the root').to.equal('chief');
    expect(places.get('chief')).to.deep.include({
      parentName: null,
      directReports: ['bob', 'dan'],
      depth: 0,
    });
  });

  it('warns of references that lead nowhere, to oneself, round in a circle or into another department, and rests nothing on them', () => {
    const people = [
      person('chief', 'executive'),
      person('a', 'manager', 'b'),
      person('b', 'manager', 'c'),
      person('c', 'manager', 'a'),
      person('d', 'employee', 'a'),
      person('lost', 'employee', 'nobody'),
      person('vain', 'employee', 'vain'),
      person('far', 'employee', 'd', 'sales'),
    ];
    expect(warned(people)).to.have.members([
      'a cycle',
      'b cycle',
      'c cycle',
      'lost broken_ref',
      'vain self_ref',
      'far cross_department',
    ]);
    const { managers, places } = hierarchyOf(people, null);
    expect([...managers]).to.deep.equal([
      ['d', 'a'],
      ['far', 'd'],
    ]);
    for (const name of ['a', 'b', 'c', 'lost', 'vain'])
      expect(places.get(name)?.parentName, name).to.equal('chief');
  });

  it('takes the configured root of several, else the first, and says so', () => {
    const people = [person('one', 'executive'), person('two', 'executive'), person('ann', 'employee')];
    expect(hierarchyOf(people, null).hierarchy.root).to.equal('one');
    expect(hierarchyOf(people, 'two').hierarchy.root).to.equal('two');
    expect(
      hierarchyOf(people, 'ann').hierarchy.root,
      'an employee cannot be made root by configuration',
    ).to.equal('one');
    expect(warned(people, 'two')).to.deep.equal(['one multiple_executives']);
  });

  it('has no root where no executive is', () => {
    expect(hierarchyOf([person('ann', 'employee')], null).hierarchy.root).to.equal(null);
    expect(hierarchyOf([], null).hierarchy).to.deep.equal({ root: null, sorted: [], warnings: [] });
  });

  it('places everybody once and ends every chain, whatever the references', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const someone = fc.record({
      rank: fc.constantFrom('executive', 'manager', 'employee'),
      ref: fc.option(fc.constantFrom(...names, 'nobody'), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(someone, { maxLength: 6 }), (drawn) => {
        const people = drawn.map(({ rank, ref }, place) => person(names[place] ?? '', rank, ref));
        const { hierarchy, places } = hierarchyOf(people, null);
        expect([...hierarchy.sorted].sort()).to.deep.equal(people.map(({ name }) => name).sort());
        for (const [name, { chain, parentName, depth }] of places) {
          expect(new Set(chain).size).to.equal(chain.length);
          expect([chain.at(-1), chain.length - 1]).to.deep.equal([name, depth]);
          expect(parentName).to.equal(chain.at(-2) ?? null);
        }
      }),
      { numRuns: 300 },
    );
  });
});
