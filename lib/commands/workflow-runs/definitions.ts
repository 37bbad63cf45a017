import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { App } from '../app.js';

/**
 * A version; without a number the newest. Versions never change, so those that are run again and again are
 * remembered.
 */
export async function definitionAt(
  { supervisor }: App,
  id: string,
  version?: number,
): Promise<WorkflowDefinition | undefined> {
  if (!sound(id)) return undefined;
  const known = rememberedOf(supervisor);
  const remembered = known.get(`${id}@${version ?? ''}`);
  if (remembered !== undefined) return remembered;
  const [row] = await supervisor.rows(
    { kind: 'workflow', id },
    'versions',
    version === undefined ? { last: 1 } : { after: version - 1, limit: 1 },
  );
  const definition = row?.row;
  if (definition === undefined || (version !== undefined && definition.version !== version)) return undefined;
  if (version !== undefined) {
    if (known.size >= rememberedMax) known.delete(known.keys().next().value ?? '');
    known.set(`${id}@${version}`, definition);
  }
  return definition;
}

/** What could be an id at all. */
export const sound = (id: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(id);

const rememberedMax = 64;
const remembered = new WeakMap<object, Map<string, WorkflowDefinition>>();
function rememberedOf(supervisor: object): Map<string, WorkflowDefinition> {
  let known = remembered.get(supervisor);
  if (known === undefined) remembered.set(supervisor, (known = new Map<string, WorkflowDefinition>()));
  return known;
}
