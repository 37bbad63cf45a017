import type { WorkflowStatus } from '../graph/definition.js';
import { isoTime, sortable } from '../sortable.js';
import type { WorkflowContext } from './context.js';
import type { VersionAuthority } from './version-authority.js';
import { excerpt } from '../text.js';
import { titleCharsMax, type Waiting } from '../waiting.js';

/** A workflow as callers see it: its head. The graph of a version is a row of `versions`. */
export type WorkflowView = ReturnType<typeof workflowView>;

/**
 * A workflow as the API shows it. Never throws.
 * @example
 *   const view = ({ value, context }: SnapshotFrom<typeof workflowMachine>) => workflowView(value, context);
 */
export function workflowView(value: unknown, context: WorkflowContext) {
  const {
    id,
    name,
    title,
    version,
    owner,
    department,
    runners,
    concurrency,
    trigger,
    nodeCount,
    edgeCount,
    createdBy,
    updatedBy,
    authority,
    evidence,
  } = context;
  return {
    id,
    name,
    title,
    status: statusOf(value),
    version,
    updatedAt: isoTime(context.updatedAt),
    nodeCount,
    edgeCount,
    owner,
    department,
    runners,
    concurrency,
    trigger,
    createdBy,
    createdAt: isoTime(context.createdAt),
    updatedBy,
    authority: shownAuthority(authority),
    evidence,
  };
}

/** What lists show. */
function workflowRow(value: unknown, context: WorkflowContext) {
  const { id, name, title, version, owner, department, nodeCount, edgeCount } = context;
  return {
    id,
    name,
    title,
    status: statusOf(value),
    version,
    updatedAt: isoTime(context.updatedAt),
    nodeCount,
    edgeCount,
    owner,
    department,
    authority: context.authority.state,
  };
}

/** With whose rights the newest version acts; without what only the kind itself needs. */
const shownAuthority = ({ digest: _digest, ...shown }: VersionAuthority) => shown;

/**
 * Lists: `all`, newest change first; `pending`, whose newest version waits for a person; `name` of those that
 * are not retired; `schedule` of those that are woken
 * by the clock.
 */
export function workflowIndex(value: unknown, context: WorkflowContext) {
  const status = statusOf(value);
  return [
    {
      index: 'all',
      key: sortable(context.updatedAt, { descending: true }),
      row: workflowRow(value, context),
    },
    ...(status !== 'retired' && context.authority.state === 'pending_approval'
      ? [{ index: 'pending', key: sortable(context.updatedAt), row: pendingRow(context) }]
      : []),
    ...(status === 'retired' ? [] : [{ index: 'name', key: namePlace(context.name) }]),
    ...(status === 'active' && context.trigger.kind !== 'manual'
      ? [{ index: context.trigger.kind, key: context.id, row: { ...context.trigger } }]
      : []),
  ];
}

const pendingRow = ({ id, title, authority }: WorkflowContext) => ({
  workflowId: id,
  title,
  ...shownAuthority(authority),
});

/** The word of the region that tells where it stands. */
export const statusOf = (value: unknown): WorkflowStatus =>
  (value as { readonly status: WorkflowStatus }).status;

/** Where a workflow stands by its name. Closed by a `/`, so that it is no beginning of another one. */
export const namePlace = (name: string): string => `${name}/`;

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
