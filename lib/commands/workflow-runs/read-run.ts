import { rootOf, rosterOf } from '../../../actors/kinds/work-item-facts.js';
import { callerName, type Caller } from '../../../machines/caller.js';
import type { StepActor, WorkflowDefinition, WorkflowNode } from '../../../machines/graph/definition.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { sortableText } from '../../../machines/sortable.js';
import type { AskedGate, RunView } from '../../../machines/workflow-run/view.js';
import { recordOf, type Desk } from '../desk.js';
import { workflowsOff } from '../workflows/read-workflow.js';
import { definitionAt } from './definitions.js';
import { mayRun } from './run-authority.js';

/** A run as the API shows it: what its kind knows, its newest receipts, what it was given, the definition that it is frozen to. */
export async function readRun(desk: Desk, workflowId: string, runId: string, by: Caller): Promise<Json | Refusal> {
  const view = await runFor(desk, workflowId, runId, by);
  return isRefusal(view) ? view : wholeRun(desk, view, by);
}

/** The same of a run that this caller was let see, or has just moved. */
export async function wholeRun(desk: Desk, view: RunView, by: Caller): Promise<Json> {
  const definition = await definitionAt(desk, view.workflowId, view.definitionVersion);
  const key = { kind: 'workflow-run', id: view.runId };
  const [given, results, reportEpisodes, steps, approvalCapability] = await Promise.all([
    desk.supervisor.rows(key, 'given', { last: 1 }), desk.supervisor.rows(key, 'results', { last: 1 }), desk.supervisor.rows(key, 'reports', { last: 100 }),
    newestReceipts(desk, view, definition), capabilityOf(desk, view, by),
  ]);
  const { input = null, payload = null } = (given[0]?.row ?? {}) as { input?: Json; payload?: Json };
  const { spots: _spots, inputHash: _hash, idempotencyKey, parked, ...shown } = view;
  const record = {
    ...shown, trigger: { ...shown.trigger, payload }, parameters: { input, ...(idempotencyKey === null ? {} : { idempotencyKey }) },
    steps, parked: parked === null ? null : presentGate(view, parked, definition, approvalCapability, rootName(desk)), approvalCapability,
    gateDecisions: view.gateDecisions.map(({ approval, ...decision }) => ({ ...decision, approval: approval && { ...approvalOf(view, approval, rootName(desk)), state: decision.decision === 'approve' ? 'approved' : 'rejected', decidedBy: decision.actor, decidedAt: decision.at } })),
    reportEpisodes: reportEpisodes.map(({ row }) => row), result: results[0]?.row ?? null, definitionSnapshot: definition ?? null,
  };
  return record as unknown as Json; // JSON by construction; an interface is no record to the compiler
}

/** The view of a run, where this caller may see it. A run of another workflow is none. */
export async function runFor(desk: Desk, workflowId: string, runId: string, by: Caller): Promise<RunView | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const found = /^[A-Za-z0-9._:-]{1,200}$/.test(runId) ? await desk.supervisor.get('workflow-run', runId) : undefined;
  const view = found && recordOf(found) as unknown as RunView; // the view of its kind
  if (view?.workflowId !== workflowId) return refuse('NOT_FOUND', { kind: 'workflow-run', id: runId }, `run "${runId}" of workflow "${workflowId}" not found`);
  return await sees(desk, view, by) ? view : refuse('FORBIDDEN', { runId }, 'Agents read the runs that they started, take part in, or may run themselves.');
}

/** People see all; agents what they started, work in, are asked to decide or have decided, or may run. */
async function sees(desk: Desk, view: RunView, by: Caller): Promise<boolean> {
  if (by.type !== 'session') return true;
  if (takesPart(view, by)) return true;
  const definition = await definitionAt(desk, view.workflowId, view.definitionVersion);
  if (definition !== undefined && mayRun(desk, definition, by) === undefined) return true;
  return (await capabilityOf(desk, view, by))?.canDecide === true; // whoever may decide must see what about
}

export function takesPart({ requester, spots, parked, gateDecisions }: RunView, by: Extract<Caller, { type: 'session' }>): boolean {
  const own = [by.id, ...by.ancestors];
  if (requester.sessionId !== null && own.includes(requester.sessionId)) return true;
  if (gateDecisions.some(({ actor }) => actor === (by.employee ?? callerName(by)))) return true;
  if (by.employee !== null && (by.employee === requester.employee || by.employee === parked?.target)) return true;
  return Object.values(spots).some(({ worker }) => worker?.kind === 'session' && own.includes(worker.id));
}

export interface RunsQuery { readonly limit: number; readonly offset: number; readonly status?: string | undefined }

/** The runs of a workflow, newest first. */
export async function listRuns(desk: Desk, workflowId: string | undefined, { limit, offset, status }: RunsQuery, by: Caller): Promise<{ readonly [member: string]: Json } | Refusal> {
  const off = workflowsOff(desk);
  if (off) return { runs: [], evidenceConfigured: false, evidenceReason: off.message, limit, offset, nextOffset: null };
  if (workflowId !== undefined && await definitionAt(desk, workflowId) === undefined) return refuse('NOT_FOUND', { kind: 'workflow', id: workflowId }, `workflow "${workflowId}" not found`);
  const index = workflowId === undefined ? { index: 'all' } : { index: 'workflow', prefix: `${sortableText(workflowId)}/` };
  const { views, nextOffset } = await visible(desk, index, { limit, offset, status }, by);
  const runs = views.map(({ runId, workflowId: of, title, status: now, trigger, startedAt, endedAt, stepCount, parked, inFlight, queued, rounds, costUsd }) =>
    ({ runId, workflowId: of, title, status: now, trigger, startedAt, endedAt, stepCount, parked, inFlight, queued, rounds, costUsd }));
  return { runs: runs as unknown as Json, evidenceConfigured: true, limit, offset, nextOffset }; // plain members only
}

/** A page of what fits and what the caller may see. Offsets count all runs; as many are looked through as it takes, up to a thousand. */
async function visible(desk: Desk, index: { readonly index: string; readonly prefix?: string }, { limit, offset, status }: RunsQuery, by: Caller): Promise<{ readonly views: readonly RunView[]; readonly nextOffset: number | null }> {
  const views: RunView[] = [];
  let looked = 0;
  for (;;) {
    const { items } = await desk.supervisor.list('workflow-run', { ...index, offset: offset + looked, limit: limit + 1 });
    for (const [place, { id }] of items.slice(0, limit).entries()) {
      const found = await desk.supervisor.get('workflow-run', id);
      const view = found && recordOf(found) as unknown as RunView; // the view of its kind
      if (view !== undefined && (status === undefined || view.status === status) && await sees(desk, view, by)) views.push(view);
      looked += 1;
      if (views.length === limit) return { views, nextOffset: place + 1 < items.length ? offset + looked : null };
    }
    if (items.length <= limit) return { views, nextOffset: null };
    if (looked >= lookedMax) return { views, nextOffset: offset + looked };
  }
}
const lookedMax = 1_000;

/** All receipts of a run, oldest first: every attempt of every round. */
export async function listReceipts(desk: Desk, view: RunView, query: { readonly after: number; readonly limit: number }): Promise<Json> {
  const definition = await definitionAt(desk, view.workflowId, view.definitionVersion);
  const rows = await desk.supervisor.rows({ kind: 'workflow-run', id: view.runId }, 'receipts', query);
  const receipts = await Promise.all(rows.map(({ n, row }) => receiptOf(desk, view, definition, Number(n), row)));
  return { receipts, total: view.receipts, nextAfter: rows.length === query.limit ? Number(rows.at(-1)?.n ?? 0) : null };
}

/** One per node, in order: the newest, or that it is pending. */
function newestReceipts(desk: Desk, view: RunView, definition: WorkflowDefinition | undefined): Promise<readonly Json[]> {
  return Promise.all(view.order.map(async (nodeId): Promise<Json> => {
    const spot = view.spots[nodeId];
    if (spot === undefined) return { nodeId, ...partOf(definition, nodeId), status: 'pending', attempt: 0, round: view.rounds, at: null };
    const [row] = await desk.supervisor.rows({ kind: 'workflow-run', id: view.runId }, 'receipts', { after: spot.row - 1, limit: 1 });
    return receiptOf(desk, view, definition, spot.row, row?.row ?? { nodeId, status: spot.status });
  }));
}

async function receiptOf({ supervisor }: Desk, { runId }: RunView, definition: WorkflowDefinition | undefined, n: number, row: Json): Promise<Json> {
  const receipt = row as { readonly nodeId: string; readonly [member: string]: Json };
  const [input] = receipt['dispatchedAt'] === undefined ? [] : await supervisor.rows({ kind: 'workflow-run', id: runId }, 'inputs', { after: n - 1, limit: 1 });
  const { outcome, sessionId } = receipt;
  return {
    receipt: n, ...partOf(definition, receipt.nodeId), ...receipt, ...(input?.n === n ? { input: input.row } : {}),
    ...(outcome === undefined || sessionId === undefined ? {} : { outcome: { sessionId, ...outcome as { readonly [member: string]: Json } } }),
  };
}

/** Label and actor stand in the definition. */
function partOf(definition: WorkflowDefinition | undefined, nodeId: string): { readonly label: string; readonly type: string; readonly actor: Json } {
  const node = definition?.nodes.find(({ id }) => id === nodeId);
  return { label: node?.label ?? nodeId, type: node?.type ?? 'step', actor: actorOf(node) };
}

function actorOf(node: WorkflowNode | undefined): Json {
  if (node?.type !== 'step') return null;
  const { actor }: { readonly actor: StepActor } = node;
  return { kind: actor.kind, ref: 'ref' in actor ? actor.ref : actor.kind === 'connector-send' ? actor.connector : actor.kind === 'workflow' ? actor.workflowId : actor.kind === 'work-item' ? actor.operation : null };
}

/** What is routed to the root, the operator may decide, too. */
function rootName(desk: Desk): string | null {
  const roster = rosterOf(desk.roster?.());
  return roster === undefined ? null : rootOf(roster);
}

function presentGate(view: RunView, parked: NonNullable<RunView['parked']>, definition: WorkflowDefinition | undefined, capability: Capability | null, root: string | null): Json {
  const node = definition?.nodes.find(({ id }) => id === parked.nodeId);
  const gates = node?.type === 'gate' ? [node.gate] : node?.type === 'step' ? node.gates : definition?.runGates ?? [];
  const gate = gates.find(({ id }) => id === parked.gateId);
  return {
    scope: node?.type === 'gate' ? 'gateNode' : node?.type === 'step' ? 'stepGate' : 'runGate', nodeId: parked.nodeId, gateKey: parked.gateKey, kind: parked.kind,
    evaluator: parked.kind === 'approval' ? 'human-approval' : parked.kind, ref: gate?.approvalRef ?? gate?.glob ?? gate?.flag ?? null, description: gate?.description ?? '', at: parked.at,
    approval: { ...approvalOf(view, parked, root), state: 'pending', decidedBy: null, decidedAt: null, canDecide: capability?.canDecide ?? false },
  };
}

/** Who asked whom, and since when. */
function approvalOf({ requester, startedBy }: RunView, { target, targetKind, at, escalatedAt }: AskedGate, root: string | null): { readonly [member: string]: Json } {
  return {
    requesterEmployee: requester.employee, requestedBy: startedBy, requestedAt: at, target, targetKind,
    entitledEmployees: target === null ? [] : [target], operatorEntitled: targetKind === 'virtual' || escalatedAt !== null || (target !== null && target === root),
    escalation: escalatedAt === null ? null : { target: null, targetKind: 'virtual', at: escalatedAt }, escalatedAt,
  };
}

export interface Capability { readonly canDecide: boolean; readonly target: string | null; readonly needsYou: boolean; readonly escalated: boolean; readonly [member: string]: Json }

/** May this caller decide the gate now? The kind's own policy answers, rehearsed. */
async function capabilityOf({ supervisor }: Desk, { runId, parked }: RunView, by: Caller): Promise<Capability | null> {
  if (parked === null) return null;
  const answer = await supervisor.ask('workflow-run', runId, { type: 'gate.resolve', gateKey: parked.gateKey, decision: 'approve' }, { by, dryRun: true });
  const canDecide = !isRefusal(answer);
  return { canDecide, target: parked.target, needsYou: canDecide, escalated: parked.escalatedAt !== null };
}
