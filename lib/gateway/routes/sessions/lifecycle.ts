import { z } from 'zod';
import {
  sendLifecycle,
  deleteSession,
  deleteSessions,
  duplicateSession,
  patchSession,
  type LifecycleEvent,
} from '../../../commands/sessions/session-lifecycle.js';
import type { GatewayActor } from '../../../commands/app.js';
import { askActor, type Reply } from '../../../commands/request.js';
import { presentSession, readPermissions } from '../../../commands/sessions/read-session.js';
import { idsOf, recordsOf } from '../../../commands/iterate.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import { policyOfMode, type ToolPolicy } from '../../../../machines/session/tool-policy.js';
import { anchoredRuleCharsMax, ruleCharsMax } from '../../../../machines/session/tool-rule.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { idOf } from '../../parse.js';
import { sessionQueueRoutes } from './queue.js';
import { agreeing, idempotencyKey, iso, note, sentence, session, text } from '../../schemas.js';

/**
 * What people do with whole sessions: settings, putting away, taking away, and the tools that wait for
 * their word.
 */

const nothing = z.object({ idempotencyKey });
const patchBody = agreeing(
  z.object({
    title: sentence(200).optional(),
    engine: text(200).optional(),
    model: text(200).nullable().optional(),
    effortLevel: text(200).nullable().optional(),
    effort: text(200).nullable().optional().describe('The same as `effortLevel`.'),
    idempotencyKey,
  }),
  ['effortLevel', 'effort'],
);
const bulkBody = z.object({ ids: z.array(text(200)).min(1).max(500) });
const decideBody = z.object({
  decision: z.enum(['allow', 'deny']),
  note,
  always: z.boolean().optional().describe('Keep its `rule`: what it fits is not asked for again here.'),
  rule: text(ruleCharsMax)
    .optional()
    .describe('With `always`: another rule for part of a tool, as `Bash(git status *)` or `Edit(src/**)`.'),
  idempotencyKey,
});
const permissionsBody = z.object({
  mode: z.enum(['ask', 'allow-list', 'edits', 'full']),
  allow: z
    .array(text(anchoredRuleCharsMax))
    .max(100)
    .optional()
    .describe('Rules, beside those that `edits` stands for: `Bash(git *)`, `Edit(src/**)`, `mcp__docs__*`.'),
  idempotencyKey,
});

const permission = z.looseObject({
  id: z.string(),
  tool: z.string(),
  title: z.string(),
  input: z.string(),
  state: z.enum(['pending', 'allowed', 'denied', 'expired', 'withdrawn']),
  expiresAt: iso.nullable(),
  rule: z.string().nullish().describe('What `always` would allow; null: only this one use can be allowed.'),
});
const said = (status: string) => z.object({ status: z.literal(status), sessionId: z.string() });
const target = 'session';
const common = { target, plan: true } as const;
const refusals = ['NOT_FOUND', 'CONFLICT'] as const;

export const sessionLifecycleRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/sessions/interrupted',
    'session.manage',
    { about: 'Sessions that were interrupted, last active first.', answer: z.array(session) },
    async ({ app }) => ({
      body: await recordsOf(
        app.supervisor,
        'session',
        await idsOf(app.supervisor, 'session', { index: 'status', prefix: 'interrupted/', most: 500 }),
      ),
    }),
  ),
  route(
    'POST',
    '/api/sessions/bulk-delete',
    'session.manage',
    {
      about: 'Delete several sessions; those that must be kept are listed with the reason.',
      body: bulkBody,
      answer: z.object({
        status: z.literal('deleted'),
        count: z.int(),
        preserved: z.array(z.object({ id: z.string(), code: z.string(), reason: z.string() })),
      }),
    },
    async (request: HttpRequest<z.output<typeof bulkBody>>) => ({
      body: { status: 'deleted', ...(await deleteSessions(request, request.body.ids)) },
    }),
  ),
  patchBy('PATCH', 'Change title, engine, model or effort, from the next turn on.'),
  patchBy('PUT', 'The same as PATCH: what is not sent stays as it is.'),
  route(
    'DELETE',
    '/api/sessions/:id',
    'session.manage',
    {
      ...common,
      about:
        'Delete an idle session; the files of its agent are kept. An attempt at a work item is ' +
        'kept: 409 with `preserved`.',
      body: nothing,
      answer: z.object({ status: z.literal('deleted') }),
      refusals,
    },
    async (request) => shown(await deleteSession(request, idOf(request)), () => ({ status: 'deleted' })),
  ),
  route(
    'POST',
    '/api/sessions/:id/duplicate',
    'session.manage',
    {
      ...common,
      about: 'Create an idle copy with the last messages.',
      body: nothing,
      answer: session,
      status: 201,
      refusals,
    },
    async (request) => shown(await duplicateSession(request, idOf(request)), ({ view }) => view),
  ),
  action(
    'reset',
    'session.reset',
    'Reset the session: engines no longer receive the earlier conversation.',
    said('reset'),
    (request) => ({ status: 'reset', sessionId: idOf(request) }),
  ),
  action('resume', 'session.resume', 'Resume an interrupted session: a new turn goes on with it.', session),
  action('archive', 'session.archive', 'Archive an idle session: lists no longer show it.', session),
  action('unarchive', 'session.unarchive', 'Restore an archived session.', session),

  ...sessionQueueRoutes,

  route(
    'GET',
    '/api/sessions/:id/permissions',
    'session.permissions',
    {
      about: 'Tool requests of the agent and their outcome, latest first.',
      answer: z.array(permission),
      target,
      refusals: ['NOT_FOUND'],
    },
    async (request) => plain(await readPermissions(request.app, idOf(request))),
  ),
  route(
    'POST',
    '/api/sessions/:id/permissions/:permission',
    'session.permit',
    {
      ...common,
      about: 'Allow or deny a pending tool request.',
      body: decideBody,
      answer: session,
      refusals: [...refusals, 'PERSON_REQUIRED'],
    },
    decide,
  ),
  route(
    'PUT',
    '/api/sessions/:id/permissions',
    'session.permit',
    {
      ...common,
      about: 'Replace what the agent may do without a permission request: mode and rules, at once.',
      body: permissionsBody,
      answer: session,
      refusals: [...refusals, 'PERSON_REQUIRED'],
    },
    setPermissions,
  ),
];

function patchBy(method: 'PATCH' | 'PUT', about: string): Route {
  return route(
    method,
    '/api/sessions/:id',
    'session.manage',
    {
      ...common,
      about,
      body: patchBody,
      answer: session,
      refusals: [...refusals, 'UNKNOWN_ENGINE', 'UNKNOWN_MODEL', 'UNKNOWN_EFFORT'],
    },
    patch,
  );
}

/** `POST /api/sessions/:id/<path>`: one event without members. */
function action(
  path: string,
  event: LifecycleEvent,
  about: string,
  answer: z.ZodType,
  body?: (request: HttpRequest<unknown, unknown>) => object,
): Route {
  return route(
    'POST',
    `/api/sessions/:id/${path}`,
    'session.manage',
    { ...common, about, body: nothing, answer, refusals },
    async (request) =>
      shown(await sendLifecycle(request, idOf(request), event), (view) => body?.(request) ?? view.view),
  );
}

const shown = (
  done: Reply<GatewayActor<'session'>> | Refusal,
  body: (view: GatewayActor<'session'>) => unknown,
): Reply | Refusal => (isRefusal(done) ? done : { ...done, body: body(done.body) });
const plain = (body: unknown): Reply | Refusal => (isRefusal(body) ? body : { body });

async function patch(request: HttpRequest<z.output<typeof patchBody>>): Promise<Reply | Refusal> {
  const { title, engine, model, effortLevel, effort } = request.body;
  if ([title, engine, model, effortLevel, effort].every((member) => member === undefined))
    return refuse('BAD_REQUEST', { path: '' }, 'no recognized fields to update');
  return shown(
    await patchSession(request, idOf(request), {
      title,
      engine,
      model,
      effort: effortLevel === undefined ? effort : effortLevel,
    }),
    ({ view }) => view,
  );
}

async function decide(request: HttpRequest<z.output<typeof decideBody>>): Promise<Reply | Refusal> {
  const found = await presentSession(request.app, idOf(request));
  if (isRefusal(found)) return found;
  const { decision, note: why, always, rule } = request.body;
  const event = {
    type: 'permission.decided' as const,
    permissionId: request.params['permission'] ?? '',
    decision,
    ...(why !== undefined && { note: why }),
    ...(always !== undefined && { always }),
    ...(rule !== undefined && { rule }),
  };
  const done = await askActor(request, 'session', idOf(request), event);
  return shown(done, ({ view }) => view);
}

async function setPermissions(
  request: HttpRequest<z.output<typeof permissionsBody>>,
): Promise<Reply | Refusal> {
  const found = await presentSession(request.app, idOf(request));
  if (isRefusal(found)) return found;
  const { mode, allow = [] } = request.body;
  // Who asks for everything, but for what some rules fit, has an allow-list
  const listed = mode === 'allow-list' || (mode === 'ask' && allow.length > 0);
  const policy: ToolPolicy = listed ? { mode: 'allow-list', allow: [] } : policyOfMode(mode);
  const toolPolicy = { ...policy, allow: [...new Set([...policy.allow, ...allow])] };
  const done = await askActor(request, 'session', idOf(request), { type: 'permissions.set', toolPolicy });
  return shown(done, ({ view }) => view);
}
