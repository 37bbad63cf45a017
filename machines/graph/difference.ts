import type { WorkflowDefinition } from './definition.js';

/** What a write would change in what is stored. */
export interface DefinitionDifference {
  /** Version that it was compared with. */
  readonly storedVersion: number;
  /** False where both say the same. */
  readonly changed: boolean;
  /** Members of the definition, but for its nodes and edges. */
  readonly members: readonly string[];
  /** Ids of nodes that came, went or changed. */
  readonly nodes: Changes;
  /** Ids of edges that came, went or changed, or are asked in another order: a switch takes the first that holds. */
  readonly edges: Changes;
}
export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

const compared = [
  'name',
  'title',
  'description',
  'status',
  'owner',
  'department',
  'runners',
  'orchestrator',
  'input',
  'runGates',
  'loop',
  'concurrency',
  'layout',
] as const;

/**
 * What changed between two versions of a definition. Never throws.
 * @example const { nodes } = differenceOf(definition, { ...definition, name: 'Digest' });
 */
export function differenceOf(stored: WorkflowDefinition, next: WorkflowDefinition): DefinitionDifference {
  const members = compared.filter((member) => !same(stored[member], next[member]));
  const nodes = changesOf(stored.nodes, next.nodes);
  const edges = withMoved(changesOf(stored.edges, next.edges), stored.edges, next.edges);
  const changed =
    members.length > 0 ||
    [nodes, edges].some(({ added, removed, changed }) => added.length + removed.length + changed.length > 0);
  return { storedVersion: stored.version, changed, members, nodes, edges };
}

function changesOf(
  before: readonly { readonly id: string }[],
  after: readonly { readonly id: string }[],
): Changes {
  const old = new Map(before.map((one) => [one.id, one]));
  const now = new Map(after.map((one) => [one.id, one]));
  return {
    added: [...now.keys()].filter((id) => !old.has(id)),
    removed: [...old.keys()].filter((id) => !now.has(id)),
    changed: [...now].filter(([id, one]) => old.has(id) && !same(old.get(id), one)).map(([id]) => id),
  };
}

type Edges = WorkflowDefinition['edges'];

function withMoved(changes: Changes, before: Edges, after: Edges): Changes {
  const moved = movedEdges(before, after).filter((id) => !changes.changed.includes(id));
  return { ...changes, changed: [...changes.changed, ...moved] };
}

/**
 * Edges that stay, but have changed places with another one out of the same node.
 * @example movedEdges([{ id: 'a', from: 'ask' }, { id: 'b', from: 'ask' }], reversed) // ['b', 'a']
 */
export function movedEdges(
  before: readonly Pick<Edges[number], 'id' | 'from'>[],
  after: readonly Pick<Edges[number], 'id' | 'from'>[],
): readonly string[] {
  const fromBefore = new Map(before.map(({ id, from }) => [id, from]));
  const stays = after.filter(({ id, from }) => fromBefore.get(id) === from);
  const staying = new Set(stays.map(({ id }) => id));
  const old = before.filter(({ id }) => staying.has(id));
  return stays
    .filter(({ id, from }) => {
      const siblings = (edges: typeof stays): readonly string[] =>
        edges.filter((edge) => edge.from === from).map((edge) => edge.id);
      return siblings(old).indexOf(id) !== siblings(stays).indexOf(id);
    })
    .map(({ id }) => id);
}

/** Both come from the same reader, which writes members in one order. */
const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
