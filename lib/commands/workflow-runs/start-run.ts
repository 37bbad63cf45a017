import type { GatewayInput } from '../../../actors/gateway-kinds.js';
import { createHash } from 'node:crypto';
import { callerName, system, type Caller } from '../../../machines/caller.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import { misfits } from '../../../machines/graph/value-shape.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { sortableText } from '../../../machines/sortable.js';
import type { RunAuthority } from '../../../machines/workflow-run/context.js';
import { compile } from '../../../machines/workflow-run/compile.js';
import { keyPlace } from '../../../machines/workflow-run/view.js';
import type { App, GatewayActor } from '../app.js';
import { optionsOf, type Request, type Reply, inTurn } from '../request.js';
import { causesOf, judgeAll } from '../authority/causes.js';
import { spend } from '../authority/quotas.js';
import { runAuthority } from '../authority/workflow-authority.js';
import { relationToItem, relationToSession } from '../relation.js';
import { presentSession } from '../sessions/read-session.js';
import { readDefinition, workflowNamed, workflowsOff } from '../workflows/read-workflow.js';
import { preflight } from './preflight.js';
import { mayRewrite, mayRun, stewardsOf } from './run-authority.js';
import type { InnerRunInput, RunInput } from './run-input.js';

/**
 * Start a run of a definition's newest version. The value is the run; its `status` is `failed` at once where
 * it cannot start (an unknown employee). Beyond `concurrency` it waits, `queued`, until another run has
 * ended. Refusals: NOT_FOUND, CONFLICT (paused, retired), QUEUE_FULL, IDEMPOTENCY_CONFLICT (`runId`),
 * BAD_REQUEST (the input does not fit), FORBIDDEN.
 * @example await startRun(app, {workflowId: 'digest', trigger: {source: 'schedule', event:
 * 'workflow:digest', fireRef}, idempotencyKey: fireRef}, {by: system('cron')})
 */
export async function startRun(
  request: Request,
  wanted: RunInput,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> {
  const off = workflowsOff(request.app);
  if (off) return off;
  for (let tries = 1; ; tries += 1) {
    const definition = await definitionFor(request.app, wanted);
    if (isRefusal(definition)) return definition;
    const input = wanted.input ?? wanted.trigger?.payload ?? null;
    const refusal =
      (await judgeAll(causesOf(request), (cause) => mayStart(request.app, definition, wanted, cause))) ??
      fit(definition, wanted, input) ??
      (await judgeAll(causesOf(request), (cause) => mayName(request.app, wanted, cause)));
    if (refusal) return refusal;
    const rewritten = rewrites(wanted);
    const authority = await runAuthority(request.app, definition, causesOf(request), {
      rewritten,
      fromOutside: isFromOutside(wanted),
    });
    if (isRefusal(authority)) return authority;
    const full = tries === 1 ? await spend(request, 'runs') : undefined;
    if (full) return full;
    // no actor's turn guards the number of live runs, nor the keys: starts of one definition go one after the
    // other
    const done = await inTurn(request.app.supervisor, runsOf(definition.id), () =>
      start(request, definition, { ...wanted, input }, authority),
    );
    if (done !== 'stale') return done;
    if (tries >= triesMax)
      return refuse('CONFLICT', { workflowId: definition.id }, 'The definition has changed. Try again.');
  }
}

/** Triggers whose payload others write. */
const outside: ReadonlySet<string> = new Set(['event-webhook', 'check-poll', 'todo-status-change']);

const isFromOutside = ({ lent, trigger }: InnerRunInput): boolean =>
  lent === true || outside.has(trigger?.source ?? 'manual');

/** Other prompts, or another input for a part of an earlier run: not what the version says. */
const rewrites = ({ prompts, newInput }: InnerRunInput): boolean =>
  (prompts?.length ?? 0) > 0 || newInput === true;

const mayStart = (
  app: App,
  definition: WorkflowDefinition,
  wanted: InnerRunInput,
  cause: Caller,
): Refusal | undefined =>
  mayRun(app, definition, cause) ?? (rewrites(wanted) ? mayRewrite(app, definition, cause) : undefined);

/** So often a definition may be written while a run of it is being started. */
const triesMax = 5;

/** The name under which starts and ends of a definition's runs wait for each other. */
export const runsOf = (workflowId: string): string => `workflow-runs/${workflowId}`;

async function definitionFor(app: App, wanted: InnerRunInput): Promise<WorkflowDefinition | Refusal> {
  if ((wanted.workflowId === undefined) === (wanted.name === undefined))
    return refuse('BAD_REQUEST', { path: 'name' }, 'Give either workflowId or name.');
  const id = wanted.workflowId ?? (await workflowNamed(app, wanted.name ?? ''));
  if (id === undefined)
    return refuse(
      'NOT_FOUND',
      { kind: 'workflow', name: wanted.name },
      `workflow name "${wanted.name ?? ''}" not found`,
    );
  return readDefinition(app, id, wanted.version);
}

function fit(definition: WorkflowDefinition, wanted: InnerRunInput, input: Json): Refusal | undefined {
  if (definition.status !== 'active' && wanted.rerunOf === undefined) {
    return refuse(
      'CONFLICT',
      { workflowId: definition.id, status: definition.status },
      `workflow "${definition.id}" is ${definition.status} and cannot be started`,
    );
  }
  if (JSON.stringify([input, wanted.trigger?.payload ?? null, wanted.prompts ?? null]).length > givenCharsMax)
    return refuse(
      'PAYLOAD_TOO_LARGE',
      { path: 'input', charsMax: givenCharsMax },
      `The input of a run is limited to ${givenCharsMax} characters as JSON. Put larger input ` +
        'into a file and refer to it.',
    );
  if ((wanted.idempotencyKey?.length ?? 0) > 256)
    return refuse(
      'BAD_REQUEST',
      { path: 'idempotencyKey' },
      'An idempotency key is limited to 256 characters.',
    );
  const unknownSteps = (wanted.prompts ?? [])
    .map(({ nodeId }) => nodeId)
    .filter((nodeId) => !definition.nodes.some(({ id, type }) => id === nodeId && type === 'step'));
  if (unknownSteps.length > 0)
    return refuse(
      'BAD_REQUEST',
      {
        path: 'stepOverrides',
        errors: unknownSteps.map((ref) => ({ code: 'unknown-step', message: `unknown step "${ref}"`, ref })),
      },
      `Workflow "${definition.id}" has no step ${unknownSteps.map((id) => `"${id}"`).join(', ')}.`,
    );
  const errors = definition.input === null ? [] : misfits(definition.input, input ?? {});
  return errors.length === 0
    ? undefined
    : refuse(
        'BAD_REQUEST',
        { path: 'input', errors: errors.map((message) => ({ code: 'bad-input', message })) },
        `Invalid input: ${errors.slice(0, 4).join('; ')}.`,
      );
}

/** The work item and the session that a caller names must be there, and an agent's own. */
async function mayName(app: App, { workItemId, report }: RunInput, by: Caller): Promise<Refusal | undefined> {
  const item = workItemId == null ? undefined : await app.supervisor.get('work-item', workItemId);
  if (workItemId != null && item === undefined)
    return refuse('NOT_FOUND', { kind: 'work-item', id: workItemId }, `Todo ${workItemId} not found`);
  const reportSession = report == null ? undefined : await presentSession(app, report.sessionId);
  if (isRefusal(reportSession)) return reportSession;
  if (by.type !== 'session') return undefined;
  if (item !== undefined && relationToItem(app, by, item.view) === 'outsider')
    return refuse('NOT_OWNER', { workItemId });
  if (reportSession !== undefined && !['self', 'above'].includes(relationToSession(by, reportSession)))
    return refuse(
      'FORBIDDEN',
      { sessionId: reportSession.id },
      'An agent may only have itself and its descendants notified of runs.',
    );
  return undefined;
}

const givenCharsMax = 128 * 1024;

async function start(
  request: Request,
  definition: WorkflowDefinition,
  wanted: InnerRunInput & { readonly input: Json },
  authority: RunAuthority,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal | 'stale'> {
  const { supervisor } = request.app;
  const inputHash = hashOf([
    wanted.input,
    wanted.trigger?.payload ?? null,
    wanted.rerunOf?.runId ?? null,
    wanted.rerunOf?.nodeId ?? null,
    ...(wanted.prompts === undefined
      ? []
      : [Object.fromEntries(wanted.prompts.map(({ nodeId, prompt }) => [nodeId, prompt]))]),
  ]);
  const earlier = await runUnderKey(request.app, definition.id, wanted.idempotencyKey, request.caller);
  if (earlier !== undefined) {
    const { inputHash: before, runId } = earlier.view;
    if (before === inputHash) return { body: earlier, replayed: true, steps: [] };
    return refuse(
      'IDEMPOTENCY_CONFLICT',
      { runId },
      `The idempotency key was used for run ${runId} with different input.`,
    );
  }
  const errors = await preflight(request.app, definition);
  const prefix = `${sortableText(definition.id)}/`;
  const queued =
    errors.length === 0 &&
    wanted.nested !== true &&
    (await supervisor.countRange('workflow-run', { index: 'live', prefix, limit: definition.concurrency })) >=
      definition.concurrency;
  if (
    queued &&
    (await supervisor.countRange('workflow-run', { index: 'queued', prefix, limit: queueMax })) >= queueMax
  ) {
    return refuse(
      'QUEUE_FULL',
      { workflowId: definition.id, concurrency: definition.concurrency },
      `${queueMax} runs of workflow "${definition.id}" are already queued.`,
    );
  }
  const id = runIdOf(supervisor.environment.clock.now(), supervisor.environment.ids.next());
  let created: GatewayActor<'workflow-run'> | undefined;
  const stale = refuse('CONFLICT', { workflowId: definition.id });
  const { idempotency: _own, ...how } = optionsOf(request); // the key is the run's own, and lasts as long as the run
  const committed = await supervisor.transact<{ id: string }>({
    name: 'start-run',
    startsWork: wanted.parent == null,
    actors: [{ kind: 'workflow', id: definition.id }],
    ...how,
    run(turns) {
      const workflow = turns.read({ kind: 'workflow', id: definition.id });
      const now = workflow?.view;
      if (now === undefined || (wanted.version === undefined && now.version !== definition.version))
        return stale;
      created = turns.create('workflow-run', id, {
        input: inputOf(definition, wanted, request, {
          authority,
          inputHash,
          queued,
          errors,
          escalateAfterMs: escalateAfterMsOf(request.app),
        }),
      });
      return { id };
    },
  });
  if (isRefusal(committed)) return committed === stale ? 'stale' : committed;
  return created === undefined
    ? refuse('NOT_FOUND', { kind: 'workflow-run', id })
    : { body: created, replayed: false, steps: committed.steps };
}

/** So many runs of one definition wait for room at most. */
export const queueMax = 100;
const escalateAfterMsOf = ({ settings }: App): number => settings.escalateAfterMs ?? 24 * 3_600_000;

interface Found {
  readonly authority: RunAuthority;
  readonly inputHash: string;
  readonly queued: boolean;
  readonly errors: readonly { readonly code: string; readonly message: string; readonly ref?: string }[];
  readonly escalateAfterMs: number;
}

function inputOf(
  definition: WorkflowDefinition,
  wanted: InnerRunInput & { readonly input: Json },
  request: Request,
  found: Found,
): GatewayInput<'workflow-run'> {
  const { source = 'manual', event = null, payload = wanted.input, fireRef = null } = wanted.trigger ?? {};
  const { caller: by } = request;
  const [cause] = causesOf(request);
  const own = by.type === 'session' ? { sessionId: by.id, mode: wanted.reportMode ?? 'resume' } : null;
  return {
    workflowId: definition.id,
    definitionVersion: definition.version,
    title: definition.title,
    graph: compile(definition),
    trigger: { source, event, fireRef },
    payload,
    input: wanted.input,
    inputHash: found.inputHash,
    idempotencyKey: wanted.idempotencyKey ?? null,
    report: wanted.report === undefined ? own : wanted.report,
    workItemId: wanted.workItemId ?? null,
    requester:
      cause.type === 'session'
        ? { employee: cause.employee, sessionId: cause.id }
        : { employee: null, sessionId: null },
    authority: found.authority,
    owner: definition.owner,
    stewards: stewardsOf(definition),
    department: definition.department,
    parent: wanted.parent ?? null,
    rerunOf: wanted.rerunOf ?? null,
    reportTo: wanted.reportTo ?? null,
    inherited: wanted.inherited ?? [],
    prompts: wanted.prompts ?? [],
    errors: found.errors,
    queued: found.queued,
    escalateAfterMs: found.escalateAfterMs,
  };
}

async function runUnderKey(
  { supervisor }: App,
  workflowId: string,
  key: string | undefined,
  by: Caller,
): Promise<GatewayActor<'workflow-run'> | undefined> {
  if (key === undefined) return undefined;
  const place = keyPlace(workflowId, callerName(by), key);
  const {
    items: [found],
  } = await supervisor.list('workflow-run', { index: 'key', prefix: place, limit: 1 });
  return found === undefined ? undefined : supervisor.get('workflow-run', found.id);
}

/** `run-20261121073000-1a2b3c4d` */
function runIdOf(at: number, id: string): string {
  const time = new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);
  return `run-${time}-${createHash('sha256').update(id).digest('hex').slice(0, 8)}`;
}

/** The same for the same value, whatever the order of its members. */
const hashOf = (value: Json): string =>
  createHash('sha256')
    .update(JSON.stringify(ordered(value)))
    .digest('base64url');

function ordered(value: Json | undefined): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, ordered(member)]),
  );
}

/** Runs that wait for room begin, oldest first, as many as there is room for. */
export function admitNext(app: App, workflowId: string): Promise<void> {
  const { supervisor } = app;
  return inTurn(supervisor, runsOf(workflowId), async () => {
    const prefix = `${sortableText(workflowId)}/`;
    const { items } = await supervisor.list('workflow-run', { index: 'queued', prefix, limit: queueMax });
    if (items.length === 0) return;
    const workflow = await supervisor.get('workflow', workflowId);
    const concurrency = workflow?.view.concurrency ?? 1;
    const live = await supervisor.countRange('workflow-run', { index: 'live', prefix, limit: concurrency });
    for (const { id } of items.slice(0, Math.max(0, concurrency - live)))
      await supervisor.ask('workflow-run', id, { type: 'run.admit' }, { by: system('workflows') });
  });
}
