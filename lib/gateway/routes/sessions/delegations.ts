import { z } from 'zod';
import { attachedMedia } from '../../../commands/files.js';
import { delegate } from '../../../commands/sessions/delegate.js';
import type { Reply } from '../../../commands/request.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import {
  agreeing,
  attachments,
  employeeName,
  idempotencyKey,
  sentence,
  sessionStatus,
  text,
  textMax,
} from '../../schemas.js';

const body = agreeing(
  z.object({
    task: sentence(textMax),
    employee: employeeName.nullish(),
    engine: text(200).nullish(),
    model: text(200).nullish(),
    effort: text(200).nullish(),
    effortLevel: text(200).nullish().describe('The same as `effort`.'),
    title: sentence(20_000).nullish(),
    parent: text(200).nullish(),
    parentSessionId: text(200).nullish().describe('The same as `parent`.'),
    workItemId: text(200).nullish().describe('The open Todo to attempt; default: a new one.'),
    attachments,
    cwd: text(4096).nullish(),
    worktree: z
      .boolean()
      .optional()
      .describe("A git worktree of its own, of the repository in `cwd` or in the employee's folder."),
    idempotencyKey,
  }),
  ['effort', 'effortLevel'],
  ['parent', 'parentSessionId'],
);

const answer = z.object({
  workItemId: z.string(),
  sessionId: z.string(),
  employee: z.string().nullable(),
  engine: z.string(),
  model: z.string().nullable(),
  effortLevel: z.string().nullable(),
  status: sessionStatus,
  title: z.string(),
  replayed: z.literal(true).optional(),
});

export const delegationRoutes: readonly Route[] = [
  route(
    'POST',
    '/api/delegations',
    'delegation.create',
    {
      about:
        'Delegate a task: creates a Todo and the session that attempts it, in one commit. If the ' +
        'engine is not available, the Todo is kept and the answer is 502 with its id.',
      body,
      answer,
      status: 201,
      forbidden: ['provenance', 'approval*', 'source', 'status'],
      plan: true,
      refusals: [
        'UNKNOWN_EMPLOYEE',
        'UNKNOWN_ENGINE',
        'UNKNOWN_MODEL',
        'UNKNOWN_EFFORT',
        'UNKNOWN_ATTACHMENT',
        'NOT_FOUND',
        'NOT_OWNER',
        'TERMINAL',
        'CONFLICT',
        'LIVE_ATTEMPT',
        'ENGINE_UNAVAILABLE',
      ],
    },
    create,
  ),
];

async function create(request: HttpRequest<z.output<typeof body>>): Promise<Reply | Refusal> {
  const input = request.body;
  if (input.employee == null && input.engine == null)
    return refuse('BAD_REQUEST', { path: 'employee' }, 'employee or engine is required');
  const media = await attachedMedia(request, input.attachments);
  if (isRefusal(media)) return media;
  const done = await delegate(request, {
    ...input,
    media,
    effort: input.effort ?? input.effortLevel,
    parent: input.parent ?? input.parentSessionId,
  });
  if (isRefusal(done)) return done;
  const { workItemId, sessionId, session, title } = done.body;
  const { employee, engine, model, effortLevel, status } = session.view;
  const shown = { workItemId, sessionId, employee, engine, model, effortLevel, status, title };
  // the answer to a repetition says so and tells how the session stands now
  return {
    ...done,
    status: done.replayed ? 200 : 201,
    body: done.replayed ? { ...shown, replayed: true } : shown,
  };
}
