import { callerName, type Caller } from '../../../machines/caller.js';
import { isoTime, sortableText } from '../../../machines/sortable.js';
import { asJson, type Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { limits } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { App, GatewayActor } from '../app.js';
import { cursorOf } from '../page-after.js';
import { idsOf } from '../iterate.js';
import { mergedAfter, type Place, type Range } from '../work-items/merge-lists.js';
import { workflowsOff } from '../workflows/read-workflow.js';
import { definitionAt } from './definitions.js';
import { mayRun } from './run-authority.js';
import { approvalOf, capabilityOf, presentGate, rootName } from './run-gates.js';
import { newestReceipts } from './run-receipts.js';

/**
 * A run as the API shows it: what its kind knows, its newest receipts, what it was given, the definition that
 * it is frozen to.
 */
export async function readRun(
  app: App,
  workflowId: string,
  runId: string,
  by: Caller,
): Promise<Json | Refusal> {
  const view = await runFor(app, workflowId, runId, by);
  return isRefusal(view) ? view : wholeRun(app, view, by);
}

/** The same of a run that this caller was let see, or has just moved. */
export async function wholeRun(app: App, view: RunView, by: Caller): Promise<Json> {
  const definition = await definitionAt(app, view.workflowId, view.definitionVersion);
  const key = { kind: 'workflow-run', id: view.runId };
  const [given, results, reportEpisodes, steps, approvalCapability, prompts, queuePosition] =
    await Promise.all([
      app.supervisor.rows(key, 'given', { last: 1 }),
      app.supervisor.rows(key, 'results', { last: 1 }),
      app.supervisor.rows(key, 'reports', { last: 100 }),
      newestReceipts(app, view, definition),
      capabilityOf(app, view, by),
      promptsOf(app, view),
      queuePositionOf(app, view),
    ]);
  const { input = null, payload = null } = (given[0]?.row ?? {}) as { input?: Json; payload?: Json };
  const { steps: _steps, inputHash: _hash, idempotencyKey, parked, ...shown } = view;
  const record = {
    ...shown,
    ...prompts,
    queuePosition,
    trigger: { ...triggerOf(view), payload },
    parameters: { input, ...(idempotencyKey === null ? {} : { idempotencyKey }) },
    steps,
    parked: parked === null ? null : presentGate(view, parked, definition, approvalCapability, rootName(app)),
    approvalCapability,
    gateDecisions: view.gateDecisions.map(({ approval, ...decision }) => ({
      ...decision,
      approval: approval && {
        ...approvalOf(view, approval, rootName(app)),
        state: decision.decision === 'approve' ? 'approved' : 'rejected',
        decidedBy: decision.actor,
        decidedAt: decision.at,
      },
    })),
    reportEpisodes: reportEpisodes.map(({ row }) => row),
    result: results[0]?.row ?? null,
    definitionSnapshot: definition ?? null,
  };
  return asJson(record);
}

/** What started it always has a name: that of the event, else of its source. */
const triggerOf = ({ trigger }: RunView) => ({ ...trigger, event: trigger.event ?? trigger.source });

/** Prompts other than the definition's: those given at the start by step, and those edited since. */
async function promptsOf(
  app: App,
  { runId, startedAt, editedSteps }: RunView,
): Promise<{ readonly stepOverrides: Json; readonly stepPromptEdits: readonly Json[] }> {
  if (editedSteps.length === 0) return { stepOverrides: {}, stepPromptEdits: [] };
  const rows = await app.supervisor.rows({ kind: 'workflow-run', id: runId }, 'edits', { last: 100 });
  const edits = rows.map(
    ({ row }) =>
      row as { readonly nodeId: string; readonly prompt: string; readonly by: string; readonly at: number },
  ); // as the run writes them
  const given = edits.filter(({ at }) => isoTime(at) === startedAt);
  return {
    stepOverrides: Object.fromEntries(given.map(({ nodeId, prompt }) => [nodeId, { prompt }])),
    stepPromptEdits: edits
      .filter((edit) => !given.includes(edit))
      .map(({ nodeId, prompt, by, at }) => ({ nodeId, prompt, editedBy: by, editedAt: isoTime(at) })),
  };
}

/** Its place among the runs of the workflow that wait for room, from 1; null: it does not wait. */
async function queuePositionOf(
  { supervisor }: App,
  { runId, workflowId, queued }: RunView,
): Promise<number | null> {
  if (!queued) return null;
  const ahead = await idsOf(supervisor, 'workflow-run', {
    index: 'queued',
    prefix: `${sortableText(workflowId)}/`,
  });
  return ahead.indexOf(runId) + 1 || null;
}

/** The view of a run, where this caller may see it. A run of another workflow is none. */
export async function runFor(
  app: App,
  workflowId: string,
  runId: string,
  by: Caller,
): Promise<RunView | Refusal> {
  const off = workflowsOff(app);
  if (off) return off;
  const found = /^[A-Za-z0-9._:-]{1,200}$/.test(runId)
    ? await app.supervisor.get('workflow-run', runId)
    : undefined;
  const view = found?.view;
  if (view?.workflowId !== workflowId)
    return refuse(
      'NOT_FOUND',
      { kind: 'workflow-run', id: runId },
      `run "${runId}" of workflow "${workflowId}" not found`,
    );
  return (await sees(app, view, by))
    ? view
    : refuse(
        'FORBIDDEN',
        { runId },
        'Agents may read only runs that they started, take part in, or may start themselves.',
      );
}

/** People see all; agents what they started, work in, are asked to decide or have decided, or may run. */
async function sees(app: App, view: RunView, by: Caller): Promise<boolean> {
  if (by.type !== 'session') return true;
  if (takesPart(view, by)) return true;
  const definition = await definitionAt(app, view.workflowId, view.definitionVersion);
  if (definition !== undefined && mayRun(app, definition, by) === undefined) return true;
  return (await capabilityOf(app, view, by))?.canDecide === true; // anyone who may decide must see what about
}

export function takesPart(
  { requester, steps, parked, gateDecisions }: RunView,
  by: Extract<Caller, { type: 'session' }>,
): boolean {
  const own = [by.id, ...by.ancestors];
  if (requester.sessionId !== null && own.includes(requester.sessionId)) return true;
  if (gateDecisions.some(({ actor }) => actor === (by.employee ?? callerName(by)))) return true;
  if (by.employee !== null && (by.employee === requester.employee || by.employee === parked?.target))
    return true;
  return Object.values(steps).some(({ worker }) => worker?.kind === 'session' && own.includes(worker.id));
}

/** The run and those that it is a step of, nearest first. */
export async function runsAbove({ supervisor }: App, runId: string): Promise<readonly RunView[]> {
  const above: RunView[] = [];
  for (let id: string | undefined = runId; id !== undefined && above.length <= limits.depthMax;) {
    const run: GatewayActor<'workflow-run'> | undefined = await supervisor.get('workflow-run', id);
    if (run === undefined) break;
    above.push(run.view);
    id = run.view.parent?.runId;
  }
  return above;
}

export interface RunsQuery {
  readonly limit: number;
  readonly offset: number;
  readonly status?: string | undefined;
  /** The place of the last run that was seen; instead of an offset. */
  readonly cursor?: Place | undefined;
  /** How many are looked through for a page. Default: 1,000. */
  readonly scannedMax?: number;
}

/** The runs of a workflow, newest first. */
export async function listRuns(
  app: App,
  workflowId: string | undefined,
  query: RunsQuery,
  by: Caller,
): Promise<{ readonly [member: string]: Json } | Refusal> {
  const { limit, offset } = query;
  const off = workflowsOff(app);
  if (off)
    return {
      runs: [],
      evidenceConfigured: false,
      evidenceReason: off.message,
      limit,
      offset,
      nextOffset: null,
      nextCursor: null,
    };
  if (workflowId !== undefined && (await definitionAt(app, workflowId)) === undefined)
    return refuse('NOT_FOUND', { kind: 'workflow', id: workflowId }, `workflow "${workflowId}" not found`);
  const index =
    workflowId === undefined
      ? { index: 'all', prefix: '' }
      : { index: 'workflow', prefix: `${sortableText(workflowId)}/` };
  const { views, ...onward } = await visible(app, index, query, by);
  const runs = views.map(listed);
  return { runs: asJson(runs), evidenceConfigured: true, limit, offset, ...onward };
}

/**
 * A page of what fits and what the caller may see. Offsets count all runs; as many are looked through as it
 * takes, up to a bound. Where the next page begins names no run but one that is shown.
 */
async function visible(
  app: App,
  index: Range,
  { limit, offset, status, cursor, scannedMax = 1_000 }: RunsQuery,
  by: Caller,
): Promise<{ readonly views: readonly RunView[] } & Onward> {
  const views: RunView[] = [];
  let scanned = 0;
  let last: Place | undefined;
  for await (const place of placesFrom(app, index, { offset, cursor, first: limit + 1 })) {
    const isFull = views.length === limit;
    if (last !== undefined && (isFull || (scanned >= scannedMax && place.key !== last.key)))
      return {
        views,
        nextOffset: cursor === undefined ? offset + scanned : null,
        nextCursor: cursorOf(isFull ? last : behindAll(last)),
      };
    scanned += 1;
    last = place;
    const view = (await app.supervisor.get('workflow-run', place.id))?.view;
    if (view !== undefined && (status === undefined || view.status === status) && (await sees(app, view, by)))
      views.push(view);
  }
  return { views, nextOffset: null, nextCursor: null };
}

/** Behind whatever stands at this time: no id goes further. */
const behindAll = ({ key }: Place): Place => ({ key, id: '\uffff' });

/** Where the next page begins; null: this was the last one. */
type Onward = { readonly nextOffset: number | null; readonly nextCursor: string | null };

async function* placesFrom(
  { supervisor }: App,
  range: Range,
  {
    offset,
    cursor,
    first,
  }: { readonly offset: number; readonly cursor: Place | undefined; readonly first: number },
): AsyncGenerator<Place> {
  let after = cursor;
  if (cursor === undefined && offset > 0) {
    const passed = await supervisor.list('workflow-run', { ...range, offset: offset - 1, limit: 1 });
    const [item] = passed.items;
    if (item === undefined) return;
    after = { id: item.id, key: item.key.slice(range.prefix.length) };
  }
  yield* mergedAfter(supervisor, 'workflow-run', [range], { after, first });
}

/** What lists show of a run. */
const listed = (view: RunView) => {
  const { runId, workflowId, title, status, startedAt, endedAt, stepCount, parked, inFlight, queued } = view;
  const { rounds, costUsd } = view;
  const where = { status, trigger: triggerOf(view), startedAt, endedAt };
  return { runId, workflowId, title, ...where, stepCount, parked, inFlight, queued, rounds, costUsd };
};
