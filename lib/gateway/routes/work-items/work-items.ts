import { z } from 'zod';
import { createWorkItem } from '../../../commands/work-items/create-work-item.js';
import { askActor, type Reply } from '../../../commands/request.js';
import { attemptsOf, spendOf } from '../../../commands/sessions/list-sessions.js';
import { listWorkItems } from '../../../commands/work-items/list-work-items.js';
import { whatNext } from '../../../commands/work-items/next-moves.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import { limits } from '../../../../machines/work-item/context.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { idOf, place } from '../../parse.js';
import {
  agreeing,
  boundedText,
  employeeName,
  filter,
  idempotencyKey,
  instant,
  labels,
  sentence,
  session,
  text,
  verifyPolicy,
  wholeNumber,
  workItemSource,
  workItemStatus,
} from '../../schemas.js';
import { workItem, workItemEvent, workItemRow } from './schemas.js';
import { eventsOf } from './rows.js';
import { assignBody, statusBody, archiveBody, assign, move, archive, putAway } from './moves.js';

const listQuery = agreeing(
  z.object({
    status: workItemStatus.optional(),
    source: workItemSource.optional(),
    assignee: filter.optional(),
    department: filter.optional(),
    label: filter.optional(),
    since: instant
      .optional()
      .describe('`updatedAt` from this time on. A date (midnight UTC) or a zoned timestamp.'),
    until: instant.optional().describe('`updatedAt` up to this time.'),
    q: text(1024).optional().describe('Substring of id, title or body.'),
    text: text(1024).optional().describe('The same as `q`.'),
    needsAttentionFor: filter.optional().describe('An employee, `operator`, or `me`.'),
    limit: wholeNumber(1, 100).optional().describe('Default 20.'),
    offset: wholeNumber(0, 1_000_000).optional(),
    cursor: place,
  }),
  ['q', 'text'],
);

const createBody = z.object({
  title: sentence(20_000).describe('Truncated to 200 characters.'),
  body: boundedText(limits.bodyBytesMax).nullish(),
  acceptance: boundedText(limits.acceptanceBytesMax).nullish(),
  assignee: employeeName.nullish(),
  department: text(200).nullish().describe('Default: the department of the assignee.'),
  verifyPolicy: verifyPolicy.nullish(),
  parentId: text(200).nullish().describe('Makes it a sub-task; sub-tasks nest at most 3 deep.'),
  dueAt: instant.nullish(),
  labels: labels.optional(),
  idempotencyKey,
});

const patchBody = z.strictObject({
  title: sentence(200).optional(),
  body: boundedText(limits.bodyBytesMax).nullable().optional(),
  acceptance: boundedText(limits.acceptanceBytesMax).nullable().optional(),
  assignee: employeeName.nullable().optional(),
  department: text(200).nullable().optional(),
  priority: z.int().min(0).max(3).optional(),
  rank: z.number().nullable().optional(),
  dueAt: instant.nullable().optional(),
  verifyPolicy: verifyPolicy.nullable().optional(),
  expectedVersion: z.int().min(1).optional().describe('Or the header `If-Match: "<version>"`.'),
  idempotencyKey,
});

/** Where it comes from, where it stands and what was approved are known, never said. */
const forbidden = [
  'provenance',
  'approval*',
  'source',
  'sourceRef',
  'status',
  'createdBy',
  'rootId',
  'depth',
  'rounds',
];

const target = 'work-item';

const one = z.object({ workItem });

const page = z.object({
  workItems: z.array(workItemRow),
  total: z.int(),
  totals: z.record(z.string(), z.int()),
  limit: z.int(),
  offset: z.int(),
  nextOffset: z.int().nullable(),
  nextCursor: z.string().nullable(),
});

const judged = { allowed: z.boolean(), code: z.string().optional(), reason: z.string().optional() };

const next = z.looseObject({
  workItemId: z.string(),
  status: workItemStatus,
  moves: z.array(z.object({ status: workItemStatus, noteNeeded: z.boolean().optional(), ...judged })),
  operations: z.array(z.object({ operation: z.string(), ...judged })),
});

const whole = z.object({ workItem, spendUsd: z.number(), events: z.array(workItemEvent) });

export const workItemRoutes: readonly Route[] = [
  route(
    'POST',
    '/api/work-items',
    'work-item.create',
    {
      about: 'Create a work item; does not start work.',
      body: createBody,
      answer: one,
      status: 201,
      forbidden,
      plan: true,
      refusals: ['UNKNOWN_EMPLOYEE', 'NOT_FOUND', 'NOT_OWNER', 'TERMINAL'],
    },
    create,
  ),
  route(
    'GET',
    '/api/work-items',
    'work-item.list',
    { about: 'List work items: ranked ones first, then by latest change.', query: listQuery, answer: page },
    list,
  ),
  route(
    'GET',
    '/api/work-items/:id',
    'work-item.read',
    {
      about: 'A work item with its ledger and its cost.',
      answer: whole,
      target,
      refusals: ['NOT_FOUND'],
    },
    read,
  ),
  route(
    'PATCH',
    '/api/work-items/:id',
    'work-item.edit',
    {
      about: 'Edit metadata; needs the version that was read.',
      body: patchBody,
      answer: one.extend({ replayed: z.boolean() }),
      target,
      forbidden,
      plan: true,
      bodyBytesMax: 65_536,
      refusals: ['NOT_FOUND', 'PRECONDITION_REQUIRED', 'VERSION_CONFLICT', 'UNKNOWN_EMPLOYEE'],
    },
    edit,
  ),
  route(
    'POST',
    '/api/work-items/:id/assign',
    'work-item.assign',
    {
      about: 'Assign a work item.',
      body: assignBody,
      answer: one,
      target,
      plan: true,
      refusals: ['NOT_FOUND', 'UNKNOWN_EMPLOYEE', 'NOT_OWNER', 'TERMINAL', 'CONFLICT'],
    },
    assign,
  ),
  route(
    'POST',
    '/api/work-items/:id/status',
    'work-item.status',
    {
      about: 'Change the status along an allowed transition. `blocked` and `escalated` need a note.',
      body: statusBody,
      answer: one.extend({ escalated: z.boolean() }),
      target,
      forbidden: ['provenance', 'approval*'],
      plan: true,
      refusals: [
        'NOT_FOUND',
        'ILLEGAL_TRANSITION',
        'NOTE_REQUIRED',
        'ASSIGNEE_REQUIRED',
        'PERSON_REQUIRED',
        'SELF_REVIEW',
        'NOT_OWNER',
        'CANCEL_BY_ARCHIVE',
      ],
    },
    move,
  ),
  route(
    'PUT',
    '/api/work-items/:id/status',
    'work-item.set-status',
    {
      about: 'For consoles: a person changes the status; `cancelled` archives the work item.',
      body: statusBody,
      answer: one.extend({ escalated: z.boolean() }),
      target,
      forbidden: ['provenance', 'approval*'],
      plan: true,
      refusals: [
        'NOT_FOUND',
        'ILLEGAL_TRANSITION',
        'NOTE_REQUIRED',
        'ASSIGNEE_REQUIRED',
        'TERMINAL',
        'GATE_PARKED',
      ],
    },
    (request) => (request.body.status === 'cancelled' ? putAway(request) : move(request)),
  ),
  route(
    'POST',
    '/api/work-items/:id/archive',
    'work-item.archive',
    {
      about: 'Cancel a work item and keep the evidence.',
      body: archiveBody,
      answer: one.extend({ archived: z.literal(true) }),
      target,
      plan: true,
      refusals: ['NOT_FOUND', 'TERMINAL', 'PERSON_REQUIRED', 'NOT_OWNER', 'GATE_PARKED'],
    },
    archive,
  ),
  route(
    'GET',
    '/api/work-items/:id/next',
    'work-item.next',
    {
      about: 'The transitions and operations open to this caller now, and why the others are not.',
      answer: next,
      target,
      refusals: ['NOT_FOUND'],
    },
    async (request) => {
      const answer = await whatNext(request.app, idOf(request), request.caller);
      return isRefusal(answer) ? answer : { body: answer };
    },
  ),
  route(
    'GET',
    '/api/work-items/:id/sessions',
    'work-item.sessions',
    {
      about: 'The sessions that attempted a work item, oldest first.',
      answer: z.array(session),
      target,
      refusals: ['NOT_FOUND'],
    },
    sessions,
  ),
];

async function create(request: HttpRequest<z.output<typeof createBody>>): Promise<Reply | Refusal> {
  const done = await createWorkItem(request, request.body);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view } };
}

async function list({
  app,
  query,
  caller: by,
}: HttpRequest<unknown, z.output<typeof listQuery>>): Promise<Reply> {
  return {
    body: await listWorkItems(
      app,
      {
        ...query,
        q: query.q ?? query.text,
        limit: query.limit ?? 20,
        offset: query.offset ?? 0,
      },
      by,
    ),
  };
}

async function read(request: HttpRequest): Promise<Reply | Refusal> {
  const record = await itemOf(request);
  if (isRefusal(record)) return record;
  const id = idOf(request);
  const [spendUsd, events] = await Promise.all([spendOf(request.app, id), eventsOf(request.app, id)]);
  return { body: { workItem: record, spendUsd, events } };
}

async function edit(request: HttpRequest<z.output<typeof patchBody>>): Promise<Reply | Refusal> {
  const { expectedVersion, idempotencyKey: _key, ...given } = request.body;
  const matched = versionIn(request.header('if-match'));
  if (expectedVersion !== undefined && matched !== undefined && expectedVersion !== matched)
    return refuse(
      'BAD_REQUEST',
      { path: 'expectedVersion' },
      'expectedVersion and If-Match differ. Send one of them.',
    );
  const version = expectedVersion ?? matched;
  if (version === undefined) return refuse('PRECONDITION_REQUIRED');
  const patch = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (Object.keys(patch).length === 0)
    return refuse('BAD_REQUEST', { path: '' }, 'no recognized fields to update');
  const done = await askActor(request, 'work-item', idOf(request), {
    type: 'item.edit',
    patch,
    expectedVersion: version,
  });
  if (!isRefusal(done) && patch.verifyPolicy != null) await request.app.reviews?.poll(request.app);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view, replayed: done.replayed } };
}

/** `"3"`, `W/"3"` or `3` → 3 */
function versionIn(header: string | undefined): number | undefined {
  const digits = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header?.trim() ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

async function sessions(request: HttpRequest): Promise<Reply | Refusal> {
  const record = await itemOf(request);
  return isRefusal(record) ? record : { body: await attemptsOf(request.app, idOf(request)) };
}

async function itemOf(request: HttpRequest): Promise<Readonly<Record<string, unknown>> | Refusal> {
  const id = idOf(request);
  if (!/^[A-Z]{3}-[1-9]\d{0,15}$/.test(id) || !Number.isSafeInteger(Number(id.slice(4))))
    return refuse(
      'BAD_REQUEST',
      { path: 'id' },
      'Invalid Todo ID; expected <AAA>-N with a positive safe-integer suffix',
    );
  const view = await request.app.supervisor.get('work-item', id);
  return view ? view.view : refuse('NOT_FOUND', { kind: 'work-item', id }, `Todo ${id} not found`);
}
