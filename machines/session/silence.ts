import { publish, type Decision } from '../outputs.js';
import type { SessionContext, SessionEventOf } from './context.js';

/**
 * A turn from which nothing comes and that waits for no one. Its effect reports output, but seldom (`turn.heard`): a
 * timer of the session stands so far behind the last report as a turn may be silent, and raises `turn.silent`. Both
 * are durable, so a turn that outlives its gateway is as silent after a restart as it was before.
 *
 * Silence is shown, and the effect hears of it: where its rule says `end` it ends the turn, if it has heard nothing
 * itself. It is asked again until the turn is over, since what is sent to an effect may be lost.
 */

/** The name of its timer. */
export const silenceTimer = 'silence';
const askAgainMs = 60_000;

/** Milliseconds until the running turn counts as silent; undefined: it is not looked at, or has left. */
export function silenceDelay(
  { turn, permissions = [] }: SessionContext,
  event: { readonly type: string; readonly turnId?: string; readonly quietMs?: number },
): number | undefined {
  if (turn?.silence === undefined || turn.id !== event.turnId) return undefined;
  const { ms, action } = turn.silence;
  if (event.type !== 'turn.silent') return Math.max(0, ms - (event.quietMs ?? 0));
  if (permissions.length > 0) return ms; // it waits for a person
  return action === 'end' ? askAgainMs : undefined;
}

export function hear(
  context: SessionContext,
  { turnId, quietMs, at }: SessionEventOf<'turn.heard'>,
): Decision<SessionContext> {
  const { turn } = context;
  if (turn?.id !== turnId) return {};
  const { silentSince, ...rest } = turn;
  const heard = { ...rest, heardAt: Math.max(turn.heardAt ?? 0, at - quietMs) };
  const isStill = silentSince !== undefined && quietMs >= (turn.silence?.ms ?? 0);
  if (isStill) return { set: { turn: { ...heard, silentSince: heard.heardAt } } };
  return {
    set: { turn: heard },
    outputs: silentSince === undefined ? [] : [publish('session:updated', { sessionId: context.id })],
  };
}

export function fallSilent(
  context: SessionContext,
  { turnId, at }: SessionEventOf<'turn.silent'>,
): Decision<SessionContext> {
  const { turn, permissions = [] } = context;
  if (turn?.silence === undefined || turn.id !== turnId || permissions.length > 0) return {};
  if (turn.silentSince !== undefined) return {};
  const silentSince = turn.heardAt ?? at - turn.silence.ms;
  return {
    set: { turn: { ...turn, silentSince } },
    outputs: [publish('session:silent', { sessionId: context.id, turnId, since: silentSince })],
  };
}
