import type { Json } from '../outputs.js';
import { isoTime, isoTimeOrNull, sortable, sortableText } from '../sortable.js';
import type { SessionContext } from './context.js';
import type { KeptOutput } from './kept-output.js';
import { pending, policyOf } from './permissions.js';
import { nativeId } from './turns.js';
import { sessionKey } from './rows.js';
import { excerpt } from '../text.js';
import { titleCharsMax, type Waiting } from '../waiting.js';

/**
 * The session record of the API. Times are ISO-8601; `effort` and `parent` are second names of `effortLevel`
 * and `parentSessionId`.
 */
export type SessionView = ReturnType<typeof sessionView>;

/**
 * A session as the API shows it. Never throws.
 * @example
 *   const view = ({ value, context }: SnapshotFrom<typeof sessionMachine>) =>
 *     sessionView(sessionStatusOf(value), context);
 */
export function sessionView(status: SessionStatus, context: SessionContext) {
  return {
    id: context.id,
    engine: context.engine,
    engineSessionId: nativeId(context),
    engineSessions: Object.keys(context.engineSessions).length === 0 ? null : context.engineSessions,
    source: context.source,
    sourceRef: context.sourceRef,
    connector: null,
    sessionKey: sessionKey(context),
    workItemId: context.workItemId,
    replyContext: null,
    messageId: context.turn?.items.at(-1)?.id ?? null,
    transportMeta: null,
    employee: context.employee,
    actsAs: context.actsAs,
    confinedAs: context.confinedAs ?? [],
    model: context.model,
    title: context.title,
    promptExcerpt: context.promptExcerpt,
    archivedAt: isoTimeOrNull(context.archivedAt ?? null),
    parentSessionId: context.parentSessionId,
    parent: context.parentSessionId,
    workflowProvenance: provenanceOf(context),
    userId: null,
    effortLevel: context.effort,
    effort: context.effort,
    status,
    attemptOutcome: context.attemptOutcome,
    attemptToken: context.attemptToken,
    attemptTerminalVersion: context.attemptTerminalVersion,
    totalCost: context.totalCost,
    totalTurns: context.totalTurns,
    lastContextTokens: context.lastContextTokens,
    contextWindow: context.contextWindow ?? null,
    createdAt: isoTime(context.createdAt),
    lastActivity: isoTime(context.lastActivity),
    lastError: context.lastError,
    queueDepth: context.queue.length + (context.turn?.items.length ?? 0),
    queuePaused: context.queuePaused,
    transportState: transportState(status, context),
    backgroundActivity: null,
    resetAt: isoTimeOrNull(context.resetAt),
    cwd: context.cwd,
    branch: context.branch ?? null,
    worker: context.placement?.worker ?? null,
    workerLabels: context.placement?.labels ?? [],
    ancestors: context.ancestors,
    usage: context.usage,
    toolPolicy: policyOf(context),
    sandbox: context.sandbox ?? null,
    untrusted: context.untrusted ?? null,
    silentSince: isoTimeOrNull(context.turn?.silentSince ?? null),
    pendingPermissions: pending(context).map(({ id, tool, title, expiresAt, rule = null }) => ({
      id,
      tool,
      title,
      rule,
      expiresAt: isoTime(expiresAt),
    })),
  };
}

/** How a session is, in the words of chat clients. */
export type TransportState = 'idle' | 'queued' | 'running' | 'error' | 'interrupted';

/**
 * Where the work is: `queued` until a process slot was got, and while a provider's limit lasts. Never throws.
 * @example
 *   const state = (context: SessionContext) => transportState('running', context); // 'queued' until a process is free
 */
export function transportState(status: SessionStatus, context: SessionContext): TransportState {
  switch (status) {
    case 'running':
      return context.turn?.began === true ? 'running' : 'queued';
    case 'waiting':
      return 'queued';
    case 'stopped':
    case 'deleted':
      return 'interrupted';
    default:
      return status;
  }
}

/**
 * The lists a session appears in; all but `parent` and `work-item` (by creation) have the last active first.
 * What was put away is in `archived` instead of `all`, `group` and `status`; what was deleted is nowhere. Those that
 * hold results of tools are in `tool-output`, by creation.
 * Never throws.
 * @example
 *   const index = ({ value, context }: SnapshotFrom<typeof sessionMachine>) =>
 *     sessionIndex(sessionStatusOf(value), context);
 */
export function sessionIndex(
  status: SessionStatus,
  context: SessionContext,
): readonly (
  | { readonly index: PlainList; readonly key: string }
  | { readonly index: 'tool-output'; readonly key: string; readonly row: KeptOutput }
)[] {
  if (status === 'deleted') return [];
  const order = sortable(context.lastActivity, { descending: true });
  const created = sortable(context.createdAt);
  return [
    ...((context.archivedAt ?? null) !== null
      ? [inList('archived', order)]
      : [
          inList('all', order),
          inList('group', `${sortableText(sessionGroup(context))}/${order}`),
          inList('status', `${status}/${order}`),
        ]),
    ...(context.parentSessionId === null
      ? []
      : [inList('parent', `${sortableText(context.parentSessionId)}/${created}`)]),
    ...(context.workItemId === null
      ? []
      : [inList('work-item', `${sortableText(context.workItemId)}/${created}`)]),
    ...(context.toolOutput == null
      ? []
      : [{ index: 'tool-output' as const, key: created, row: context.toolOutput }]),
  ];
}

const inList = (index: PlainList, key: string) => ({ index, key });
type PlainList = 'archived' | 'all' | 'group' | 'status' | 'parent' | 'work-item';

/** Whose session it is in lists: the employee's, the schedule's, or of no one in particular. */
const sessionGroup = (context: SessionContext): string =>
  context.source === 'cron' ? '__cron__' : (context.employee ?? '__direct__');

/** Which step of which run a session was opened for, as its reference says. */
function provenanceOf({ source, sourceRef }: SessionContext): Json {
  const [, runId, nodeId, round, attempt] =
    (source === 'workflow'
      ? /^workflow-run:([^:]+):([^:]+)(?::r(\d+))?:(\d+)$/.exec(sourceRef ?? '')
      : null) ?? [];
  if (runId === undefined || nodeId === undefined) return null;
  return { kind: 'phase', runId, phase: { nodeId, round: Number(round ?? 1), attempt: Number(attempt) } };
}

/**
 * Tools that it may use only after a person said so; a turn that has fallen silent; and a conversation of a person
 * that was cut and waits to be taken up again. Sessions that work for another session or a run are taken up by those.
 */
export function sessionWaiting(status: SessionStatus, context: SessionContext): readonly Waiting[] {
  if (status === 'deleted' || (context.archivedAt ?? null) !== null) return [];
  const permissions = pending(context).map(({ id, tool, title, askedAt, expiresAt, rule }): Waiting => ({
    id,
    what: 'permission',
    title: excerpt(title === '' || title === tool ? tool : `${tool}: ${title}`, titleCharsMax),
    on: 'operator',
    ...(rule == null ? {} : { rule }),
    since: askedAt,
    until: expiresAt,
  }));
  const { untrusted } = context;
  if (untrusted != null)
    permissions.push({
      id: `trust:${untrusted.sha256}`,
      what: 'trust',
      title: excerpt(`Trust ${untrusted.folder}: ${untrusted.files.join(', ')}`, titleCharsMax),
      on: 'operator',
      within: untrusted.folder,
      since: context.lastActivity,
      until: null,
    });
  const { turn } = context;
  if (turn?.silentSince !== undefined)
    permissions.push({
      id: `silent:${turn.id}`,
      what: 'silent',
      title: excerpt(`No output: ${context.title}`, titleCharsMax),
      on: 'operator',
      since: turn.silentSince,
      until: null,
    });
  if (status !== 'interrupted' || context.parentSessionId !== null || context.source === 'workflow')
    return permissions;
  const title = excerpt(context.title, titleCharsMax);
  return [
    ...permissions,
    { id: 'resume', what: 'resume', title, on: 'operator', since: context.lastActivity, until: null },
  ];
}

/**
 * The words of the API for where a session stands: the innermost state of its chart. Entries of the log from
 * before there was a state around the resting ones hold the bare word.
 */
export type SessionStatus = 'running' | RestingStatus | 'waiting' | 'deleted';
export type RestingStatus = 'idle' | 'error' | 'interrupted' | 'stopped';

/**
 * The status in the words of the API, of a state of the chart. Never throws.
 * @example sessionStatusOf({ resting: 'idle' }) // 'idle'
 */
export const statusOf = (value: SessionStatus | { readonly resting: RestingStatus }): SessionStatus =>
  typeof value === 'string' ? value : value.resting;

export const isResting = (status: string): status is RestingStatus =>
  ['idle', 'error', 'interrupted', 'stopped'].includes(status);
