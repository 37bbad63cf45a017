import type { WorkflowDefinition } from '../../../machines/graph/definition.js';

/**
 * A definition as its author would write it: without what a home stamps on it, and in every home the same.
 * @example authored(stored) // { id: 'watering', title: 'Watering', nodes: […], edges: […] }
 */
export function authored(definition: WorkflowDefinition): Readonly<Record<string, unknown>> & { id: string } {
  const {
    version: _version,
    createdBy: _by,
    createdAt: _created,
    updatedAt: _updated,
    ...written
  } = definition;
  return written;
}
