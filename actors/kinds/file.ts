import {
  admitFile,
  fileMachine,
  filePolicy,
  type FileContext,
  type FileInput,
} from '../../machines/file/machine.js';
import { isoTime } from '../../machines/iso-time.js';
import { checkShape } from '../../machines/shape.js';
import { sortable } from '../../machines/sortable.js';
import type { Kind } from '../contracts.js';

/**
 * Managed files as a kind: what is known of them. The bytes are lib/records' matter. Lists: `all`, newest
 * first.
 */
export function fileKind(): Kind<typeof fileMachine> {
  return {
    kind: 'file',
    version: 2,
    /** Its chart says when, and no longer who; states and context are the same. */
    migrate: { 1: (old) => old },
    machine: fileMachine,
    policy: (_snapshot, event, authority) => filePolicy(event, authority),
    // The kernel passes inputs on as JSON; the command has made this one
    validateInput: (input) => admitFile(input as unknown as FileInput),
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
  };
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
