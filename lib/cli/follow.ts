import type { Client, Frame } from './client.js';
import { plainText } from './print.js';

/**
 * One turn of a session, watched over /ws: opened before the task is given, so that no frame is missed.
 * Frames that come before the session's id is known wait. A turn ends with the first ending that follows its
 * own start: what a turn before it still has to say is not the answer.
 */
export interface Following {
  /** `started`: the turn that is watched runs already. */
  until(sessionId: string, turn?: { readonly started: boolean }): Promise<TurnEnd>;
  close(): void;
}

export interface TurnEnd {
  /** `over`: the turn ended somehow (the session tells how). `lost`: the connection went away. */
  readonly why: 'over' | 'lost';
  readonly reason: string;
  /** What was shown of the answer while it came; empty when nothing was. */
  readonly shown: 'nothing' | 'whole lines' | 'an open line';
}

export async function follow(
  client: Client,
  show: (text: string) => void,
  remark: (text: string) => void,
  permission: (payload: Frame['payload']) => void,
): Promise<Following> {
  let waiting: Frame[] = [];
  let take = (frame: Frame): void => void waiting.push(frame);
  const watch = await client.watch((frame) => take(frame));
  return {
    close: () => watch.close(),
    until: (sessionId, turn) =>
      new Promise((resolve) => {
        let started = turn?.started ?? false;
        let shown: TurnEnd['shown'] = 'nothing';
        take = ({ event, payload }) => {
          if (payload?.['sessionId'] !== sessionId) return;
          if (event === 'session:started') started = true;
          else if (event === 'session:delta') shown = delta(payload, show, remark) ?? shown;
          else if (event === 'session:permission') permission(payload);
          else if (event === 'session:rate-limited')
            remark(`[waiting for the provider's rate limit${until(payload['resetAt'])}]`);
          else if (endings.has(event) && (started || event === 'session:stopped'))
            resolve({ why: 'over', reason: event, shown });
        };
        for (const frame of waiting) take(frame);
        waiting = [];
        void watch.ended.then((reason) => resolve({ why: 'lost', reason, shown }));
      }),
  };
}

const endings = new Set(['session:completed', 'session:interrupted', 'session:stopped', 'session:deleted']);

function delta(
  payload: Frame['payload'],
  show: (text: string) => void,
  remark: (text: string) => void,
): TurnEnd['shown'] | undefined {
  const content = typeof payload['content'] === 'string' ? payload['content'] : '';
  if (payload['type'] === 'text') {
    show(plainText(content, { keepLines: true }));
    return content === '' ? undefined : content.endsWith('\n') ? 'whole lines' : 'an open line';
  }
  if (payload['type'] === 'tool_use') remark(`[${plainText(String(payload['toolName'] ?? content))}]`);
  if (payload['type'] === 'status' || payload['type'] === 'error') remark(`[${plainText(content)}]`);
  return undefined;
}

const until = (resetAt: unknown): string =>
  typeof resetAt === 'number' ? ` until ${new Date(resetAt).toISOString()}` : '';
