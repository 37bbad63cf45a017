/**
 * What a version of a workflow changes, as lines to read before it is approved: `- nodes.ask {…}`, `+ nodes.ask {…}`.
 * Elements with an id are compared by it, so that one that moved is no change. Stamps are left out.
 */
export function definitionChanges(before: Definition, after: Definition): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !stamps.has(name))
    .flatMap((name) => {
      const [old, now] = [byId(before[name]), byId(after[name])];
      return old === undefined || now === undefined
        ? linesOf(name, before[name], after[name])
        : [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((id) =>
            linesOf(`${name}.${id}`, old[id], now[id]),
          );
    });
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
