import { excerpt } from '../excerpt.js';
import type { WorkflowStatus } from '../graph/definition.js';
import { titleCharsMax, type Waiting } from '../waiting.js';
import type { WorkflowContext } from './context.js';

/** A version that an agent wrote and that starts only after a person approved exactly it; its id is the version. */
export const workflowWaiting = (
  status: WorkflowStatus,
  { title, version, authority, updatedAt }: WorkflowContext,
): readonly Waiting[] =>
  status === 'retired' || authority.state !== 'pending_approval'
    ? []
    : [
        {
          id: String(version),
          what: 'version',
          title: excerpt(`${title}, version ${version}: ${authority.reasons.join('; ')}`, titleCharsMax),
          on: 'operator',
          since: updatedAt,
          until: null,
        },
      ];
