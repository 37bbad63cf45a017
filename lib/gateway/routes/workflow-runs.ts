import { z } from 'zod';
import { listReceipts, listRuns, readRun, runFor, wholeRun } from '../../commands/workflow-runs/read-run.js';
import { rerun } from '../../commands/workflow-runs/rerun.js';
import { startRun } from '../../commands/workflow-runs/start-run.js';
import { cancelRun, editStep, escalateGate, resolveGate } from '../../commands/workflow-runs/steer-run.js';
import { submitOutput } from '../../commands/workflow-runs/submit-output.js';
import type { RunWish } from '../../commands/workflow-runs/wish.js';
import { recordOf, type Asking, type Desk, type Done } from '../../commands/desk.js';
import type { Evidence } from '../../records/evidence/evidence.js';
import type { ActorView } from '../../supervisor/contract.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { limits } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import { idOf, route, type Reply, type Route } from '../route.js';
import { idempotencyKey, iso, wholeNumber } from '../shapes.js';

const json = z.unknown(); // parsed JSON, and judged against the definition's own shapes
const reportMode = z.enum(['resume', 'silent']);
const prompt = z.string().max(limits.editCharsMax).refine((words) => words.trim() !== '', 'a prompt is required');
const runBody = z.object({
  input: json.optional().describe('What the definition asks for.'), idempotencyKey, workItemId: z.string().max(128).optional().describe('The work item that shows the run\'s approval gates.'),
  report: z.object({ sessionId: z.string().max(200), mode: reportMode }).optional().describe('The session that is told when the run parks and ends.'),
  reportMode: reportMode.optional().describe('How a session that asks is told itself. Default `resume`; `silent`: not at all.'),
  stepOverrides: z.record(z.string().max(128), z.strictObject({ prompt })).optional().describe('Other prompts than the definition\'s, in this run alone, by step: `{"draft": {"prompt": "Be brief."}}`.'),
});
const namedBody = runBody.extend({ name: z.string().max(128) });
const decideBody = z.object({ decision: z.enum(['approve', 'reject']), note: z.string().max(4_000).optional(), gateKey: z.string().max(300).optional().describe('Of several gates that are parked at once.'), idempotencyKey });
const reasonBody = z.object({ reason: z.string().max(1_000).optional(), idempotencyKey });
const editBody = z.strictObject({ prompt: z.string().max(limits.editCharsMax), idempotencyKey });
const rerunBody = z.object({ nodeId: z.string().max(128), input: json.optional(), idempotencyKey });
const outputBody = z.object({ fields: z.record(z.string(), json).optional(), summary: z.string().max(8_000).optional(), notes: z.string().max(8_000).optional(), artifacts: z.array(z.string().max(500)).max(50).optional(), idempotencyKey });

const status = z.enum(['running', 'parked', 'completed', 'failed', 'cancelled']);
const receipt = z.looseObject({ nodeId: z.string(), label: z.string(), status: z.string(), attempt: z.int() }).meta({ id: 'WorkflowReceipt' });
const workflowRun = z.looseObject({
  schemaVersion: z.literal(3), revision: z.int(), runId: z.string(), workflowId: z.string(), definitionVersion: z.int(), title: z.string(), status, startedAt: iso, endedAt: iso.nullable(),
  steps: z.array(receipt), parked: z.looseObject({}).nullable(), order: z.array(z.string()), rounds: z.int(),
}).meta({ id: 'WorkflowRun' });
const listed = z.object({
  runs: z.array(z.looseObject({ runId: z.string(), workflowId: z.string(), status, startedAt: iso, endedAt: iso.nullable() })),
  evidenceConfigured: z.boolean(), evidenceReason: z.string().optional(), limit: z.int(), offset: z.int(), nextOffset: z.int().nullable(),
});
const paging = z.object({ limit: wholeNumber(1, 100).default(50), offset: wholeNumber(0, 1_000_000).default(0), status: status.optional() });
const receiptsPage = z.object({ receipts: z.array(receipt), total: z.int(), nextAfter: z.int().nullable() });

const off = ['WORKFLOWS_DISABLED', 'NOT_FOUND', 'FORBIDDEN'] as const;
const starting = ['WORKFLOWS_DISABLED', 'NOT_FOUND', 'FORBIDDEN', 'CONFLICT', 'IDEMPOTENCY_CONFLICT', 'QUEUE_FULL', 'PAYLOAD_TOO_LARGE'] as const;
const steering = { answer: workflowRun, plan: true, refusals: [...off, 'CONFLICT', 'NOT_ROUTED', 'OWN_APPROVAL', 'NO_PENDING_APPROVAL', 'PAYLOAD_TOO_LARGE'] } as const;

const root = '/api/workflow-definitions/:id';
const one = `${root}/runs/:runId`;

/** Runs of workflows: start, read, decide, cancel, mend. Who may do what, run and definition themselves say. */
export function workflowRunRoutes(evidence: Evidence | undefined): readonly Route[] {
  if (evidence === undefined) return [];
  return [
    route('POST', `${root}/run`, 'workflow-run.start', { about: 'Start a run; its ready steps begin at once. 201; the same key with the same input: 200 and the same run. A run that cannot start: 422 with the failed run.', body: runBody, answer: workflowRun, status: 201, plan: true, refusals: starting },
      ({ desk, body, asking, params }) => begin(desk, { workflowId: params['id'] ?? '', ...wishOf(body) }, asking)),
    route('POST', '/api/workflow-runs/by-name', 'workflow-run.start', { about: 'Start a run of the workflow of that name.', body: namedBody, answer: workflowRun, status: 201, plan: true, refusals: starting },
      ({ desk, body, asking }) => begin(desk, { name: body.name, ...wishOf(body) }, asking)),
    route('GET', '/api/workflow-runs', 'workflow-run.list', { about: 'The runs of all workflows, newest first.', query: paging, answer: listed }, async ({ desk, query, by }) => plain(await listRuns(desk, undefined, query, by))),
    route('GET', `${root}/runs`, 'workflow-run.list', { about: 'The runs of a workflow, newest first.', query: paging, answer: listed, refusals: ['NOT_FOUND'] }, async (call) => plain(await listRuns(call.desk, idOf(call), call.query, call.by))),
    route('GET', one, 'workflow-run.list', { about: 'A run: the newest receipt of each node, what it waits for, what it was given, the definition that it is frozen to.', answer: workflowRun, refusals: off }, async ({ desk, params, by }) => plain(await readRun(desk, params['id'] ?? '', params['runId'] ?? '', by))),
    route('GET', `${one}/receipts`, 'workflow-run.list', { about: 'Every receipt of a run, oldest first: each attempt of each round, with its input.', query: z.object({ after: wholeNumber(0, 1_000_000_000).default(0), limit: wholeNumber(1, 500).default(100) }), answer: receiptsPage, refusals: off }, async ({ desk, params, query, by }) => {
      const run = await runFor(desk, params['id'] ?? '', params['runId'] ?? '', by);
      return isRefusal(run) ? run : { body: await listReceipts(desk, run, query) };
    }),
    steer('POST', 'resolve-gate', 'Decide the gate at which the run is parked.', decideBody, (desk, run, body, asking) => resolveGate(desk, run, body, asking)),
    steer('POST', 'gate-approval/escalate', 'Open a parked gate to the operator and the executives.', reasonBody, (desk, run, { reason }, asking) => escalateGate(desk, run, reason, asking)),
    steer('POST', 'cancel', 'Cancel a run; whatever works on it is stopped. Once more: 200, and nothing changes.', reasonBody, (desk, run, { reason }, asking) => cancelRun(desk, run, reason, asking)),
    steer('PATCH', 'pending-steps/:nodeId', 'Another prompt for a step that has not begun, in this run alone.', editBody, (desk, run, { prompt }, asking, nodeId) => editStep(desk, run, { nodeId, prompt }, asking)),
    steer('POST', 'steps/:nodeId/output', 'Hand in the output of a step: the session that does it.', outputBody, (desk, run, { idempotencyKey: _key, ...body }, asking, nodeId) => submitOutput(desk, run, nodeId, body as never, asking)), // parsed just now; absent members are absent
    steer('POST', 'rerun', 'Do it again from one step on, in a new run that inherits what was done before.', rerunBody, (desk, run, { nodeId, input }, asking) => rerun(desk, run, { nodeId, input: input as Json | undefined, idempotencyKey: asking.idempotency?.key }, asking), 201),
  ];
}

function steer<Body extends z.ZodType>(
  method: 'POST' | 'PATCH', path: string, about: string, body: Body, deed: (desk: Desk, run: RunView, body: z.output<Body>, asking: Asking, nodeId: string) => Promise<Done<ActorView> | Refusal>, code?: 201,
): Route {
  return route(method, `${one}/${path}`, 'workflow-run.steer', { about, body, ...steering, ...(code && { status: code }) }, async ({ desk, params, body: parsed, by, asking }) => {
    const run = await runFor(desk, params['id'] ?? '', params['runId'] ?? '', by);
    if (isRefusal(run)) return run;
    const done = await deed(desk, run, parsed as z.output<Body>, asking, params['nodeId'] ?? '');
    return isRefusal(done) ? done : { ...await shown(desk, done, asking), ...(code && done.replayed && { status: 200 }) };
  });
}

async function begin(desk: Desk, wish: RunWish, asking: Asking): Promise<Reply | Refusal> {
  const done = await startRun(desk, { ...wish, idempotencyKey: asking.idempotency?.key }, asking);
  if (isRefusal(done)) return done;
  const { status: now, receipts } = recordOf(done.value) as unknown as RunView; // the view of its kind
  return { ...await shown(desk, done, asking), status: done.replayed ? 200 : now === 'failed' && receipts === 0 && !asking.dryRun ? 422 : 201 };
}

/** The whole record as of now; of a rehearsal what it would be. Whoever did this is told of it, also who may not read the run any more. */
async function shown(desk: Desk, done: Done<ActorView>, asking: Asking): Promise<Reply> {
  const view = recordOf(asking.dryRun === true ? done.value : await desk.supervisor.get('workflow-run', done.value.id) ?? done.value) as unknown as RunView; // the view of its kind
  return { ...done, body: asking.dryRun === true ? view : await wholeRun(desk, view, asking.by) };
}

function wishOf({ input, workItemId, report, reportMode: mode, stepOverrides }: z.output<typeof runBody>): RunWish {
  return {
    ...(input === undefined ? {} : { input: input as Json }), ...(workItemId == null ? {} : { workItemId }), ...(report === undefined ? {} : { report }), reportMode: mode,
    ...(stepOverrides === undefined ? {} : { prompts: Object.entries(stepOverrides).map(([nodeId, given]) => ({ nodeId, prompt: given.prompt })) }),
  };
}

const plain = (value: unknown): Reply | Refusal => (isRefusal(value) ? value : { body: value });
