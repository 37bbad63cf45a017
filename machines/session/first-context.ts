import { excerpt, limits, type SessionContext, type SessionInput } from './context.js';
import { anchored } from './tool-policy.js';

/** The context at creation; the first message, if any, is queued by `open` (turns.ts). */
export function firstContext(input: SessionInput): SessionContext {
  const { past } = input;
  return {
    id: input.id,
    engine: input.engine,
    model: input.model,
    effort: input.effort,
    employee: input.employee,
    actsAs: input.actsAs === undefined ? input.employee : input.actsAs,
    ...(input.confinedAs === undefined || input.confinedAs.length === 0
      ? {}
      : { confinedAs: input.confinedAs }),
    parentSessionId: input.parentSessionId,
    ancestors: input.ancestors.slice(0, limits.ancestorsMax),
    workItemId: input.workItemId,
    title: titleOf(input),
    promptExcerpt: input.message ? excerpt(input.message.content, 140) : null,
    cwd: input.cwd,
    ...(input.branch === undefined ? {} : { branch: input.branch }),
    ...(input.placement === undefined ? {} : { placement: input.placement }),
    source: input.source,
    sourceRef: input.sourceRef,
    interruptOnNewMessage: input.interruptOnNewMessage,
    turnDeadlineMs: input.turnDeadlineMs,
    createdAt: input.at,
    lastActivity: Math.min(input.at, past?.lastActivity ?? input.at),
    lastError: input.unavailable ? excerpt(input.unavailable.reason, limits.errorCharsMax) : null,
    engineSessions: {},
    messages: 0,
    turns: 0,
    turn: null,
    queue: [],
    queuePaused: false,
    leftTurns: [],
    engaged: false,
    attemptOutcome: null,
    attemptToken: null,
    attemptTerminalVersion: 0,
    totalTurns: past?.totalTurns ?? 0,
    totalCost: past?.totalCost ?? 0,
    usage: past?.usage ?? { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
    lastContextTokens: null,
    resetAt: null,
    waits: 0,
    archivedAt: null,
    toolPolicy: anchored(input.permissions ?? { mode: 'ask', allow: [] }, input.cwd),
    permissions: [],
    permissionsAsked: 0,
    ...(input.reportTo === undefined ? {} : { reportTo: input.reportTo }),
    ...(input.replyTo === undefined ? {} : { replyTo: input.replyTo }),
  };
}

/** `#<n> - <first 30 characters>…`, unless a title is given. */
function titleOf(input: SessionInput): string {
  if (input.title !== null && input.title.trim() !== '')
    return excerpt(input.title.trim(), limits.titleCharsMax);
  const words = (input.message?.content ?? '').replace(/\s+/g, ' ').trim();
  const start = words.length > 30 ? `${excerpt(words, 30)}…` : words || 'New session';
  return input.number === undefined ? start : `#${input.number} - ${start}`;
}

/** Entry of the root runs on XState's init event, which its types do not show. */
export const inputOf = (event: { type: string }): SessionInput =>
  (event as { type: string; input: SessionInput }).input;
