import { z } from 'zod';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { ActorView } from '../../supervisor/contract.js';
import { idOf, route, type Call, type Reply, type Route } from '../route.js';
import { text, wholeNumber } from '../shapes.js';

const seq = z.string().regex(/^\d{1,15}$/, 'must be a log position').transform(Number);
const listQuery = z.object({
  kind: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be the name of a kind'),
  after: text(1000).optional(),
  limit: wholeNumber(1, 1000).optional(),
});
const atQuery = z.object({ at: seq.optional().describe('Time travel: as it was after this log position.') });
const historyQuery = z.object({ before: seq.optional(), limit: wholeNumber(1, 500).optional() });
const lettersQuery = z.object({ limit: wholeNumber(1, 500).optional() });
const nothing = z.object({});

const actor = z.looseObject({ kind: z.string(), id: z.string(), seq: z.int(), value: z.unknown() });
const entry = z.looseObject({ seq: z.int(), at: z.int(), kind: z.string(), id: z.string(), from: z.unknown(), to: z.unknown() });
const next = z.looseObject({ event: z.string(), allowed: z.boolean(), to: z.array(z.string()).optional(), needs: z.array(z.string()).optional(), refusal: z.looseObject({ code: z.string(), message: z.string() }).optional() });
const letter = z.looseObject({ id: z.string(), at: z.int(), error: z.string(), faultId: z.string() });

export const inspectRoutes: readonly Route[] = [
  route('GET', '/api/inspect/actors', 'inspect.list', { about: 'The actors of a kind.', query: listQuery, answer: z.object({ actors: z.array(z.looseObject({ id: z.string() })), next: z.string().nullable() }) }, list),
  route('GET', '/api/inspect/actors/:kind/:id', 'inspect.actor', { about: 'An actor: state, view, what the kernel knows; now or as of a log position.', query: atQuery, answer: actor, target: 'param', refusals: ['NOT_FOUND'] }, read),
  route('GET', '/api/inspect/actors/:kind/:id/history', 'inspect.history', { about: 'What happened to an actor, newest first.', query: historyQuery, answer: z.object({ entries: z.array(entry) }), target: 'param', refusals: ['NOT_FOUND'] }, history),
  route('GET', '/api/inspect/actors/:kind/:id/why', 'inspect.why', { about: 'What may happen next for this caller, and what stands in the way of the rest.', answer: z.looseObject({ next: z.array(next) }), target: 'param', refusals: ['NOT_FOUND'] }, why),
  route('POST', '/api/inspect/actors/:kind/:id/resume', 'inspect.resume', { about: 'Let an actor go on that was halted after too many failures.', body: nothing, answer: actor, target: 'param', refusals: ['NOT_FOUND', 'CONFLICT'] }, resume),
  route('GET', '/api/inspect/dead-letters', 'inspect.dead-letters', { about: 'Events at which an actor failed.', query: lettersQuery, answer: z.object({ deadLetters: z.array(letter) }) }, deadLetters),
  route('POST', '/api/inspect/dead-letters/:id/retry', 'inspect.retry', { about: 'Put a dead letter back into its actor\'s mailbox.', body: nothing, answer: z.object({ retried: z.string() }), refusals: ['NOT_FOUND'] }, retry),
];

const keyOf = (call: Call<unknown, unknown>) => ({ kind: call.params['kind'] ?? '', id: idOf(call) });
const absent = (call: Call<unknown, unknown>): Refusal => refuse('NOT_FOUND', keyOf(call));
const shown = ({ kind, id, rev, seq: at, value, status, meta, view }: ActorView) => ({ kind, id, rev, seq: at, value, status, meta, view });

async function list({ desk, query }: Call<unknown, z.output<typeof listQuery>>): Promise<Reply> {
  const page = await desk.supervisor.list(query.kind, { index: 'all', limit: query.limit ?? 100, ...(query.after !== undefined && { after: query.after }) });
  return { body: { actors: page.items.map((item) => ({ kind: query.kind, id: item.id, view: item.row })), next: page.next } };
}

async function read(call: Call<unknown, z.output<typeof atQuery>>): Promise<Reply | Refusal> {
  const { at } = call.query;
  if (at !== undefined) {
    const past = await call.desk.supervisor.past(keyOf(call), at);
    return past ? { body: { ...keyOf(call), ...past } } : absent(call);
  }
  const view = await call.desk.supervisor.get(call.params['kind'] ?? '', idOf(call));
  return view ? { body: shown(view) } : absent(call);
}

async function history(call: Call<unknown, z.output<typeof historyQuery>>): Promise<Reply | Refusal> {
  const { before, limit } = call.query;
  if (!(await call.desk.supervisor.get(call.params['kind'] ?? '', idOf(call)))) return absent(call);
  return { body: { entries: await call.desk.supervisor.history(keyOf(call), { limit: limit ?? 50, ...(before !== undefined && { before }) }) } };
}

async function why(call: Call): Promise<Reply | Refusal> {
  const answer = await call.desk.supervisor.why(keyOf(call), call.by);
  return answer ? { body: { ...answer, actor: shown(answer.actor) } } : absent(call);
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
