import { expect } from 'chai';
import { definitionChanges } from '../../../lib/cli/definition-changes.js';

/** Who approved a version read it whole, and had to find what an agent had changed in it. */
describe('what a version of a workflow changes', () => {
  const before = {
    title: 'Digest',
    version: 3,
    updatedAt: 'then',
    nodes: [
      { id: 'ask', instructions: 'Read' },
      { id: 'post', url: 'https://example.org/' },
    ],
  };

  it('is nothing where only stamps and places differ', () => {
    const after = { ...before, version: 4, updatedAt: 'now', nodes: [...before.nodes].reverse() };
    expect(definitionChanges(before, after)).to.deep.equal([]);
  });

  it('is each member and each step that was added, changed or removed, old and new', () => {
    const after = {
      title: 'Digest',
      owner: 'ann',
      nodes: [
        { id: 'ask', instructions: 'Read all' },
        { id: 'mail', to: 'eve' },
      ],
    };
    expect(definitionChanges(before, after)).to.deep.equal([
      '- nodes.ask {"id":"ask","instructions":"Read"}',
      '+ nodes.ask {"id":"ask","instructions":"Read all"}',
      '- nodes.post {"id":"post","url":"https://example.org/"}',
      '+ nodes.mail {"id":"mail","to":"eve"}',
      '+ owner "ann"',
    ]);
  });

  // The edges out of a node are asked in their order: two that changed places were shown as no change to approve
  it('is the order of edges out of one node, and of no others', () => {
    const edge = (id: string, from: string) => ({ id, from, to: 'post' });
    const edges = [edge('yes', 'ask'), edge('first', 'start'), edge('no', 'ask')];
    expect(
      definitionChanges(
        { edges },
        { edges: [edge('first', 'start'), edge('yes', 'ask'), edge('no', 'ask')] },
      ),
    ).to.deep.equal([]);
    expect(
      definitionChanges(
        { edges },
        { edges: [edge('no', 'ask'), edge('yes', 'ask'), edge('first', 'start')] },
      ),
    ).to.deep.equal(['- order of edges from ask ["yes","no"]', '+ order of edges from ask ["no","yes"]']);
  });

  it('compares whole what has no ids, or one id twice', () => {
    const twice = [{ id: 'a' }, { id: 'a', more: 1 }];
    expect(definitionChanges({ nodes: [{ id: 'a' }] }, { nodes: twice })).to.deep.equal([
      '- nodes [{"id":"a"}]',
      '+ nodes [{"id":"a"},{"id":"a","more":1}]',
    ]);
  });
});
