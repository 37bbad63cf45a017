import { callerName } from '../caller.js';
import { publish, writeRow, type Json, type Output, type Decision } from '../outputs.js';
import { excerpt, limits, type SessionContext, type SessionEvent, type SessionEventOf } from './context.js';
import { anchored, type PermissionAsked, type ToolPolicy } from './tool-policy.js';
import { ruleCharsMax } from './tool-rule.js';

/**
 * Tools that an agent may use only after a person said so. What is pending lives in the context, with a
 * deadline; what became of each is a row of `permissions` (`pending allowed denied expired withdrawn`). A
 * turn that ends, however it ends, withdraws what it still asked for: an answer would come too late.
 */

export function askPermission(
  context: SessionContext,
  event: SessionEventOf<'permission.asked'>,
): Decision<SessionContext> {
  const n = (context.permissionsAsked ?? 0) + 1;
  const tool = excerpt(event.tool, limits.toolCharsMax);
  const asked = {
    id: event.permissionId,
    n,
    tool,
    title: excerpt(event.title, limits.titleCharsMax),
    askedAt: event.at,
    expiresAt: event.at + event.waitMs,
    rule: event.rule !== undefined && event.rule.length <= ruleCharsMax ? event.rule : null,
  };
  const row = {
    ...asked,
    turnId: event.turnId,
    input: shownInput(event.text),
    ...undecided,
  };
  return {
    set: { permissions: [...pending(context), asked], permissionsAsked: n },
    outputs: [writeRow('permissions', n, row), frame(context, asked, 'pending')],
  };
}

/** Who allows what was cut must know that there is more of it. */
const shownInput = (text: string): string => {
  const more = text.length - limits.toolInputCharsMax;
  return more <= 0
    ? text
    : `${excerpt(text, limits.toolInputCharsMax)}\n[cut here: ${more} more characters are not shown]`;
};

/** Decided by a person; with `always` its rule holds for the rest of the session. */
export function decidePermission(
  context: SessionContext,
  event: SessionEventOf<'permission.decided'>,
): Decision<SessionContext> {
  const asked = pendingPermission(context, event.permissionId);
  if (asked === undefined) return {};
  const state = event.decision === 'allow' ? 'allowed' : 'denied';
  const decision = settled(context, [asked], state, event.at, {
    decidedBy: callerName(event.by),
    note: event.note ?? null,
  });
  if (event.decision !== 'allow' || event.always !== true) return decision;
  const rule = event.rule ?? asked.rule ?? undefined;
  return rule === undefined
    ? decision
    : {
        ...decision,
        set: { ...decision.set, toolPolicy: anchored(withRule(policyOf(context), rule), context.cwd) },
      };
}

function withRule({ mode, allow }: ToolPolicy, rule: string): ToolPolicy {
  return {
    mode: mode === 'ask' ? 'allow-list' : mode,
    allow: [...new Set([...allow, rule])].slice(-limits.rulesMax),
  };
}

/** Mode and rules, as a person chose them. */
export const setPermissions = (
  context: SessionContext,
  { toolPolicy }: SessionEventOf<'permissions.set'>,
): Decision<SessionContext> => ({
  set: { toolPolicy: anchored(toolPolicy, context.cwd) },
  outputs: [publish('session:updated', { sessionId: context.id })],
});

/** What the turn that asked is given for an answer. */
export function permissionAnswer(event: SessionEvent): Record<string, unknown> {
  const answer = {
    type: 'permission.answered',
    permissionId: (event as { permissionId?: string }).permissionId,
  };
  return event.type === 'permission.decided'
    ? { ...answer, decision: event.decision, note: event.note ?? null }
    : { ...answer, decision: 'deny', note: 'No decision in time.' };
}

export function expirePermission(
  context: SessionContext,
  event: SessionEventOf<'permission.expired'>,
): Decision<SessionContext> {
  const asked = pendingPermission(context, event.permissionId);
  return asked === undefined ? {} : settled(context, [asked], 'expired', event.at, {});
}

/** The turn is over. */
export function withdrawPermissions(context: SessionContext, at: number): Decision<SessionContext> {
  return pending(context).length === 0 ? {} : settled(context, pending(context), 'withdrawn', at, {});
}

export const pending = (context: SessionContext): readonly PermissionAsked[] => context.permissions ?? [];
export const pendingPermission = (context: SessionContext, id: string): PermissionAsked | undefined =>
  pending(context).find((asked) => asked.id === id);
export const policyOf = (context: SessionContext): ToolPolicy =>
  context.toolPolicy ?? { mode: 'ask', allow: [] };
/** The name of its timer. */
export const permissionTimer = (permissionId: string): string => `permission:${permissionId}`;

const undecided = { state: 'pending', decidedAt: null, decidedBy: null, note: null };

function settled(
  context: SessionContext,
  gone: readonly PermissionAsked[],
  state: string,
  at: number,
  how: { readonly [member: string]: Json },
): Decision<SessionContext> {
  const { turn } = context;
  const permissions = pending(context).filter((asked) => !gone.includes(asked));
  // Until now the turn waited for a person: its silence is counted from here
  const isFree = turn !== null && permissions.length === 0 && state !== 'withdrawn';
  return {
    set: { permissions, ...(isFree && { turn: { ...turn, heardAt: at } }) },
    outputs: gone.flatMap((asked) => [
      writeRow('decisions', asked.n, { ...undecided, id: asked.id, state, decidedAt: at, ...how }),
      frame(context, asked, state),
    ]),
  };
}

const frame = (
  context: SessionContext,
  { id, tool, title, expiresAt, rule = null }: PermissionAsked,
  state: string,
): Output =>
  publish('session:permission', {
    sessionId: context.id,
    permissionId: id,
    tool,
    title,
    expiresAt,
    rule,
    state,
  });
