import type { Caller, Causes } from '../../../machines/caller.js';
import { callerName, distinctCauses, isPerson, isPersonName, system } from '../../../machines/caller.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { RunAuthority } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { ShownAuthority } from '../../../machines/workflow/version-authority.js';
import type { App } from '../app.js';
import { expected, type Request } from '../request.js';
import { standsAbove } from '../workflow-runs/run-authority.js';
import { callerNamed } from './causes.js';

/**
 * With whose rights a run acts: the one place that knows. A version that a person wrote or approved lends that
 * person's rights to people, to its owner, to the runners that it lists and to who stands above it. Everybody
 * else, and every version that no one approved, acts with what author and starter both may.
 * @example await runAuthority(app, definition, causesOf(request), { rewritten: false })
 */
export async function runAuthority(
  app: App,
  definition: WorkflowDefinition,
  causes: Causes,
  { rewritten, fromOutside = false }: RunCircumstances,
): Promise<RunAuthority | Refusal> {
  const { id: workflowId, version } = definition;
  const { state, approvedBy, writtenBy, reasons } = await versionAuthority(app, workflowId, version);
  if (state === 'pending_approval' || state === 'rejected')
    return refuse(
      'PENDING_APPROVAL',
      { workflowId, version, authority: state, reasons },
      state === 'rejected'
        ? `Version ${version} of workflow "${workflowId}" was rejected.`
        : `Version ${version} of workflow "${workflowId}" was written by an agent: ${reasons.join('; ')}. ` +
            'A person must approve it first.',
    );
  const agents = causes.filter((cause) => !isPerson(cause));
  if (agents.length === 0 && approvedBy !== null)
    return { onBehalfOf: causes.map(callerName), lent: fromOutside };
  const lends = approvedBy !== null && !rewritten;
  const own = lends ? agents.filter((agent) => !isLentTo(app, definition, agent)) : causes;
  // What the gateway starts by itself has no rights of its own
  const named = own.filter(({ type }) => type !== 'system').map(callerName);
  return {
    onBehalfOf: [...new Set([...named, approvedBy ?? writtenBy])],
    lent: lends && (fromOutside || own.length < agents.length),
  };
}

interface RunCircumstances {
  /** Its starter wrote other words into it than the version has. */
  readonly rewritten: boolean;
  /** Its input comes from one who has fewer rights than its causes: an event, a run that was lent some. */
  readonly fromOutside?: boolean;
}

const isLentTo = (app: App, definition: WorkflowDefinition, agent: Caller): boolean =>
  agent.type === 'system' ||
  (agent.type === 'session' &&
    agent.employee !== null &&
    (definition.owner === agent.employee ||
      definition.runners.includes(agent.employee) ||
      standsAbove(app, definition, agent.employee)));

/** Who wrote or approved a version. Of one from before this was kept, as far as record and log tell. */
export async function versionAuthority(
  { supervisor }: App,
  id: string,
  version: number,
): Promise<ShownAuthority> {
  const key = { kind: 'workflow', id } as const;
  const [row] = await supervisor.rows(key, 'authority', { after: version - 1, limit: 1 });
  if (row?.n === version) return row.row; // as the workflow wrote it
  const workflow = await supervisor.get('workflow', id);
  const newest = workflow?.view.authority;
  if (newest?.version === version) return newest;
  const unknown = { version, approvedBy: null };
  const writtenBy = await writerInLog(supervisor, key, version);
  if (writtenBy !== undefined && isPersonName(writtenBy))
    return { ...unknown, writtenBy, state: 'approved', approvedBy: writtenBy, reasons: [] };
  return {
    ...unknown,
    writtenBy: writtenBy ?? '',
    state: 'pending_approval',
    reasons: ['it is an older version, and its author is not known to be a person'],
  };
}

/** What the log says of who wrote a version; undefined: it reaches not so far back. */
async function writerInLog(
  supervisor: App['supervisor'],
  key: { readonly kind: string; readonly id: string },
  version: number,
): Promise<string | undefined> {
  for (let before: number | undefined; ;) {
    const entries = await supervisor.history(key, { limit: 100, ...(before !== undefined && { before }) });
    const written = entries.find(({ event }) => {
      const { type, expectedVersion } = event as { type?: string; expectedVersion?: number };
      return version === 1
        ? type === 'kernel.created'
        : type === 'definition.update' && expectedVersion === version - 1;
    });
    if (written !== undefined) return written.by;
    const last = entries.at(-1);
    if (last === undefined || entries.length < 100) return undefined;
    before = last.position;
  }
}

/**
 * Who caused what a definition starts by itself (by the clock, by a work item's change): who approved it, else who
 * wrote it. Undefined: that caller is gone.
 */
export async function causeOfVersion(
  app: App,
  { id, version }: WorkflowDefinition,
): Promise<Caller | undefined> {
  const { approvedBy, writtenBy } = await versionAuthority(app, id, version);
  return callerNamed(app, approvedBy ?? writtenBy);
}

/**
 * What a step of a run asks for: by the run, with the rights that the run has, under the key of the attempt.
 * Throws a sentence where one of those callers is gone.
 */
export async function stepRequest(
  app: App,
  { runId, key }: { readonly runId: string; readonly key: string },
): Promise<Request & { readonly onBehalfOf: Causes }> {
  return {
    app,
    caller: system(`workflow-run:${runId}`),
    onBehalfOf: await causesOfRun(app, runId),
    idempotency: { scope: 'workflow-step', key, hash: key },
  };
}

/** The callers whose rights a run has. */
export async function causesOfRun(app: App, runId: string): Promise<Causes> {
  const found = await app.supervisor.get('workflow-run', runId);
  if (found === undefined) throw new Error(`There is no run ${runId}.`);
  const run = found.view;
  const { onBehalfOf } = run.authority ?? (await authorityBefore(app, run));
  const callers = await Promise.all(
    onBehalfOf.map(async (name) => {
      const caller = await callerNamed(app, name);
      if (caller === undefined)
        throw new Error(`Run ${runId} acts on behalf of ${name}, who is not known any more.`);
      return caller;
    }),
  );
  const [first, ...others] = callers;
  if (first === undefined) throw new Error(`No one stands behind run ${runId}.`);
  return distinctCauses([first, ...others]);
}

/** Of a run from before this was kept: of who started it, else of who wrote what starts by itself. */
async function authorityBefore(app: App, run: RunView): Promise<RunAuthority> {
  if (run.parent !== null) {
    const above = await causesOfRun(app, run.parent.runId);
    return { onBehalfOf: above.map(callerName), lent: false };
  }
  const starter = await callerNamed(app, run.startedBy);
  const { approvedBy, writtenBy } = await versionAuthority(app, run.workflowId, run.definitionVersion);
  const names = [...(starter === undefined ? [] : [callerName(starter)]), approvedBy ?? writtenBy];
  return { onBehalfOf: starter !== undefined && isPerson(starter) ? names.slice(0, 1) : names, lent: false };
}

/** Only people: what no route offers to agents, such as a request to an address of the version's choice. */
export function refuseAgents(causes: Causes, what: string): void {
  const agent = causes.find((cause) => !isPerson(cause));
  if (agent === undefined) return;
  expected(
    refuse(
      'PERSON_REQUIRED',
      { onBehalfOf: callerName(agent) },
      `${what} needs a version that a person approved; this run acts on behalf of ${callerName(agent)}.`,
    ),
  );
}
