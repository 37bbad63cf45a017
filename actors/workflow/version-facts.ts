import { createHash } from 'node:crypto';
import { isPersonName } from '../../machines/caller.js';
import { parseDefinition } from '../../machines/graph/read-definition.js';
import type { Json } from '../../machines/outputs.js';
import type { Persisted } from '../contracts.js';
import { managersOf, rootOf, type Roster } from '../work-item/facts.js';

/** What a workflow must know to say with whose rights a version acts: see machines/workflow/version-authority.ts. */
export interface VersionFacts {
  /** Of all but the status and what only the kind itself writes: the same steps have the same digest. */
  readonly digest: string;
  /** By employee that the definition names: who stands above, the root always. */
  readonly above: Readonly<Record<string, readonly string[]>>;
}

export function versionFacts(roster: Roster | undefined, written: object): VersionFacts {
  const { definition } = parseDefinition(written);
  const {
    status: _status,
    version: _version,
    createdBy: _by,
    createdAt: _at,
    updatedAt: _on,
    ...content
  } = definition;
  return {
    digest: createHash('sha256').update(JSON.stringify(content)).digest('base64url'),
    above: roster === undefined ? {} : aboveNamed(roster, content),
  };
}

type Content = Pick<ReturnType<typeof parseDefinition>['definition'], 'nodes'>;

function aboveNamed(roster: Roster, { nodes }: Content): VersionFacts['above'] {
  const root = rootOf(roster);
  const names = nodes.flatMap((node) => {
    if (node.type === 'step') return node.actor.kind === 'employee' ? [node.actor.ref] : [];
    return node.type === 'trigger' && node.trigger.kind === 'todo-status-change'
      ? [node.trigger.filter.assignee ?? '']
      : [];
  });
  const managers = (name: string): readonly string[] => [
    ...new Set([...managersOf(roster, name), ...(root === null ? [] : [root])]),
  ];
  return Object.fromEntries(names.map((name) => [name, managers(name)]));
}

/**
 * Of a workflow of before versions carried authority: the record says who wrote the newest. What an agent wrote
 * that starts by itself waits for a person; what else it wrote acts with its rights.
 */
export function versionAuthorityBefore({ version = 1, updatedBy = '', trigger }: Persisted['context']): Json {
  const person = isPersonName(String(updatedBy));
  const byItself = (trigger as { readonly kind?: unknown } | undefined)?.kind !== 'manual';
  return {
    version,
    writtenBy: updatedBy,
    state: person ? 'approved' : byItself ? 'pending_approval' : 'unapproved',
    approvedBy: person ? updatedBy : null,
    reasons: person || !byItself ? [] : ['it starts by itself'],
    digest: null,
  };
}
