import { movedEdges } from '../../machines/graph/difference.js';

/**
 * What a version of a workflow changes, as lines to read before it is approved: `- nodes.ask {…}`, `+ nodes.ask {…}`.
 * Elements with an id are compared by it, so that a node that moved is no change. The edges out of a node are asked in
 * their order, so that is. Stamps are left out.
 */
export function definitionChanges(before: Definition, after: Definition): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const members = [...names]
    .filter((name) => !stamps.has(name))
    .flatMap((name) => {
      const [old, now] = [byId(before[name]), byId(after[name])];
      return old === undefined || now === undefined
        ? linesOf(name, before[name], after[name])
        : [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((id) =>
            linesOf(`${name}.${id}`, old[id], now[id]),
          );
    });
  return [...members, ...orderChanges(edgesOf(before), edgesOf(after))];
}

/** For each node whose edges have changed places: `- order of edges from ask ["yes","no"]`. */
function orderChanges(before: readonly Edge[], after: readonly Edge[]): readonly string[] {
  const moved = new Set(movedEdges(before, after));
  const nodes = new Set(after.filter(({ id }) => moved.has(id)).map(({ from }) => from));
  const idsFrom = (edges: readonly Edge[], node: string): readonly string[] =>
    edges.filter(({ from }) => from === node).map(({ id }) => id);
  return [...nodes].flatMap((node) =>
    linesOf(`order of edges from ${node}`, idsFrom(before, node), idsFrom(after, node)),
  );
}

interface Edge {
  readonly id: string;
  readonly from: string;
}

function edgesOf({ edges }: Definition): readonly Edge[] {
  return Array.isArray(edges)
    ? edges.filter(
        (edge: Partial<Edge> | null): edge is Edge =>
          typeof edge?.id === 'string' && typeof edge.from === 'string',
      )
    : [];
}

type Definition = Readonly<Record<string, unknown>>;

const stamps = new Set(['version', 'status', 'createdAt', 'updatedAt', 'authority']);

function linesOf(place: string, before: unknown, after: unknown): readonly string[] {
  const [old, now] = [JSON.stringify(before), JSON.stringify(after)];
  if (old === now) return [];
  return [
    ...(old === undefined ? [] : [`- ${place} ${old}`]),
    ...(now === undefined ? [] : [`+ ${place} ${now}`]),
  ];
}

/** Undefined: not a list of things with an id each. */
function byId(value: unknown): Definition | undefined {
  if (!Array.isArray(value)) return undefined;
  const entries = value.map((one: { readonly id?: unknown } | null) => [one?.id, one] as const);
  const ids = new Set(entries.map(([id]) => id));
  if (ids.size < entries.length || [...ids].some((id) => typeof id !== 'string')) return undefined;
  return Object.fromEntries(entries) as Definition;
}
