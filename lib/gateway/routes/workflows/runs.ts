import { z } from 'zod';
import { listRuns, readRun, runFor, wholeRun } from '../../../commands/workflow-runs/read-run.js';
import { listReceipts } from '../../../commands/workflow-runs/run-receipts.js';
import { rerun } from '../../../commands/workflow-runs/rerun.js';
import { startRun } from '../../../commands/workflow-runs/start-run.js';
import { cancelRun, editStep, escalateGate, resolveGate } from '../../../commands/workflow-runs/steer-run.js';
import { submitOutput } from '../../../commands/workflow-runs/submit-output.js';
import type { RunInput } from '../../../commands/workflow-runs/run-input.js';
import type { GatewayActor } from '../../../commands/app.js';
import type { Request, Reply } from '../../../commands/request.js';
import type { Evidence } from '../../../records/evidence/evidence.js';
import type { Json } from '../../../../machines/outputs.js';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import { limits } from '../../../../machines/workflow-run/context.js';
import type { RunView } from '../../../../machines/workflow-run/view.js';
import { nextCursor, place, rowCursor, idOf } from '../../parse.js';
import { route, type Route } from '../../route.js';
import { idempotencyKey, iso, wholeNumber } from '../../schemas.js';

const json = z.unknown(); // parsed JSON, and judged against the definition's own shapes
const reportMode = z.enum(['resume', 'silent']);
const prompt = z
  .string()
  .max(limits.editCharsMax)
  .refine((words) => words.trim() !== '', 'a prompt is required');
const runBody = z.object({
  input: json.optional().describe('The input that the definition declares.'),
  idempotencyKey,
  workItemId: z
    .string()
    .max(128)
    .optional()
    .describe('The work item that shows the approval gates of the run.'),
  report: z
    .object({ sessionId: z.string().max(200), mode: reportMode })
    .optional()
    .describe('The session that is notified when the run parks and ends.'),
  reportMode: reportMode
    .optional()
    .describe('How the calling session is notified. Default `resume`; `silent`: not at all.'),
  stepOverrides: z
    .record(z.string().max(128), z.strictObject({ prompt }))
    .optional()
    .describe(
      'Prompts by step that replace those of the definition, for this run only: `{"draft": {"prompt": "Be brief."}}`.',
    ),
});
const namedBody = runBody.extend({ name: z.string().max(128) });
const decideBody = z.object({
  decision: z.enum(['approve', 'reject']),
  note: z.string().max(4_000).optional(),
  gateKey: z.string().max(300).optional().describe('Required if several gates are parked.'),
  idempotencyKey,
});
const reasonBody = z.object({ reason: z.string().max(1_000).optional(), idempotencyKey });
const editBody = z.strictObject({ prompt: z.string().max(limits.editCharsMax), idempotencyKey });
const rerunBody = z.object({ nodeId: z.string().max(128), input: json.optional(), idempotencyKey });
const outputBody = z.object({
  fields: z.record(z.string(), json).optional(),
  summary: z.string().max(8_000).optional(),
  notes: z.string().max(8_000).optional(),
  artifacts: z.array(z.string().max(500)).max(50).optional(),
  idempotencyKey,
});

const status = z.enum(['running', 'parked', 'completed', 'failed', 'cancelled']);
const receipt = z
  .looseObject({ nodeId: z.string(), label: z.string(), status: z.string(), attempt: z.int() })
  .meta({ id: 'WorkflowReceipt' });
const workflowRun = z
  .looseObject({
    schemaVersion: z.literal(3),
    revision: z.int(),
    runId: z.string(),
    workflowId: z.string(),
    definitionVersion: z.int(),
    title: z.string(),
    status,
    startedAt: iso,
    endedAt: iso.nullable(),
    steps: z.array(receipt),
    parked: z.looseObject({}).nullable(),
    order: z.array(z.string()),
    rounds: z.int(),
  })
  .meta({ id: 'WorkflowRun' });
const listed = z.object({
  runs: z.array(
    z.looseObject({
      runId: z.string(),
      workflowId: z.string(),
      status,
      startedAt: iso,
      endedAt: iso.nullable(),
    }),
  ),
  evidenceConfigured: z.boolean(),
  evidenceReason: z.string().optional(),
  limit: z.int(),
  offset: z.int(),
  nextOffset: z.int().nullable(),
  nextCursor,
});
const paging = z.object({
  limit: wholeNumber(1, 100).default(50),
  offset: wholeNumber(0, 1_000_000).default(0),
  cursor: place,
  status: status.optional(),
});
const behind = { nextAfter: z.int().nullable(), nextCursor };
const receiptsPage = z.object({ receipts: z.array(receipt), total: z.int(), ...behind });

const off = ['WORKFLOWS_DISABLED', 'NOT_FOUND', 'FORBIDDEN'] as const;
const starting = [
  ...off,
  'CONFLICT',
  'IDEMPOTENCY_CONFLICT',
  'QUEUE_FULL',
  'PAYLOAD_TOO_LARGE',
  'RUN_FAILED',
] as const;
const steering = {
  answer: workflowRun,
  plan: true,
  refusals: [...off, 'CONFLICT', 'NOT_ROUTED', 'OWN_APPROVAL', 'NO_PENDING_APPROVAL', 'PAYLOAD_TOO_LARGE'],
} as const;

const root = '/api/workflow-definitions/:id';
const one = `${root}/runs/:runId`;

/**
 * Runs of workflows: start, read, decide, cancel, repair. Who may do what, run and definition themselves say.
 */
export function workflowRunRoutes(evidence: Evidence | undefined): readonly Route[] {
  if (evidence === undefined) return [];
  return [
    route(
      'POST',
      `${root}/run`,
      'workflow-run.start',
      {
        about:
          'Start a run; its ready steps begin at once. 201; a repeated key with the same input: ' +
          '200 and the same run. A run that cannot start: 422 with the failed run.',
        body: runBody,
        answer: workflowRun,
        status: 201,
        plan: true,
        refusals: starting,
      },
      (request) => begin(request, { workflowId: request.params['id'] ?? '', ...inputOf(request.body) }),
    ),
    route(
      'POST',
      '/api/workflow-runs/by-name',
      'workflow-run.start',
      {
        about: 'Start a run of the workflow with that name.',
        body: namedBody,
        answer: workflowRun,
        status: 201,
        plan: true,
        refusals: starting,
      },
      (request) => begin(request, { name: request.body.name, ...inputOf(request.body) }),
    ),
    route(
      'GET',
      '/api/workflow-runs',
      'workflow-run.list',
      { about: 'The runs of all workflows, newest first.', query: paging, answer: listed },
      async ({ app, query, caller: by }) => plain(await listRuns(app, undefined, query, by)),
    ),
    route(
      'GET',
      `${root}/runs`,
      'workflow-run.list',
      {
        about: 'The runs of a workflow, newest first.',
        query: paging,
        answer: listed,
        refusals: ['NOT_FOUND'],
      },
      async (request) => plain(await listRuns(request.app, idOf(request), request.query, request.caller)),
    ),
    route(
      'GET',
      one,
      'workflow-run.list',
      {
        about:
          'A run: the newest receipt of each node, its open gates, its input, and the version of ' +
          'the definition that it uses.',
        answer: workflowRun,
        refusals: off,
      },
      async ({ app, params, caller: by }) =>
        plain(await readRun(app, params['id'] ?? '', params['runId'] ?? '', by)),
    ),
    route(
      'GET',
      `${one}/receipts`,
      'workflow-run.list',
      {
        about: 'All receipts of a run, oldest first: each attempt of each round, with its input.',
        query: z.object({ after: rowCursor, cursor: rowCursor, limit: wholeNumber(1, 500).default(100) }),
        answer: receiptsPage,
        refusals: off,
      },
      async ({ app, params, query, caller: by }) => {
        const run = await runFor(app, params['id'] ?? '', params['runId'] ?? '', by);
        return isRefusal(run) ? run : { body: await listReceipts(app, run, query) };
      },
    ),
    steer('POST', 'resolve-gate', 'Decide the gate of a parked run.', decideBody, (request, run, body) =>
      resolveGate(request, run, body),
    ),
    steer(
      'POST',
      'gate-approval/escalate',
      'Open a parked gate to the operator and the executives.',
      reasonBody,
      (request, run, { reason }) => escalateGate(request, run, reason),
    ),
    steer(
      'POST',
      'cancel',
      'Cancel a run and stop its sessions. Repeated: 200, and nothing changes.',
      reasonBody,
      (request, run, { reason }) => cancelRun(request, run, reason),
    ),
    steer(
      'PATCH',
      'pending-steps/:nodeId',
      'Change the prompt of a step that has not begun, for this run only.',
      editBody,
      (request, run, { prompt }, nodeId) => editStep(request, run, { nodeId, prompt }),
    ),
    steer(
      'POST',
      'steps/:nodeId/output',
      'Submit the output of a step, as the session that runs it.',
      outputBody,
      (request, run, { idempotencyKey: _key, ...body }, nodeId) =>
        submitOutput(request, run, nodeId, body as never),
    ), // parsed just now; absent members are absent
    steer(
      'POST',
      'rerun',
      'Rerun from a step on, in a new run that keeps the results of the steps before it.',
      rerunBody,
      (request, run, { nodeId, input }) =>
        rerun(request, run, {
          nodeId,
          input: input as Json | undefined,
          idempotencyKey: request.idempotency?.key,
        }),
      201,
    ),
  ];
}

function steer<Body extends z.ZodType>(
  method: 'POST' | 'PATCH',
  path: string,
  about: string,
  body: Body,
  operation: (
    request: Request,
    run: RunView,
    body: z.output<Body>,
    nodeId: string,
  ) => Promise<Reply<GatewayActor<'workflow-run'>> | Refusal>,
  code?: 201,
): Route {
  return route(
    method,
    `${one}/${path}`,
    'workflow-run.steer',
    { about, body, ...steering, ...(code && { status: code }) },
    async (request) => {
      const run = await runFor(
        request.app,
        request.params['id'] ?? '',
        request.params['runId'] ?? '',
        request.caller,
      );
      if (isRefusal(run)) return run;
      const done = await operation(
        request,
        run,
        request.body as z.output<Body>,
        request.params['nodeId'] ?? '',
      );
      return isRefusal(done)
        ? done
        : { ...(await shown(request, done)), ...(code && done.replayed && { status: 200 }) };
    },
  );
}

const sentenceOf = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`);

async function begin(request: Request, input: RunInput): Promise<Reply | Refusal> {
  const done = await startRun(request, { ...input, idempotencyKey: request.idempotency?.key });
  if (isRefusal(done)) return done;
  const { status: now, receipts, errors } = done.body.view;
  const reply = { ...(await shown(request, done)), status: done.replayed ? 200 : 201 };
  if (now !== 'failed' || receipts > 0 || done.replayed || request.dryRun) return reply;
  // The record of the run, and what makes it a refusal to every client: in words of a person, as all others
  const error = `The run cannot start: ${errors.map(({ message }) => sentenceOf(message)).join(' ')}`;
  return { ...reply, status: 422, body: { ...(reply.body as object), error, code: 'RUN_FAILED' } };
}

/**
 * The whole record as of now; of a rehearsal what it would be. Anyone who did this is told of it, also who may
 * not read the run any more.
 */
async function shown(request: Request, done: Reply<GatewayActor<'workflow-run'>>): Promise<Reply> {
  const { view } =
    request.dryRun === true
      ? done.body
      : ((await request.app.supervisor.get('workflow-run', done.body.id)) ?? done.body);
  return {
    ...done,
    body: request.dryRun === true ? view : await wholeRun(request.app, view, request.caller),
  };
}

function inputOf({
  input,
  workItemId,
  report,
  reportMode: mode,
  stepOverrides,
}: z.output<typeof runBody>): RunInput {
  return {
    ...(input === undefined ? {} : { input: input as Json }),
    ...(workItemId == null ? {} : { workItemId }),
    ...(report === undefined ? {} : { report }),
    reportMode: mode,
    ...(stepOverrides === undefined
      ? {}
      : {
          prompts: Object.entries(stepOverrides).map(([nodeId, given]) => ({ nodeId, prompt: given.prompt })),
        }),
  };
}

const plain = (value: unknown): Reply | Refusal => (isRefusal(value) ? value : { body: value });
