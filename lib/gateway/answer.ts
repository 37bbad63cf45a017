import { rm } from 'node:fs/promises';
import { ignoresKinship, isOpen, verdict, type CallerKind } from './authority.js';
import type { Visitor } from './cookies.js';
import { nameOf, refusedIdentity, type Identity } from './caller.js';
import { rehearsed, wantsRehearsal } from './dry-run.js';
import { idempotencyOf } from './idempotency.js';
import { bodyBytesDefault, parse, type BodyLimits } from './parse.js';
import { takesKey, type Call, type Reply, type Route } from './route.js';
import { fingerprint, type Multipart } from './upload.js';
import type { Desk } from '../commands/desk.js';
import { kinship } from '../commands/kinship.js';
import { operator, type Caller } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/** What is asked of a route, however it came in: by HTTP, or as a tool of the MCP endpoint. */
export interface Question {
  readonly identity: Identity;
  readonly visitor: Visitor;
  readonly params: Readonly<Record<string, string>>;
  /** `/api/sessions/s1/message`, as asked: part of what an idempotency key covers. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>> | Refusal;
  /** Called once, and only after the caller was found to have the authority. */
  readonly body: (limits: BodyLimits) => Promise<unknown>;
  /** Bytes that came along, where the door can carry them; undefined when the body is none of these. */
  readonly multipart?: () => Promise<Multipart | Refusal | undefined>;
  readonly header: (name: string) => string | undefined;
}

/**
 * One question through one route: authority by the table, then parsing, then the route's function. The only way in, so
 * that every door refuses alike.
 * @example await answering(desk, route, {openReads: false})(question)
 */
export function answering(desk: Desk, route: Route, options: { openReads: boolean }): (question: Question) => Promise<Reply | Refusal> {
  const { shape } = route;
  const limits = { bytesMax: shape.bodyBytesMax ?? bodyBytesDefault, ...(shape.forbidden && { forbidden: shape.forbidden }) };
  const open = isOpen(route.authority);
  const openToBad = verdict(route.authority, 'bad') === 'yes';
  const judgedByKinship = !ignoresKinship(route.authority);

  const strange = judgedByKinship && shape.target
    ? 'An agent reaches only its own sessions and work, what is beneath it, and what it manages. Ask whose it is.'
    : `This is for people (${route.authority}); no agent may do it. Ask a person, or use a tool that you have.`;

  async function authorize({ identity, params }: Question): Promise<Caller | Refusal> {
    if (identity.type !== 'known') {
      if (open && (openToBad || identity.type === 'none')) return operator; // public routes tell everybody the same; `authenticated` is false
      if (open && identity.type === 'bad') return refuseBad();
      // reads are open where authentication is switched off, which only a loopback gateway may do
      if (identity.type === 'none' && options.openReads && route.method === 'GET') return operator;
      return refusedIdentity(identity);
    }
    const { caller } = identity;
    const kind = await kindOf(caller, params);
    if (isRefusal(kind)) return kind;
    const judged = verdict(route.authority, kind);
    if (judged === 'yes' || judged === 'policy') return caller;
    return judged === 'FORBIDDEN' && caller.type === 'session' ? refuse(judged, { authority: route.authority }, strange) : refuse(judged);
  }

  function refuseBad(): Refusal {
    const judged = verdict(route.authority, 'bad');
    return judged === 'yes' || judged === 'policy' ? refusedIdentity({ type: 'bad' }) : refuse(judged);
  }

  async function kindOf(caller: Caller, params: Question['params']): Promise<CallerKind | Refusal> {
    if (caller.type !== 'session') return caller.type === 'device' ? 'device' : 'operator';
    if (!judgedByKinship || !shape.target) return 'self';
    const kind = shape.target === 'param' ? params['kind'] ?? '' : shape.target;
    const found = await kinship(desk, caller, kind, params['id'] ?? '');
    return found === 'absent' ? refuse('NOT_FOUND', { kind, id: params['id'] }) : found;
  }

  const audited = verdict(route.authority, 'bad') !== 'yes'; // what everybody may do is no decision
  return async (question) => {
    const outcome = await ask(question);
    const audit = audited ? desk.records?.audit : undefined;
    audit?.decided({
      by: nameOf(question.identity), address: question.visitor.address, authority: route.authority, method: route.method, target: question.params['id'] ?? question.params['name'],
      ...(isRefusal(outcome) ? { verdict: outcome.status === 401 || outcome.status === 403 ? 'refused' : 'allowed', code: outcome.code } : { verdict: 'allowed' }),
    });
    return outcome;
  };

  async function ask(question: Question): Promise<Reply | Refusal> {
    const by = await authorize(question);
    if (isRefusal(by)) return by;
    const given = question.query;
    if (isRefusal(given)) return given;
    const rehearsal = route.method === 'GET' ? false : wantsRehearsal(given, shape.plan === true);
    if (isRefusal(rehearsal)) return rehearsal;
    const query = shape.query ? parse(shape.query, given, 'query') : undefined;
    if (isRefusal(query)) return query;
    if (shape.upload && desk.supervisor.status.diskLow) return refuse('DISK_LOW'); // before the bytes are taken in
    const multipart = shape.upload ? await question.multipart?.() : undefined;
    if (isRefusal(multipart)) return multipart;
    try {
      return await run(question, by, query, rehearsal, multipart);
    } finally {
      if (multipart?.upload) await rm(multipart.upload.path, { force: true }); // whoever wanted the bytes has moved them
    }
  }

  async function run(question: Question, by: Caller, query: unknown, rehearsal: boolean, multipart: Multipart | undefined): Promise<Reply | Refusal> {
    const { params, header } = question;
    let bytes: Buffer | undefined;
    const bounds = shape.keepsBytes ? { ...limits, onBytes: (came: Buffer) => { bytes = came; } } : limits;
    const raw = multipart ? { ...multipart.fields } : shape.body ? await question.body(bounds) : undefined;
    if (isRefusal(raw)) return raw;
    const body = shape.body ? parse(shape.body, raw, 'body') : undefined;
    if (isRefusal(body)) return body;
    const idempotency = takesKey(shape)
      ? idempotencyOf({ header: header('idempotency-key'), body: multipart?.upload ? { ...multipart.fields, file: await fingerprint(multipart.upload) } : raw, by, route: `${route.method} ${question.path}` })
      : undefined;
    if (isRefusal(idempotency)) return idempotency;
    const asking = { by, ...(idempotency && !rehearsal && { idempotency }), ...(rehearsal && { dryRun: true }) };
    const authenticated = question.identity.type === 'known';
    const upload = multipart?.upload;
    const outcome = await route.run({ desk, by, authenticated, visitor: question.visitor, params, query, body, asking, header, ...(bytes && { bytes }), ...(upload && { upload }) } as Call<never, never>);
    return rehearsal ? rehearsed(outcome) : outcome;
  }
}
