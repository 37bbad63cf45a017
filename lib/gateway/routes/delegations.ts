import { z } from 'zod';
import { attachedMedia } from '../../commands/attachments.js';
import { delegate } from '../../commands/delegate.js';
import { recordOf } from '../../commands/desk.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { route, type Call, type Reply, type Route } from '../route.js';
import { agreeing, attachments, employeeName, idempotencyKey, sentence, sessionStatus, text, textMax } from '../shapes.js';

const body = agreeing(z.object({
  task: sentence(textMax),
  employee: employeeName.nullish(),
  engine: text(200).nullish(),
  model: text(200).nullish(),
  effort: text(200).nullish(),
  effortLevel: text(200).nullish().describe('The same as `effort`.'),
  title: sentence(20_000).nullish(),
  parent: text(200).nullish(),
  parentSessionId: text(200).nullish().describe('The same as `parent`.'),
  workItemId: text(200).nullish().describe('An open Todo to be attempted; default: a new one.'),
  attachments,
  cwd: text(4096).nullish(),
  worktree: z.boolean().optional().describe('A git worktree of its own, of the repository in `cwd` or in the employee\'s folder.'),
  idempotencyKey,
}), ['effort', 'effortLevel'], ['parent', 'parentSessionId']);

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
  route('POST', '/api/delegations', 'delegation.create', {
    about: 'Give a task to somebody: a Todo and the session that attempts it, in one commit. With an engine that is not available the Todo stays and the answer is 502 with its id.',
    body, answer, status: 201, forbidden: ['provenance', 'approval*', 'source', 'status'], plan: true,
    refusals: ['UNKNOWN_EMPLOYEE', 'UNKNOWN_ENGINE', 'UNKNOWN_MODEL', 'UNKNOWN_EFFORT', 'UNKNOWN_ATTACHMENT', 'NOT_FOUND', 'NOT_OWNER', 'TERMINAL', 'CONFLICT', 'LIVE_ATTEMPT', 'ENGINE_UNAVAILABLE'],
  }, create),
];

async function create(call: Call<z.output<typeof body>>): Promise<Reply | Refusal> {
  const wish = call.body;
  if (wish.employee == null && wish.engine == null) return refuse('BAD_REQUEST', { path: 'employee' }, 'employee or engine is required');
  const media = await attachedMedia(call.desk, wish.attachments);
  if (isRefusal(media)) return media;
  const done = await delegate(call.desk, { ...wish, media, effort: wish.effort ?? wish.effortLevel, parent: wish.parent ?? wish.parentSessionId }, call.asking);
  if (isRefusal(done)) return done;
  const { workItemId, sessionId, session, title } = done.value;
  const { employee, engine, model, effortLevel, status } = recordOf(session);
  const shown = { workItemId, sessionId, employee, engine, model, effortLevel, status, title };
  // the answer to a repetition says so and tells how the session stands now
  return { ...done, status: done.replayed ? 200 : 201, body: done.replayed ? { ...shown, replayed: true } : shown };
}
