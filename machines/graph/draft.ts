import type { WorkflowDefinition } from './definition.js';
import type { GraphFault } from './reader.js';

/**
 * A trigger alone is a draft: editors save it before its first step is drawn. It is sound as far as it goes, and
 * no run of it can start.
 */
export const isDraft = ({ nodes }: Pick<WorkflowDefinition, 'nodes'>): boolean =>
  nodes.length === 1 && nodes[0]?.type === 'trigger';

/** Why a definition without steps cannot run. */
export const noSteps: GraphFault = { code: 'no-steps', message: 'The workflow has no steps.' };
