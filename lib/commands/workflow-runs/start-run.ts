import { createHash } from 'node:crypto';
import { callerName, type Caller } from '../../../machines/caller.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import { misfits } from '../../../machines/graph/value-shape.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { sortableText } from '../../../machines/sortable.js';
import { compile } from '../../../machines/workflow-run/compile.js';
import { keyPlace, type RunView } from '../../../machines/workflow-run/view.js';
import type { ActorView } from '../../supervisor/contract.js';
import { asked, recordOf, type Asking, type Desk, type Done } from '../desk.js';
import { inTurn } from '../in-turn.js';
import { itemKinship, sessionKinship } from '../kinship.js';
import { presentSession } from '../present-session.js';
import { readDefinition, workflowNamed, workflowsOff } from '../workflows/read-workflow.js';
import { preflight } from './preflight.js';
import { mayRun, stewardsOf } from './run-authority.js';
import type { InnerWish, RunWish } from './wish.js';

/**
 * Start a run of a definition's newest version. The value is the run; its `status` is `failed` at once where it cannot
 * start (an unknown employee). Beyond `concurrency` it waits, `queued`, until another run has ended. Refusals: NOT_FOUND,
 * CONFLICT (paused, retired), QUEUE_FULL, IDEMPOTENCY_CONFLICT (`runId`), BAD_REQUEST (the input does not fit), FORBIDDEN.
 * @example await startRun(desk, {workflowId: 'digest', trigger: {source: 'schedule', event: 'workflow:digest', fireRef}, idempotencyKey: fireRef}, {by: system('cron')})
 */
export async function startRun(desk: Desk, wish: RunWish, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  for (let tries = 1; ; tries += 1) {
    const definition = await definitionFor(desk, wish);
    if (isRefusal(definition)) return definition;
    const input = wish.input ?? wish.trigger?.payload ?? null;
    const refusal = mayRun(desk, definition, asking.by) ?? fit(definition, wish, input) ?? await mayName(desk, wish, asking.by);
    if (refusal) return refusal;
    // no actor's turn guards the number of live runs, nor the keys: starts of one definition go one after the other
    const done = await inTurn(desk.supervisor, runsOf(definition.id), () => start(desk, definition, { ...wish, input }, asking));
    if (done !== 'stale') return done;
    if (tries >= triesMax) return refuse('CONFLICT', { workflowId: definition.id }, 'The definition changed in the meantime. Try again.');
  }
}

/** So often a definition may be written while a run of it is being started. */
const triesMax = 5;

/** The name under which starts and ends of a definition's runs wait for each other. */
export const runsOf = (workflowId: string): string => `workflow-runs/${workflowId}`;

async function definitionFor(desk: Desk, wish: InnerWish): Promise<WorkflowDefinition | Refusal> {
  if ((wish.workflowId === undefined) === (wish.name === undefined)) return refuse('BAD_REQUEST', { path: 'name' }, 'Name the workflow: either by workflowId or by name.');
  const id = wish.workflowId ?? await workflowNamed(desk, wish.name ?? '');
  if (id === undefined) return refuse('NOT_FOUND', { kind: 'workflow', name: wish.name }, `workflow name "${wish.name ?? ''}" not found`);
  return readDefinition(desk, id, wish.version);
}

function fit(definition: WorkflowDefinition, wish: InnerWish, input: Json): Refusal | undefined {
  if (definition.status !== 'active' && wish.rerunOf === undefined) {
    return refuse('CONFLICT', { workflowId: definition.id, status: definition.status }, `workflow "${definition.id}" is ${definition.status} and starts no runs`);
  }
  if (JSON.stringify([input, wish.trigger?.payload ?? null, wish.prompts ?? null]).length > givenCharsMax) return refuse('PAYLOAD_TOO_LARGE', { path: 'input', charsMax: givenCharsMax }, `The input of a run has at most ${givenCharsMax} characters as JSON. Put more into a file and name that.`);
  if ((wish.idempotencyKey?.length ?? 0) > 256) return refuse('BAD_REQUEST', { path: 'idempotencyKey' }, 'An idempotency key has at most 256 characters.');
  const strangers = (wish.prompts ?? []).map(({ nodeId }) => nodeId).filter((nodeId) => !definition.nodes.some(({ id, type }) => id === nodeId && type === 'step'));
  if (strangers.length > 0) return refuse('BAD_REQUEST', { path: 'stepOverrides', errors: strangers.map((ref) => ({ code: 'unknown-step', message: `there is no step "${ref}"`, ref })) }, `Workflow "${definition.id}" has no step ${strangers.map((id) => `"${id}"`).join(', ')}.`);
  const errors = definition.input === null ? [] : misfits(definition.input, input ?? {});
  return errors.length === 0 ? undefined : refuse('BAD_REQUEST', { path: 'input', errors: errors.map((message) => ({ code: 'bad-input', message })) }, `The input does not fit: ${errors.slice(0, 4).join('; ')}.`);
}

/** The work item and the session that a caller names must be there, and an agent's own. */
async function mayName(desk: Desk, { workItemId, report }: RunWish, by: Caller): Promise<Refusal | undefined> {
  const item = workItemId == null ? undefined : await desk.supervisor.get('work-item', workItemId);
  if (workItemId != null && item === undefined) return refuse('NOT_FOUND', { kind: 'work-item', id: workItemId }, `Todo ${workItemId} not found`);
  const told = report == null ? undefined : await presentSession(desk, report.sessionId);
  if (isRefusal(told)) return told;
  if (by.type !== 'session') return undefined;
  if (item !== undefined && itemKinship(desk, by, recordOf(item)) === 'stranger') return refuse('NOT_OWNER', { workItemId });
  if (told !== undefined && !['self', 'above'].includes(sessionKinship(by, told))) return refuse('FORBIDDEN', { sessionId: told.id }, 'An agent has only itself, and what is beneath it, told of runs.');
  return undefined;
}

const givenCharsMax = 128 * 1024;

async function start(desk: Desk, definition: WorkflowDefinition, wish: InnerWish & { readonly input: Json }, asking: Asking): Promise<Done<ActorView> | Refusal | 'stale'> {
  const { supervisor } = desk;
  const inputHash = hashOf([wish.input, wish.trigger?.payload ?? null, wish.rerunOf?.runId ?? null, wish.rerunOf?.nodeId ?? null, ...(wish.prompts === undefined ? [] : [Object.fromEntries(wish.prompts.map(({ nodeId, prompt }) => [nodeId, prompt]))])]);
  const earlier = await runUnderKey(desk, definition.id, wish.idempotencyKey, asking.by);
  if (earlier !== undefined) {
    const { inputHash: before, runId } = recordOf(earlier) as unknown as RunView; // the view of its kind
    if (before === inputHash) return { value: earlier, replayed: true, steps: [] };
    return refuse('IDEMPOTENCY_CONFLICT', { runId }, `The key was used for run ${runId}, with another input.`);
  }
  const errors = await preflight(desk, definition);
  const prefix = `${sortableText(definition.id)}/`;
  const queued = errors.length === 0 && wish.nested !== true && await supervisor.count('workflow-run', { index: 'live', prefix, limit: definition.concurrency }) >= definition.concurrency;
  if (queued && await supervisor.count('workflow-run', { index: 'queued', prefix, limit: queueMax }) >= queueMax) {
    return refuse('QUEUE_FULL', { workflowId: definition.id, concurrency: definition.concurrency }, `${queueMax} runs of workflow "${definition.id}" wait already.`);
  }
  const id = runIdOf(supervisor.world.now(), supervisor.world.id());
  let created: ActorView | undefined;
  const stale = refuse('CONFLICT', { workflowId: definition.id });
  const { idempotency: _own, ...how } = asked(asking); // the key is the run's own, and lasts as long as the run
  const committed = await supervisor.transact<{ id: string }>({
    name: 'start-run', newWork: wish.parent == null, actors: [{ kind: 'workflow', id: definition.id }], ...how,
    decide(turns) {
      const workflow = turns.read({ kind: 'workflow', id: definition.id });
      const now = workflow && recordOf(workflow);
      if (now === undefined || (wish.version === undefined && now['version'] !== definition.version)) return stale;
      created = turns.create('workflow-run', id, { input: inputOf(definition, wish, asking.by, { inputHash, queued, errors, escalateAfterMs: escalateAfterMsOf(desk) }) });
      return { id };
    },
  });
  if (isRefusal(committed)) return committed === stale ? 'stale' : committed;
  return created === undefined ? refuse('NOT_FOUND', { kind: 'workflow-run', id }) : { value: created, replayed: false, steps: committed.steps };
}

/** So many runs of one definition wait for room at most. */
export const queueMax = 100;
const escalateAfterMsOf = ({ settings }: Desk): number => settings.escalateAfterMs ?? 24 * 3_600_000;

interface Found { readonly inputHash: string; readonly queued: boolean; readonly errors: readonly { readonly code: string; readonly message: string; readonly ref?: string }[]; readonly escalateAfterMs: number }

function inputOf(definition: WorkflowDefinition, wish: InnerWish & { readonly input: Json }, by: Caller, found: Found): Json {
  const { source = 'manual', event = null, payload = wish.input, fireRef = null } = wish.trigger ?? {};
  const own = by.type === 'session' ? { sessionId: by.id, mode: wish.reportMode ?? 'resume' } : null;
  const input = {
    workflowId: definition.id, definitionVersion: definition.version, title: definition.title, graph: compile(definition),
    trigger: { source, event, fireRef }, payload, input: wish.input, inputHash: found.inputHash, idempotencyKey: wish.idempotencyKey ?? null,
    report: wish.report === undefined ? own : wish.report, workItemId: wish.workItemId ?? null,
    requester: by.type === 'session' ? { employee: by.employee, sessionId: by.id } : { employee: null, sessionId: null },
    stewards: stewardsOf(definition), department: definition.department, parent: wish.parent ?? null, rerunOf: wish.rerunOf ?? null, reportTo: wish.reportTo ?? null, inherited: wish.inherited ?? [], prompts: wish.prompts ?? [], errors: found.errors, queued: found.queued, escalateAfterMs: found.escalateAfterMs,
  };
  return input as unknown as Json; // JSON by construction; an interface is no record to the compiler
}

async function runUnderKey({ supervisor }: Desk, workflowId: string, key: string | undefined, by: Caller): Promise<ActorView | undefined> {
  if (key === undefined) return undefined;
  const place = keyPlace(workflowId, callerName(by), key);
  const { items: [found] } = await supervisor.list('workflow-run', { index: 'key', prefix: place, limit: 1 });
  return found === undefined ? undefined : supervisor.get('workflow-run', found.id);
}

/** `run-20261121073000-1a2b3c4d` */
function runIdOf(at: number, id: string): string {
  return `run-${new Date(at).toISOString().replace(/\D/g, '').slice(0, 14)}-${createHash('sha256').update(id).digest('hex').slice(0, 8)}`;
}

/** The same for the same value, whatever the order of its members. */
const hashOf = (value: Json): string => createHash('sha256').update(JSON.stringify(ordered(value))).digest('base64url');

function ordered(value: Json | undefined): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, ordered(member)]));
}
