import type { SnapshotFrom } from 'xstate';
import type { Authority, Caller } from '../../../machines/caller.js';
import type { SessionEvent, TurnOutput } from '../../../machines/session/context.js';
import { sessionMachine } from '../../../machines/session/machine.js';
import { sessionNotInState, sessionPolicy } from '../../../machines/session/policy.js';
import { statusOf, sessionView } from '../../../machines/session/view.js';
import { Life } from '../step.js';

/** Sessions for specs, and the words they are talked to with. */

export const child: Caller = { type: 'session', id: 'child-1', employee: 'ben', ancestors: ['s1', 'top'] };
export const parent: Caller = { type: 'session', id: 'parent-1', employee: 'bob', ancestors: ['top'] };
export const outsider: Caller = { type: 'session', id: 'stranger-1', employee: 'cat', ancestors: [] };

export const fresh = (input: Record<string, unknown> = {}): Life<typeof sessionMachine> =>
  new Life(
    sessionMachine,
    {
      id: 's1',
      engine: 'clerk',
      model: null,
      effort: null,
      employee: 'ann',
      parentSessionId: null,
      ancestors: [],
      workItemId: null,
      title: null,
      cwd: '/srv/work',
      source: 'web',
      sourceRef: null,
      interruptOnNewMessage: true,
      turnDeadlineMs: 60_000,
      ...input,
    },
    ({ context }: SnapshotFrom<typeof sessionMachine>, event: SessionEvent, authority: Authority) =>
      sessionPolicy(context, event, authority),
    undefined,
    ({ context }: SnapshotFrom<typeof sessionMachine>, event: SessionEvent) =>
      sessionNotInState(context, event),
  );

export const message = (
  id: string,
  kind: 'user' | 'callback' | 'agent' = 'user',
  content = `please ${id}`,
): { id: string; content: string; role: 'user' | 'notification'; kind: typeof kind } => ({
  id,
  content,
  role: kind === 'user' ? 'user' : 'notification',
  kind,
});

export const post = (id: string, kind: 'user' | 'callback' | 'agent' = 'user') => ({
  type: 'message.post',
  message: message(id, kind),
});

export const good = (text = 'done', extra: Partial<TurnOutput> = {}): TurnOutput => ({
  outcome: 'succeeded',
  text,
  ...extra,
});
export const bad = (error = 'it broke'): TurnOutput => ({ outcome: 'failed', text: '', error });
export const cut = (extra: Partial<TurnOutput> = {}): TurnOutput => ({
  outcome: 'interrupted',
  text: '',
  ...extra,
});
export const limited = (resetAt?: number): TurnOutput => ({
  outcome: 'rate-limited',
  text: '',
  ...(resetAt === undefined ? {} : { resetAt }),
});

/** A session in each of its states. */
export const inState = {
  idle: () => {
    const life = fresh({ message: message('m0') });
    life.finish('turn', good());
    return life;
  },
  running: () => fresh({ message: message('m0') }),
  waiting: () => {
    const life = fresh({ message: message('m0') });
    life.finish('turn', limited(life.at + 60_000));
    return life;
  },
  error: () => {
    const life = fresh({ message: message('m0') });
    life.finish('turn', bad());
    return life;
  },
  interrupted: () => {
    const life = fresh({ message: message('m0') });
    life.finish('turn', cut());
    return life;
  },
  stopped: () => {
    const life = fresh({ message: message('m0') });
    life.send({ type: 'session.stop' });
    return life;
  },
} as const;

export type Session = ReturnType<typeof fresh>;
export const status = (life: Session) => statusOf(life.snapshot.value);
export const view = (life: Session) => sessionView(status(life), life.snapshot.context);
/** The messages of every turn so far. */
export const prompts = (life: Session): readonly (readonly string[])[] =>
  life.started.map(({ input }) => (input as { messageIds: string[] }).messageIds);
