import type { WorkflowDefinition } from '../../../machines/graph/definition.js';

/** A patch replaces whole members of the stored definition. What it may not touch stands there as a member that no definition has, and is refused with all other faults (`recordAt` names it). */
export function merged(stored: WorkflowDefinition, patch: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const fixed = Object.keys(patch).filter((member) => fixedMembers.has(member) && patch[member] !== stored[member as keyof WorkflowDefinition]);
  const whole = { ...stored, ...patch, ...Object.fromEntries(fixed.map((member) => [member, stored[member as keyof WorkflowDefinition]])), ...Object.fromEntries(fixed.map((member) => [`patch.${member}`, 'fixed'])) };
  if (patch['loop'] === undefined || patch['edges'] !== undefined) return whole;
  // Edges that took their ceiling from the old loop take it from the new one.
  const ceiling = stored.loop?.maxRoundsPerRun ?? null;
  return { ...whole, edges: stored.edges.map((edge) => (edge.kind === 'loop' && edge.maxRounds === ceiling ? { ...edge, maxRounds: null } : edge)) };
}

const fixedMembers = new Set(['id', 'version', 'createdBy', 'createdAt', 'updatedAt', 'schemaVersion']);
