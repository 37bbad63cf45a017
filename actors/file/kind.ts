import { admitFile, fileMachine, filePolicy, type FileContext } from '../../machines/file/machine.js';
import { isoTime, sortable } from '../../machines/sortable.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';

/**
 * Managed files as a kind: what is known of them. The bytes are lib/records' matter. Lists: `all`, newest
 * first.
 */
export function fileKind() {
  return defineKind({
    kind: 'file',
    version: 3,
    migrate: {
      /** Its chart says when, and no longer who; states and context are the same. */
      1: (old) => old,
      /** Removed, it forgets its name; what was removed before keeps it. */
      2: (old) => old,
    },
    machine: fileMachine,
    policy: (_snapshot, event, authority) => filePolicy(event, authority),
    validateInput: (input) => admitFile(input),
    view: ({ value, context }) => ({
      ...metaOf(context),
      status: value,
      sha256: context.sha256,
      createdBy: context.createdBy,
    }),
    index: ({ value, context }) =>
      value === 'stored'
        ? [{ index: 'all', key: sortable(context.createdAt, { descending: true }), row: metaOf(context) }]
        : [],
    keptInBundles: ['id', 'createdBy', 'sessionId', 'mimetype'],
    validateContext: checkShape({
      id: 'string',
      filename: 'string',
      size: 'number',
      mimetype: 'string',
      path: 'string',
      sha256: 'string',
      sessionId: 'string?',
      createdAt: 'number',
      createdBy: 'string',
    }),
  });
}

/** What lists and routes show of a file. */
const metaOf = ({ id, filename, size, mimetype, path, sessionId, createdAt }: FileContext) => ({
  id,
  filename,
  size,
  mimetype,
  path,
  sessionId,
  createdAt: isoTime(createdAt),
});
