import { signal } from '@preact/signals';
import type { GatewayEvent } from '../../client/events.js';
import { head } from '../../page/connection.js';
import { begunAt, hear } from './live.js';
import { linkTo } from './place.js';

/**
 * What happened since this device last looked. The position is kept in the browser when the page is left; the
 * feed of the next visit begins there, so that what was missed comes over the same socket.
 */
export interface Happening {
  readonly seq: number;
  readonly at: number;
  readonly text: string;
  readonly tone: 'bad' | 'done' | 'wait' | 'rest';
  readonly href: string;
}

/** Newest first. */
export const happenings = signal<readonly Happening[]>([]);

const slot = 'troupe.seen';
/** More than this is not replayed: the list would be read by no one. */
export const replayMax = 5_000;

/** Where to begin; undefined: at the end, there was no visit or it is too long ago. */
export function seenUntil(headNow: number): number | undefined {
  const kept = Number(read() ?? 'nothing');
  return Number.isSafeInteger(kept) && kept <= headNow && headNow - kept <= replayMax ? kept : undefined;
}

/** Gather what happens, and remember how far one has looked. */
export function followHappenings(): () => void {
  const deaf = hear(({ frames }) => {
    const fresh = frames.flatMap((frame) => happeningOf(frame) ?? []);
    if (fresh.length > 0) happenings.value = [...fresh.reverse(), ...happenings.value].slice(0, keptMax);
  });
  const leave = (): void => {
    if (begunAt.value !== undefined) keep(String(head.value));
  };
  const hide = (): void => {
    if (document.visibilityState === 'hidden') leave();
  };
  document.addEventListener('visibilitychange', hide);
  addEventListener('pagehide', leave);
  return () => {
    deaf();
    document.removeEventListener('visibilitychange', hide);
    removeEventListener('pagehide', leave);
  };
}

const keptMax = 60;

function happeningOf({ event, seq, ts, payload }: GatewayEvent): Happening | undefined {
  const text = (name: string): string => (typeof payload[name] === 'string' ? payload[name] : '');
  const line = (tone: Happening['tone'], words: string, href: string): Happening => ({
    seq: seq ?? 0,
    at: ts,
    tone,
    text: words,
    href,
  });
  const session = linkTo({ view: 'chat', id: text('sessionId') });
  const title = text('title') || 'A session';
  if (event === 'session:completed')
    return payload['error'] === null || payload['error'] === undefined
      ? line('done', `${title} answered`, session)
      : line('bad', `${title} failed: ${text('error')}`, session);
  if (event === 'session:interrupted') return line('bad', `${title} was interrupted`, session);
  if (event === 'session:rate-limited') return line('wait', `${title} is held: ${text('reason')}`, session);
  if (event === 'run:failed' || event === 'run:completed')
    return line(
      event === 'run:failed' ? 'bad' : 'done',
      `A workflow run ${event === 'run:failed' ? 'failed' : 'completed'}`,
      `/inspect#/runs/${encodeURIComponent(text('workflowId'))}/${encodeURIComponent(text('runId'))}`,
    );
  if (event === 'cron:error' || event === 'cron:missed')
    return line(
      'bad',
      `${text('id')} ${event === 'cron:missed' ? 'was missed' : 'failed'}`,
      linkTo({ view: 'cron' }),
    );
  if (event === 'company:changed' && payload['entity'] === 'todo' && text('id') !== '')
    return line('rest', `${text('id')} ${wordOf(text('action'))}`, linkTo({ view: 'item', id: text('id') }));
  return undefined;
}

const wordOf = (action: string): string => (action === '' ? 'changed' : action.replaceAll(/[_-]/g, ' '));

function read(): string | null {
  try {
    return localStorage.getItem(slot);
  } catch {
    return null; // storage is switched off: every visit is the first
  }
}

function keep(value: string): void {
  try {
    localStorage.setItem(slot, value);
  } catch {
    /* as above */
  }
}
