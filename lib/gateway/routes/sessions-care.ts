import { z } from 'zod';
import { careFor, clearQueue, deleteSession, deleteSessions, duplicateSession, patchSession, type Care } from '../../commands/care-for-session.js';
import { askOne, type Done } from '../../commands/desk.js';
import { presentSession } from '../../commands/present-session.js';
import { readPermissions, readQueue } from '../../commands/read-session-queue.js';
import { idsOf, recordsOf } from '../../commands/walk.js';
import type { ActorView } from '../../supervisor/contract.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { idOf, route, type Call, type Reply, type Route } from '../route.js';
import { agreeing, idempotencyKey, iso, note, sentence, session, text } from '../shapes.js';

/** What people do with whole sessions: settings, queue, putting away, taking away, and the tools that wait for their word. */

const nothing = z.object({ idempotencyKey });
const patchBody = agreeing(z.strictObject({
  title: sentence(200).optional(),
  engine: text(200).optional(),
  model: text(200).nullable().optional(),
  effortLevel: text(200).nullable().optional(),
  effort: text(200).nullable().optional().describe('The same as `effortLevel`.'),
  idempotencyKey,
}), ['effortLevel', 'effort']);
const bulkBody = z.object({ ids: z.array(text(200)).min(1).max(500) });
const decideBody = z.object({ decision: z.enum(['allow', 'deny']), note, always: z.boolean().optional().describe('Allow the tool for the rest of this session.'), idempotencyKey });

const queueItem = z.looseObject({ id: z.string(), sessionId: z.string(), prompt: z.string().nullable(), status: z.enum(['pending', 'running', 'completed', 'interrupted', 'cancelled']), position: z.int().nullable() });
const permission = z.looseObject({ id: z.string(), tool: z.string(), title: z.string(), input: z.string(), state: z.enum(['pending', 'allowed', 'denied', 'expired', 'withdrawn']), expiresAt: iso.nullable() });
const said = (status: string) => z.object({ status: z.literal(status), sessionId: z.string() });
const target = 'session';
const common = { target, plan: true } as const;
const refusals = ['NOT_FOUND', 'CONFLICT'] as const;

export const sessionCareRoutes: readonly Route[] = [
  route('GET', '/api/sessions/interrupted', 'session.manage', { about: 'Sessions that were interrupted, last active first.', answer: z.array(session) }, async ({ desk }) => ({
    body: await recordsOf(desk.supervisor, 'session', await idsOf(desk.supervisor, 'session', { index: 'status', prefix: 'interrupted/', most: 500 })),
  })),
  route('POST', '/api/sessions/bulk-delete', 'session.manage', { about: 'Delete several; those that must stay are named with their reason.', body: bulkBody, answer: z.object({ status: z.literal('deleted'), count: z.int(), preserved: z.array(z.looseObject({ id: z.string() })) }) },
    async ({ desk, body, asking }: Call<z.output<typeof bulkBody>>) => ({ body: { status: 'deleted', ...await deleteSessions(desk, body.ids, asking) } })),
  route('PATCH', '/api/sessions/:id', 'session.manage', { ...common, about: 'Another title, engine, model or effort, from the next turn on.', body: patchBody, answer: session, refusals: [...refusals, 'UNKNOWN_ENGINE', 'UNKNOWN_MODEL', 'UNKNOWN_EFFORT'] }, patch),
  route('DELETE', '/api/sessions/:id', 'session.manage', { ...common, about: 'Delete a session at rest; files of its agent stay. An attempt at a work item is kept: 409 with `preserved`.', body: nothing, answer: z.object({ status: z.literal('deleted') }), refusals },
    async (call) => shown(await deleteSession(call.desk, idOf(call), call.asking), () => ({ status: 'deleted' }))),
  route('POST', '/api/sessions/:id/duplicate', 'session.manage', { ...common, about: 'A copy at rest, with the last messages.', body: nothing, answer: session, status: 201, refusals },
    async (call) => shown(await duplicateSession(call.desk, idOf(call), call.asking), ({ view }) => view)),
  deed('reset', 'session.reset', 'Begin anew: engines forget, and what was said before is no longer told to them.', said('reset'), (call) => ({ status: 'reset', sessionId: idOf(call) })),
  deed('archive', 'session.archive', 'Put a session at rest away, out of the lists.', session),
  deed('unarchive', 'session.unarchive', 'Fetch it back.', session),

  route('GET', '/api/sessions/:id/queue', 'session.manage', { about: 'What waits, runs, or came to an end lately.', answer: z.array(queueItem), target, refusals: ['NOT_FOUND'] }, async (call) => plain(await readQueue(call.desk, idOf(call)))),
  deed('queue/pause', 'queue.pause', 'Begin no further turn.', said('paused'), (call) => ({ status: 'paused', sessionId: idOf(call) })),
  deed('queue/resume', 'queue.resume', 'Go on; also before a provider\'s limit is over.', said('resumed'), (call) => ({ status: 'resumed', sessionId: idOf(call) })),
  route('DELETE', '/api/sessions/:id/queue', 'session.manage', { ...common, about: 'Cancel everything that waits.', body: nothing, answer: z.object({ status: z.literal('cleared'), cancelled: z.int() }), refusals }, clear),
  route('DELETE', '/api/sessions/:id/queue/:item', 'session.manage', { ...common, about: 'Cancel one that waits.', body: nothing, answer: z.object({ status: z.literal('cancelled'), itemId: z.string() }), refusals }, cancel),

  route('GET', '/api/sessions/:id/permissions', 'session.permissions', { about: 'Tools that the agent asked for, latest first, and what became of each.', answer: z.array(permission), target, refusals: ['NOT_FOUND'] }, async (call) => plain(await readPermissions(call.desk, idOf(call)))),
  route('POST', '/api/sessions/:id/permissions/:permission', 'session.permit', { ...common, about: 'Allow or deny a tool that waits.', body: decideBody, answer: session, refusals: [...refusals, 'PERSON_REQUIRED'] }, decide),
];

/** `POST /api/sessions/:id/<path>`: one event without members. */
function deed(path: string, event: Care, about: string, answer: z.ZodType, body?: (call: Call<unknown, unknown>) => object): Route {
  return route('POST', `/api/sessions/:id/${path}`, 'session.manage', { ...common, about, body: nothing, answer, refusals }, async (call) =>
    shown(await careFor(call.desk, idOf(call), event, call.asking), (view) => body?.(call) ?? view.view));
}

const shown = (done: Done<ActorView> | Refusal, body: (view: ActorView) => unknown): Reply | Refusal => (isRefusal(done) ? done : { ...done, body: body(done.value) });
const plain = (body: unknown): Reply | Refusal => (isRefusal(body) ? body : { body });

async function patch(call: Call<z.output<typeof patchBody>>): Promise<Reply | Refusal> {
  const { title, engine, model, effortLevel, effort } = call.body;
  if ([title, engine, model, effortLevel, effort].every((member) => member === undefined)) return refuse('BAD_REQUEST', { path: '' }, 'no recognized fields to update');
  return shown(await patchSession(call.desk, idOf(call), { title, engine, model, effort: effortLevel === undefined ? effort : effortLevel }, call.asking), ({ view }) => view);
}

async function clear(call: Call<unknown, unknown>): Promise<Reply | Refusal> {
  const done = await clearQueue(call.desk, idOf(call), call.asking);
  return isRefusal(done) ? done : { ...done, body: { status: 'cleared', cancelled: done.value.cancelled } };
}

async function cancel(call: Call<unknown, unknown>): Promise<Reply | Refusal> {
  const found = await presentSession(call.desk, idOf(call));
  if (isRefusal(found)) return found;
  const itemId = call.params['item'] ?? '';
  return shown(await askOne(call.desk, 'session', idOf(call), { type: 'queue.cancel', messageId: itemId }, call.asking), () => ({ status: 'cancelled', itemId }));
}

async function decide(call: Call<z.output<typeof decideBody>>): Promise<Reply | Refusal> {
  const found = await presentSession(call.desk, idOf(call));
  if (isRefusal(found)) return found;
  const { decision, note: why, always } = call.body;
  const event = { type: 'permission.decided', permissionId: call.params['permission'] ?? '', decision, ...(why !== undefined && { note: why }), ...(always !== undefined && { always }) };
  const done = await askOne(call.desk, 'session', idOf(call), event, call.asking);
  // a session at rest does not know the event: to the person that is the same as a permission that is gone
  if (isRefusal(done) && done.code === 'UNKNOWN_EVENT') return refuse('CONFLICT', { permissionId: event.permissionId }, 'This permission is not pending: its turn is over.');
  return shown(done, ({ view }) => view);
}
