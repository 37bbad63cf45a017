import { z } from 'zod';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import { actors, detail, fleet, history as historyOf } from '../../../inspector/actors.js';
import { eventSchema } from '../../../inspector/event-schema.js';
import { work } from '../../../inspector/work.js';
import { judgeSendable, sendableOf } from '../../../inspector/sendable.js';
import type { WhyAnswer } from '../../../inspector/answers.js';
import type { LogEntry } from '../../../supervisor/answers.js';
import type { ActorView } from '../../../supervisor/contract.js';
import { nextCursor, rowCursor, idOf } from '../../parse.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import type { Reply } from '../../../commands/request.js';
import { text, wholeNumber } from '../../schemas.js';

/**
 * Every actor, laid open: all of them in numbers, pages of them, one of them with its history and what may
 * happen next. Shapes: lib/inspector/answers.ts.
 */
const seq = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a log position')
  .transform(Number);
const flag = z.enum(['1', 'true', '0', 'false']).transform((word) => word === '1' || word === 'true');
const listQuery = z.object({
  kind: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be the name of a kind'),
  state: text(300)
    .optional()
    .describe(
      'Path of a state (`running`, `work.executing`), a prefix of paths (`work`), or `halted`; ' +
        'longest in the state first.',
    ),
  order: z.enum(['id', 'age']).optional().describe('`age` needs `state`, where it is the default.'),
  age: wholeNumber(0, 1_000_000_000)
    .optional()
    .describe('Seconds: only actors that have been in `state` at least this long.'),
  after: text(1000).optional().describe('`next` of the page before.'),
  cursor: text(1000).optional().describe('`nextCursor` of the page before: the same as `after`.'),
  offset: wholeNumber(0, 10_000_000)
    .optional()
    .describe('How many to skip. For a distant page; `after` is cheaper.'),
  limit: wholeNumber(1, 1000).optional(),
});
const atQuery = z.object({ at: seq.optional().describe('Time travel: the actor as of this log position.') });
const historyQuery = z.object({
  before: seq.optional(),
  cursor: rowCursor,
  revision: wholeNumber(1, 1_000_000_000)
    .optional()
    .describe('Begin at this step of the actor (its first is 1), or at its last; not with `before`.'),
  limit: wholeNumber(1, 500).optional(),
  diff: flag.optional().describe('Include the context changes of each entry.'),
});
const sendBody = z.object({
  event: z
    .looseObject({ type: z.string().min(1).max(200) })
    .describe('One of the events that the kind allows people to send (`sendable`), with its members.'),
});
const nothing = z.object({});

const actor = z.looseObject({ kind: z.string(), id: z.string(), seq: z.int(), value: z.unknown() });
const entry = z.looseObject({
  seq: z.int(),
  at: z.int(),
  kind: z.string(),
  id: z.string(),
  from: z.unknown(),
  to: z.unknown(),
});
const next = z.looseObject({
  event: z.string(),
  allowed: z.boolean(),
  to: z.array(z.string()).optional(),
  needs: z.array(z.string()).optional(),
  refusal: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  sendable: z.boolean(),
  schema: z
    .object({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()) })
    .optional()
    .describe('The members that it takes, each as JSON Schema.'),
});
const last = z
  .looseObject({
    position: z.int(),
    at: z.int(),
    event: z.string(),
    by: z.string().describe('Whose hand it was.'),
    onBehalfOf: z.array(z.string()).optional().describe('Who caused it, where that is another.'),
  })
  .describe('What brought it here; absent where the log is trimmed.');
const working = z.object({
  said: z
    .object({ at: z.number().describe('Epoch ms.'), text: z.string() })
    .nullable()
    .describe('The end of what it said and is not stored yet. Null after a restart.'),
  place: z.int().nullable().describe('Of a session that waits for a process slot: its place in the queue.'),
  worker: z
    .object({
      name: z.string(),
      state: z.enum(['serving', 'draining', 'earlier']),
      pid: z.int(),
      startedAt: z.number().describe('Epoch ms.'),
      since: z.number().describe('Since when the turn is there. Epoch ms.'),
      memoryBytes: z.number().nullable().describe('Resident, without its agents.'),
    })
    .nullable()
    .describe('Of a session: the worker in which its turn runs. Null where it runs in the gateway.'),
  processes: z.array(
    z.object({ pid: z.int(), isAlive: z.boolean().nullable(), machine: z.string().nullable() }),
  ),
});
const inKind = z.looseObject({
  kind: z.string(),
  total: z.int(),
  states: z.record(z.string(), z.int()),
  halted: z.int(),
});

export const inspectRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/inspect/fleet',
    'inspect.list',
    {
      about: 'The number of actors by kind and state. The cost does not depend on the number.',
      answer: z.looseObject({
        seq: z.int(),
        kinds: z.array(inKind),
        timeZone: z.string().nullable().describe('`portal.timeZone`'),
      }),
    },
    async ({ app }) => ({
      body: { ...(await fleet(app.supervisor)), timeZone: app.settings.timeZone ?? null },
    }),
  ),
  route(
    'GET',
    '/api/inspect/actors',
    'inspect.list',
    {
      about: 'A page of the actors of a kind, or of a state of it.',
      query: listQuery,
      answer: z.object({ actors: z.array(actor), next: z.string().nullable(), nextCursor }),
    },
    list,
  ),
  route(
    'GET',
    '/api/inspect/actors/:kind/:id',
    'inspect.actor',
    {
      about: 'An actor: state, view, context, timers, effects, relations; now or as of a log position.',
      query: atQuery,
      answer: actor,
      target: 'param',
      refusals: ['NOT_FOUND'],
    },
    read,
  ),
  route(
    'GET',
    '/api/inspect/actors/:kind/:id/history',
    'inspect.history',
    {
      about: 'The history of an actor, newest first.',
      query: historyQuery,
      answer: z.object({ entries: z.array(entry), nextCursor }),
      target: 'param',
      refusals: ['NOT_FOUND'],
    },
    history,
  ),
  route(
    'GET',
    '/api/inspect/actors/:kind/:id/why',
    'inspect.why',
    {
      about: 'What this caller may do next, and why the rest is refused.',
      answer: z.looseObject({ next: z.array(next), last: last.optional() }),
      target: 'param',
      refusals: ['NOT_FOUND'],
    },
    why,
  ),
  route(
    'GET',
    '/api/inspect/actors/:kind/:id/work',
    'inspect.actor',
    {
      about: 'How it goes with the effects of an actor: last output, place in the queue, worker, processes.',
      answer: working,
      target: 'param',
      refusals: ['NOT_FOUND'],
    },
    readWork,
  ),
  route(
    'POST',
    '/api/inspect/actors/:kind/:id/send',
    'inspect.send',
    {
      about: 'Send an event that the kind allows people to send; the policy of the kind applies.',
      body: sendBody,
      answer: actor,
      target: 'param',
      plan: true,
      refusals: ['NOT_FOUND', 'UNKNOWN_EVENT', 'CONFLICT', 'FORBIDDEN'],
    },
    send,
  ),
  route(
    'POST',
    '/api/inspect/actors/:kind/:id/resume',
    'inspect.resume',
    {
      about: 'Resume an actor that was halted after too many failures.',
      body: nothing,
      answer: actor,
      target: 'param',
      refusals: ['NOT_FOUND', 'CONFLICT'],
    },
    resume,
  ),
];

const keyOf = (request: HttpRequest<unknown, unknown>) => ({
  kind: request.params['kind'] ?? '',
  id: idOf(request),
});
const absent = (request: HttpRequest<unknown, unknown>): Refusal => refuse('NOT_FOUND', keyOf(request));
const shown = ({ kind, id, revision: rev, position: at, value, status, meta, view }: ActorView) => ({
  kind,
  id,
  rev,
  seq: at,
  value,
  status,
  meta,
  view,
});
const kindOf = (request: HttpRequest<unknown, unknown>) =>
  request.app.supervisor.inspection.kinds().find(({ kind }) => kind === request.params['kind'])?.definition;

async function list({
  app,
  query,
}: HttpRequest<unknown, z.output<typeof listQuery>>): Promise<Reply | Refusal> {
  if ((query.order === 'age' || query.age !== undefined) && query.state === undefined)
    return refuse('BAD_REQUEST', { path: 'state' }, 'state is required with age');
  const { cursor, after = cursor || undefined } = query;
  if (after !== undefined && query.offset !== undefined)
    return refuse('BAD_REQUEST', { path: 'offset' }, 'offset and after are mutually exclusive');
  const page = await actors(app.supervisor, { ...query, after, limit: query.limit ?? 100 });
  return isRefusal(page) ? page : { body: { ...page, nextCursor: page.next } };
}

async function read(request: HttpRequest<unknown, z.output<typeof atQuery>>): Promise<Reply | Refusal> {
  if (kindOf(request) === undefined) return absent(request);
  const { at } = request.query;
  if (at !== undefined) {
    const past = await request.app.supervisor.past(keyOf(request), at);
    if (!past) return absent(request);
    const { position, ...state } = past;
    return { body: { ...keyOf(request), seq: position, ...state } };
  }
  const found = await detail(request.app.supervisor, keyOf(request));
  return found ? { body: found } : absent(request);
}

async function readWork(request: HttpRequest): Promise<Reply | Refusal> {
  const { app } = request;
  const key = keyOf(request);
  if (kindOf(request) === undefined || !(await app.supervisor.get(key.kind, key.id))) return absent(request);
  return { body: await work(app.supervisor, key, app) };
}

async function history(
  request: HttpRequest<unknown, z.output<typeof historyQuery>>,
): Promise<Reply | Refusal> {
  const { cursor, before = cursor, revision, limit = 50, diff } = request.query;
  if (before !== undefined && revision !== undefined)
    return refuse('BAD_REQUEST', { path: 'revision' }, 'revision and before are mutually exclusive');
  if (
    kindOf(request) === undefined ||
    !(await request.app.supervisor.get(request.params['kind'] ?? '', idOf(request)))
  )
    return absent(request);
  const page = await historyOf(request.app.supervisor, keyOf(request), { limit, before, revision, diff });
  const last = page.entries.length === limit ? page.entries.at(-1) : undefined;
  return { body: { ...page, nextCursor: last === undefined ? null : String(last.seq) } };
}

async function why(request: HttpRequest): Promise<Reply | Refusal> {
  const kind = kindOf(request);
  const answer = kind && (await request.app.supervisor.why(keyOf(request), request.caller));
  if (kind === undefined || answer === undefined) return absent(request);
  const open = sendableOf(kind);
  const [stored] = await request.app.supervisor.inspection.stored([keyOf(request)]);
  const isHalted = (stored?.halted ?? null) !== null; // whatever is sent waits until a person resumes it
  const [last] = await request.app.supervisor.history(keyOf(request), { limit: 1 });
  return {
    body: {
      ...answer,
      ...(last && { last: lastStep(last) }),
      actor: shown(answer.actor),
      next: answer.next.map((move) => {
        const sendable = !isHalted && open.includes(move.event);
        return { ...move, sendable, ...(sendable && { schema: eventSchema(kind, move.event) }) };
      }),
    },
  };
}

/** What brought it here: the event, the hand, and who caused it where that is another. */
const lastStep = ({ position, at, event, by, onBehalfOf }: LogEntry): WhyAnswer['last'] => ({
  position,
  at,
  event: String((event as { readonly type?: unknown }).type),
  by,
  ...(onBehalfOf !== undefined && { onBehalfOf }),
});

async function send(request: HttpRequest<z.output<typeof sendBody>>): Promise<Reply | Refusal> {
  const kind = kindOf(request);
  if (kind === undefined) return absent(request);
  const { event } = request.body;
  const refusal = judgeSendable(kind, event);
  if (refusal) return refusal;
  const view = await request.app.supervisor.ask(kind.kind, idOf(request), event, request);
  if (isRefusal(view)) return view;
  return {
    body: shown(view),
    ...(view.steps && { steps: view.steps }),
    ...(view.replayed && { replayed: true }),
  };
}

async function resume(request: HttpRequest): Promise<Reply | Refusal> {
  if (!(await request.app.supervisor.get(request.params['kind'] ?? '', idOf(request))))
    return absent(request);
  const view = await request.app.supervisor.resume(keyOf(request), request.caller);
  return isRefusal(view) ? view : { body: shown(view) };
}
