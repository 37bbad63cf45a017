import type { SessionInput } from '../../../../machines/session/context.js';

/** What a session is opened with that is asked one thing. */
export const sessionInput = (
  more: Partial<SessionInput> & Pick<SessionInput, 'id'>,
): Omit<SessionInput, 'at'> => ({
  engine: 'clerk',
  model: null,
  effort: null,
  employee: null,
  parentSessionId: null,
  ancestors: [],
  workItemId: null,
  title: null,
  cwd: '/srv/work',
  source: 'web',
  sourceRef: null,
  interruptOnNewMessage: true,
  turnDeadlineMs: 60_000,
  message: { id: 'm1', role: 'user', content: 'read them', kind: 'user' },
  ...more,
});
