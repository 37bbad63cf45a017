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
  /** Ids of edges that came, went or changed. */
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
  const edges = changesOf(stored.edges, next.edges);
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

/** Both come from the same reader, which writes members in one order. */
const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
