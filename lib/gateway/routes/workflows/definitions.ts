import { z } from 'zod';
import type { Reply } from '../../../commands/request.js';
import { planStored, planWorkflow } from '../../../commands/workflows/plan-workflow.js';
import {
  fixedMembers,
  listVersions,
  listWorkflows,
  readDefinition,
} from '../../../commands/workflows/read-workflow.js';
import {
  createWorkflow,
  duplicateWorkflow,
  turnWorkflow,
  updateWorkflow,
} from '../../../commands/workflows/write-workflow.js';
import type { Evidence } from '../../../records/evidence/evidence.js';
import { definitionGrammar } from '../../../../machines/graph/grammar.js';
import type { WorkflowDefinition, WorkflowStatus } from '../../../../machines/graph/definition.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { idOf } from '../../parse.js';
import { agreeing, idempotencyKey, iso, wholeNumber } from '../../schemas.js';

/**
 * Anything that is an object: what is wrong with a definition is told by the graph's own reader, all at once.
 */
const authored = z.record(z.string(), z.unknown(), { error: 'must be an object' });
const asDefinition = authored.describe(definitionGrammar);
const expectedVersion = z
  .int()
  .min(1)
  .optional()
  .describe('The version that was read. If it is outdated: 409 with `currentVersion`.');
const status = z.enum(['active', 'paused', 'retired']);

const workflowDefinition = z
  .looseObject({
    schemaVersion: z.literal(1),
    id: z.string(),
    name: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    version: z.int(),
    status,
    owner: z.string().nullable(),
    department: z.string().nullable(),
    nodes: z.array(z.looseObject({ id: z.string(), type: z.string(), label: z.string() })),
    edges: z.array(
      z.looseObject({
        id: z.string(),
        from: z.string(),
        to: z.string(),
        kind: z.enum(['sequence', 'handoff', 'loop']),
      }),
    ),
    concurrency: z.int(),
    createdBy: z.string(),
    createdAt: iso,
    updatedAt: iso,
  })
  .meta({ id: 'WorkflowDefinition' });
const fault = z
  .looseObject({
    code: z.string(),
    message: z.string(),
    ref: z.string().optional(),
    path: z.string().optional(),
  })
  .meta({ id: 'WorkflowFault' });

const planBody = z.object({
  definition: asDefinition.optional(),
  sop: authored
    .optional()
    .describe('Or a procedure: `{title, wakeUp?, steps: [{title, employee | engine, instructions}]}`.'),
  workflowId: z.string().max(128).optional().describe('Or a stored definition to change, with `patch`.'),
  patch: authored.optional(),
});
const mutateBody = z.object({
  operation: z.enum(['create', 'update']),
  definition: asDefinition.optional(),
  sop: authored.optional(),
  workflowId: z.string().max(128).optional(),
  patch: authored
    .optional()
    .describe(
      'Members of the definition to replace entirely, e.g. title, status, nodes, edges, loop, concurrency.',
    ),
  expectedVersion,
  idempotencyKey,
});
const directBody = z.looseObject({ definition: authored.optional(), expectedVersion, idempotencyKey });
const copyBody = agreeing(
  z.object({
    id: z.string().max(128).optional(),
    newId: z.string().max(128).optional().describe('The same as `id`.'),
    name: z.string().max(128).optional(),
    title: z.string().max(200).optional(),
    idempotencyKey,
  }),
  ['id', 'newId'],
);
const turnBody = z.object({ expectedVersion, idempotencyKey });

const row = z.looseObject({
  id: z.string(),
  name: z.string(),
  title: z.string(),
  status,
  version: z.int(),
  updatedAt: iso,
  nodeCount: z.int(),
  edgeCount: z.int(),
});
const list = z.object({
  definitions: z.array(row),
  evidenceConfigured: z.boolean(),
  evidenceReason: z.string().optional(),
});
const plan = z.looseObject({
  ok: z.boolean(),
  definition: workflowDefinition,
  layout: z.looseObject({ normalizedPreview: workflowDefinition }),
  validation: z.object({ ok: z.boolean(), errors: z.array(fault) }),
  liveness: z.object({ ok: z.boolean(), findings: z.array(fault) }),
  execution: z.looseObject({ ok: z.boolean() }),
  warnings: z.array(fault),
  diff: z.looseObject({}).nullable(),
});
const one = z.object({ definition: workflowDefinition });
const version = z.looseObject({ version: z.int(), title: z.string(), status, updatedAt: iso });
const off = ['WORKFLOWS_DISABLED'] as const;
const writing = [
  'WORKFLOWS_DISABLED',
  'WORKFLOW_INVALID',
  'VERSION_CONFLICT',
  'CONFLICT',
  'EXISTS',
  'NOT_FOUND',
  'FORBIDDEN',
] as const;
const writes = { plan: true, refusals: writing } as const;
const direct = { answer: workflowDefinition, ...writes } as const;

const root = '/api/workflow-definitions';

/** Workflow definitions. Everybody reads and plans; who may write, each definition's own policy says. */
export function workflowDefinitionRoutes(evidence: Evidence | undefined): readonly Route[] {
  if (evidence === undefined) return [];
  return [
    route(
      'GET',
      root,
      'workflow.list',
      {
        about:
          'The workflows, newest change first. `evidenceConfigured: false` means unavailable, not empty.',
        query: z.object({ status: status.optional() }),
        answer: list,
      },
      async ({ app, query }) => ({ body: await listWorkflows(app, query) }),
    ),
    route(
      'GET',
      '/api/workflows',
      'workflow.list',
      {
        about: 'The same list, also under the name `workflows`.',
        query: z.object({ status: status.optional() }),
        answer: list.extend({ workflows: z.array(row) }),
      },
      async ({ app, query }) => {
        const page = await listWorkflows(app, query);
        return { body: { workflows: page.definitions, ...page } };
      },
    ),
    route(
      'POST',
      root,
      'workflow.write',
      {
        about: 'Save a new workflow; the body is the definition, or `{definition}`.',
        body: directBody,
        status: 201,
        ...direct,
      },
      async (request) => createWorkflow(request, { definition: bare(request.body) }),
    ),
    route(
      'POST',
      `${root}/plan`,
      'workflow.plan',
      {
        about:
          'Validate a definition: normal form, layout, all errors with their location, execution ' +
          'plan, possible deadlocks, changes. Saves nothing.',
        body: planBody,
        answer: plan,
        refusals: [...off, 'NOT_FOUND'],
      },
      tryOut,
    ),
    route(
      'POST',
      `${root}/mutate`,
      'workflow.write',
      {
        about: 'Save a new workflow (201), or the next version of one (200).',
        body: mutateBody,
        answer: one,
        ...writes,
      },
      mutate,
    ),
    route(
      'GET',
      `${root}/:id`,
      'workflow.read',
      {
        about: 'A definition: the newest version, or the one in `?version=`.',
        query: z.object({ version: wholeNumber(1, 999_999_999).optional() }),
        answer: workflowDefinition,
        refusals: [...off, 'NOT_FOUND'],
      },
      async (request) => plain(await readDefinition(request.app, idOf(request), request.query.version)),
    ),
    route(
      'PUT',
      `${root}/:id`,
      'workflow.write',
      {
        about:
          'Write a new version with the members that are sent; the others stay. The body is of the ' +
          'definition, or `{definition, expectedVersion}`; its stamps (id, version, times) are not read.',
        body: directBody,
        ...direct,
      },
      async (request) =>
        updateWorkflow(request, idOf(request), {
          patch: unstamped(bare(request.body)),
          expectedVersion: request.body.expectedVersion,
        }),
    ),
    route(
      'GET',
      `${root}/:id/plan`,
      'workflow.plan',
      {
        about: 'The execution plan of the stored definition.',
        answer: plan,
        refusals: [...off, 'NOT_FOUND'],
      },
      async (request) => plain(await planStored(request.app, idOf(request))),
    ),
    route(
      'GET',
      `${root}/:id/versions`,
      'workflow.read',
      {
        about: 'The latest 100 versions, newest first.',
        answer: z.object({ versions: z.array(version) }),
        refusals: [...off, 'NOT_FOUND'],
      },
      async (request) => {
        const versions = await listVersions(request.app, idOf(request));
        return isRefusal(versions) ? versions : { body: { versions } };
      },
    ),
    route(
      'POST',
      `${root}/:id/duplicate`,
      'workflow.write',
      {
        about: 'Duplicate the workflow. A copy with a schedule or trigger is created paused.',
        body: copyBody,
        status: 201,
        ...direct,
      },
      async (request) =>
        duplicateWorkflow(request, idOf(request), {
          ...request.body,
          id: request.body.id ?? request.body.newId,
        }),
    ),
    turning(
      'retire',
      'retired',
      'Retire the workflow: it can no longer be started or changed. Running runs continue.',
    ),
    turning('pause', 'paused', 'Pause the workflow: it cannot be started until it is resumed.'),
    turning('resume', 'active', 'Resume the workflow: it can be started again.'),
  ];
}

const turning = (verb: string, to: WorkflowStatus, about: string): Route =>
  route(
    'POST',
    `${root}/:id/${verb}`,
    'workflow.write',
    { about: `${about} Repeated: 200, and nothing changes.`, body: turnBody, ...direct },
    async (request) => turnWorkflow(request, idOf(request), to, request.body),
  );

async function tryOut({ app, body }: HttpRequest<z.output<typeof planBody>>): Promise<Reply | Refusal> {
  const given = [body.definition, body.sop, body.workflowId].filter((each) => each !== undefined).length;
  if (given === 0)
    return refuse(
      'BAD_REQUEST',
      { path: 'definition' },
      'give a definition, a sop, or a workflowId with a patch',
    );
  if (body.definition !== undefined && body.sop !== undefined)
    return refuse('BAD_REQUEST', { path: 'sop' }, 'definition and sop are mutually exclusive');
  return plain(await planWorkflow(app, body));
}

async function mutate(request: HttpRequest<z.output<typeof mutateBody>>): Promise<Reply | Refusal> {
  const { operation, definition, sop, workflowId, patch } = request.body;
  if (operation === 'create') {
    if ((definition === undefined) === (sop === undefined))
      return refuse('BAD_REQUEST', { path: 'definition' }, 'create needs either definition or sop');
    return reply(await createWorkflow(request, { definition, sop }), 201);
  }
  if (workflowId === undefined)
    return refuse('BAD_REQUEST', { path: 'workflowId' }, 'workflowId is required');
  if (patch === undefined) return refuse('BAD_REQUEST', { path: 'patch' }, 'patch is required');
  return reply(
    await updateWorkflow(request, workflowId, { patch, expectedVersion: request.body.expectedVersion }),
  );
}

const reply = (done: Reply<WorkflowDefinition> | Refusal, code?: 201): Reply | Refusal =>
  isRefusal(done) ? done : { ...done, body: { definition: done.body }, ...(code && { status: code }) };
const plain = (value: object | Refusal): Reply | Refusal => (isRefusal(value) ? value : { body: value });

/** The definition alone, however it was wrapped. */
function bare({
  definition,
  expectedVersion: _version,
  idempotencyKey: _key,
  layoutIntent,
  ...rest
}: z.output<typeof directBody>): Readonly<Record<string, unknown>> {
  const wanted = definition ?? rest;
  return layoutIntent === undefined ? wanted : { layoutIntent, ...wanted };
}

/** Anyone who sends a whole definition back sends the stamps that it was read with. */
const unstamped = (definition: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(definition).filter(([member]) => !fixedMembers.has(member)));
