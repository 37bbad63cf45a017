import { z } from 'zod';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { actors, detail, fleet, history as historyOf } from '../../inspector/actors.js';
import { judgeSendable, sendableOf } from '../../inspector/sendable.js';
import type { ActorView } from '../../supervisor/contract.js';
import { idOf, route, type Call, type Reply, type Route } from '../route.js';
import { text, wholeNumber } from '../shapes.js';

/** Every actor, laid open: all of them in numbers, pages of them, one of them with its history and what may happen next. Shapes: lib/inspector/answers.ts. */
const seq = z.string().regex(/^\d{1,15}$/, 'must be a log position').transform(Number);
const flag = z.enum(['1', 'true', '0', 'false']).transform((word) => word === '1' || word === 'true');
const listQuery = z.object({
  kind: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be the name of a kind'),
  state: text(300).optional().describe('Path of a state (`running`, `work.executing`), the beginning of some (`work`), or `halted`: those longest in it first.'),
  order: z.enum(['id', 'age']).optional().describe('`age` needs `state` and is what it answers anyway.'),
  age: wholeNumber(0, 1_000_000_000).optional().describe('Seconds: only those that have been in `state` for so long at least.'),
  after: text(1000).optional(),
  offset: wholeNumber(0, 10_000_000).optional().describe('Pass over so many first. For a page far from the last one; `after` costs less.'),
  limit: wholeNumber(1, 1000).optional(),
});
const atQuery = z.object({ at: seq.optional().describe('Time travel: as it was after this log position.') });
const historyQuery = z.object({ before: seq.optional(), limit: wholeNumber(1, 500).optional(), diff: flag.optional().describe('Say of each entry what it changed in the context.') });
const lettersQuery = z.object({ limit: wholeNumber(1, 500).optional() });
const sendBody = z.object({ event: z.looseObject({ type: z.string().min(1).max(200) }).describe('One of the events that the kind opens to people (`sendable`), with its members.') });
const nothing = z.object({});

const actor = z.looseObject({ kind: z.string(), id: z.string(), seq: z.int(), value: z.unknown() });
const entry = z.looseObject({ seq: z.int(), at: z.int(), kind: z.string(), id: z.string(), from: z.unknown(), to: z.unknown() });
const next = z.looseObject({ event: z.string(), allowed: z.boolean(), to: z.array(z.string()).optional(), needs: z.array(z.string()).optional(), refusal: z.looseObject({ code: z.string(), message: z.string() }).optional(), sendable: z.boolean() });
const letter = z.looseObject({ id: z.string(), at: z.int(), error: z.string(), faultId: z.string() });
const inKind = z.looseObject({ kind: z.string(), total: z.int(), states: z.record(z.string(), z.int()), halted: z.int() });

export const inspectRoutes: readonly Route[] = [
  route('GET', '/api/inspect/fleet', 'inspect.list', { about: 'How many actors of each kind stand in each state. Costs the same however many there are.', answer: z.looseObject({ seq: z.int(), kinds: z.array(inKind) }) }, async ({ desk }) => ({ body: await fleet(desk.supervisor) })),
  route('GET', '/api/inspect/actors', 'inspect.list', { about: 'A page of the actors of a kind, or of those in a state.', query: listQuery, answer: z.object({ actors: z.array(actor), next: z.string().nullable() }) }, list),
  route('GET', '/api/inspect/actors/:kind/:id', 'inspect.actor', { about: 'An actor: state, view, context, timers, effects, kin; now or as of a log position.', query: atQuery, answer: actor, target: 'param', refusals: ['NOT_FOUND'] }, read),
  route('GET', '/api/inspect/actors/:kind/:id/history', 'inspect.history', { about: 'What happened to an actor, newest first.', query: historyQuery, answer: z.object({ entries: z.array(entry) }), target: 'param', refusals: ['NOT_FOUND'] }, history),
  route('GET', '/api/inspect/actors/:kind/:id/why', 'inspect.why', { about: 'What may happen next for this caller, and what stands in the way of the rest.', answer: z.looseObject({ next: z.array(next) }), target: 'param', refusals: ['NOT_FOUND'] }, why),
  route('POST', '/api/inspect/actors/:kind/:id/send', 'inspect.send', { about: 'Send an event that the kind opens to people; its policy judges it like any other.', body: sendBody, answer: actor, target: 'param', plan: true, refusals: ['NOT_FOUND', 'UNKNOWN_EVENT', 'CONFLICT', 'FORBIDDEN'] }, send),
  route('POST', '/api/inspect/actors/:kind/:id/resume', 'inspect.resume', { about: 'Let an actor go on that was halted after too many failures.', body: nothing, answer: actor, target: 'param', refusals: ['NOT_FOUND', 'CONFLICT'] }, resume),
  route('GET', '/api/inspect/dead-letters', 'inspect.dead-letters', { about: 'Events at which an actor failed.', query: lettersQuery, answer: z.object({ deadLetters: z.array(letter) }) }, deadLetters),
  route('POST', '/api/inspect/dead-letters/:id/retry', 'inspect.retry', { about: 'Put a dead letter back into its actor\'s mailbox.', body: nothing, answer: z.object({ retried: z.string() }), refusals: ['NOT_FOUND'] }, retry),
];

const keyOf = (call: Call<unknown, unknown>) => ({ kind: call.params['kind'] ?? '', id: idOf(call) });
const absent = (call: Call<unknown, unknown>): Refusal => refuse('NOT_FOUND', keyOf(call));
const shown = ({ kind, id, rev, seq: at, value, status, meta, view }: ActorView) => ({ kind, id, rev, seq: at, value, status, meta, view });
const kindOf = (call: Call<unknown, unknown>) => call.desk.supervisor.inspection.kinds().find(({ kind }) => kind === call.params['kind'])?.definition;

async function list({ desk, query }: Call<unknown, z.output<typeof listQuery>>): Promise<Reply | Refusal> {
  if ((query.order === 'age' || query.age !== undefined) && query.state === undefined) return refuse('BAD_REQUEST', { path: 'state' }, 'state: an age needs one');
  if (query.after !== undefined && query.offset !== undefined) return refuse('BAD_REQUEST', { path: 'offset' }, 'offset: not together with after');
  const page = await actors(desk.supervisor, { ...query, limit: query.limit ?? 100 });
  return isRefusal(page) ? page : { body: page };
}

async function read(call: Call<unknown, z.output<typeof atQuery>>): Promise<Reply | Refusal> {
  if (kindOf(call) === undefined) return absent(call);
  const { at } = call.query;
  if (at !== undefined) {
    const past = await call.desk.supervisor.past(keyOf(call), at);
    return past ? { body: { ...keyOf(call), ...past } } : absent(call);
  }
  const found = await detail(call.desk.supervisor, keyOf(call));
  return found ? { body: found } : absent(call);
}

async function history(call: Call<unknown, z.output<typeof historyQuery>>): Promise<Reply | Refusal> {
  const { before, limit, diff } = call.query;
  if (kindOf(call) === undefined || !(await call.desk.supervisor.get(call.params['kind'] ?? '', idOf(call)))) return absent(call);
  return { body: await historyOf(call.desk.supervisor, keyOf(call), { limit: limit ?? 50, before, diff }) };
}

async function why(call: Call): Promise<Reply | Refusal> {
  const kind = kindOf(call);
  const answer = kind && await call.desk.supervisor.why(keyOf(call), call.by);
  if (kind === undefined || answer === undefined) return absent(call);
  const open = sendableOf(kind);
  return { body: { ...answer, actor: shown(answer.actor), next: answer.next.map((move) => ({ ...move, sendable: open.includes(move.event) })) } };
}

async function send(call: Call<z.output<typeof sendBody>>): Promise<Reply | Refusal> {
  const kind = kindOf(call);
  if (kind === undefined) return absent(call);
  const { event } = call.body;
  const refusal = judgeSendable(kind, event);
  if (refusal) return refusal;
  const view = await call.desk.supervisor.ask(kind.kind, idOf(call), event, call.asking);
  if (isRefusal(view)) return view;
  return { body: shown(view), ...(view.steps && { steps: view.steps }), ...(view.replayed && { replayed: true }) };
}

async function resume(call: Call): Promise<Reply | Refusal> {
  if (!(await call.desk.supervisor.get(call.params['kind'] ?? '', idOf(call)))) return absent(call);
  const view = await call.desk.supervisor.resume(keyOf(call), call.by);
  return isRefusal(view) ? view : { body: shown(view) };
}

async function deadLetters({ desk, query }: Call<unknown, z.output<typeof lettersQuery>>): Promise<Reply> {
  return { body: { deadLetters: await desk.supervisor.deadLetters({ limit: query.limit ?? 100 }) } };
}

async function retry(call: Call): Promise<Reply | Refusal> {
  const done = await call.desk.supervisor.retry(idOf(call), call.by);
  return isRefusal(done) ? done : { body: { retried: idOf(call) } };
}
