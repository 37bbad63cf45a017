import type { Answer, components } from '../../client/index.js';
import { quietBecause } from '../../client/decision.js';
import { dateAndTime, minuteOf } from '../../page/clock.js';

/** What the console reads of a session beside what the document promises. */
export type Session = components['schemas']['Session'] & {
  readonly source?: string;
  readonly queuePaused?: boolean;
  readonly resetAt?: string | null;
  readonly archivedAt?: string | null;
  readonly silentSince?: string | null;
  readonly cwd?: string;
  readonly lastContextTokens?: number | null;
  readonly contextWindow?: number | null;
  readonly pendingPermissions?: readonly PendingPermission[];
};

/** What it has changed in its folder. */
export type Changes = Answer<'/api/sessions/{id}/changes', 'get'>;

export interface PendingPermission {
  readonly id: string;
  readonly tool: string;
  readonly title: string;
  readonly expiresAt: string | null;
}

export type Message = components['schemas']['Message'] & {
  /** The name of the tool that was used. */
  readonly toolCall?: unknown;
  readonly toolId?: unknown;
  readonly meta?: unknown;
};

/** What a person calls it. */
export const titleOf = ({ title, promptExcerpt, id }: Session): string => title ?? promptExcerpt ?? id;

export interface Mood {
  readonly word: string;
  readonly tone: 'busy' | 'wait' | 'bad' | 'done' | 'rest';
}

/** How it is with a session, in a word. */
export function moodOf(session: Session): Mood {
  if ((session.pendingPermissions?.length ?? 0) > 0) return { word: 'asks you', tone: 'wait' };
  if (session.silentSince != null) return { word: 'silent', tone: 'wait' };
  if (session.status === 'running')
    return session.transportState === 'queued'
      ? { word: 'queued', tone: 'wait' }
      : { word: 'working', tone: 'busy' };
  if (session.status === 'waiting') return { word: 'held', tone: 'wait' };
  if (session.status === 'error') return { word: 'failed', tone: 'bad' };
  if (session.status === 'interrupted') return { word: 'interrupted', tone: 'bad' };
  return { word: session.status === 'stopped' ? 'stopped' : 'ready', tone: 'rest' };
}

/** Why nothing is said right now, in a line; undefined where nothing is awaited. `quietMs`: since the last words. */
export function quietLine(
  session: Session,
  quietMs: number,
  nowMs: number,
  tool: string | undefined,
): string | undefined {
  const asked = session.pendingPermissions?.[0];
  if (asked !== undefined) return `It waits for your word on ${asked.tool}.`;
  if (session.status === 'waiting' && session.resetAt) {
    const at = Date.parse(session.resetAt);
    const when = at - nowMs < 12 * 3_600_000 ? minuteOf(at) : dateAndTime(at);
    return `It is held, and goes on by itself at ${when}. ${session.lastError ?? ''}`;
  }
  if (session.queuePaused === true) return 'The queue is paused: resume it to go on.';
  if (session.status === 'interrupted')
    return 'The turn was cut off. What it had said is kept. Resume it, or send a message.';
  if (session.status === 'error')
    return `The last turn failed. Send a message to try again.${session.lastError ? ` ${session.lastError}` : ''}`;
  if (session.status === 'stopped') return 'It was stopped. A message starts it again.';
  if (session.status !== 'running') return undefined;
  if (session.transportState === 'queued')
    return 'Its turn waits for a free process, and begins by itself. maxProcesses of config.yaml says how many run.';
  const silent = Math.round(quietMs / 1_000);
  if (silent < 15) return undefined;
  const worked = Math.max(0, Math.round((nowMs - Date.parse(session.lastActivity)) / 60_000));
  const quiet = silent < 120 ? `${silent} seconds` : `${Math.round(silent / 60)} minutes`;
  const why = quietBecause(tool);
  return `No output for ${quiet}: ${why}. The turn runs since ${worked} min. You can wait, send a message, or stop it.`;
}
