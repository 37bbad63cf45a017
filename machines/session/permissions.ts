import { callerName } from '../caller.js';
import type { Decision } from '../decision.js';
import { publish, writeRow, type Json, type Output } from '../outputs.js';
import { excerpt, limits, type SessionContext, type SessionEventOf } from './context.js';
import type { PermissionAsked, ToolPolicy } from './tool-policy.js';

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
  };
  const row = {
    ...asked,
    turnId: event.turnId,
    input: excerpt(event.text, limits.toolInputCharsMax),
    ...undecided,
  };
  return {
    set: { permissions: [...pending(context), asked], permissionsAsked: n },
    outputs: [writeRow('permissions', n, row), frame(context, asked, 'pending')],
  };
}

/** Decided by a person; `always` allows the tool for the rest of the session. */
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
  const policy = policyOf(context);
  const allow = [...new Set([...policy.allow, asked.tool])].slice(-limits.allowedToolsMax);
  return {
    ...decision,
    set: { ...decision.set, toolPolicy: { mode: policy.mode === 'ask' ? 'allow-list' : policy.mode, allow } },
  };
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
  return {
    set: { permissions: pending(context).filter((asked) => !gone.includes(asked)) },
    outputs: gone.flatMap((asked) => [
      writeRow('decisions', asked.n, { ...undecided, id: asked.id, state, decidedAt: at, ...how }),
      frame(context, asked, state),
    ]),
  };
}

const frame = (
  context: SessionContext,
  { id, tool, title, expiresAt }: PermissionAsked,
  state: string,
): Output =>
  publish('session:permission', { sessionId: context.id, permissionId: id, tool, title, expiresAt, state });
