import type { App, GatewayActor } from '../app.js';
import { optionsOf, replyWith, type Request, type Reply, inTurn } from '../request.js';
import type { Caller } from '../../../machines/caller.js';
import type { WorkflowDefinition, WorkflowStatus } from '../../../machines/graph/definition.js';
import { parseDefinition, slug } from '../../../machines/graph/read-definition.js';
import { definitionOfSop } from '../../../machines/graph/sop.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { ShownAuthority } from '../../../machines/workflow/version-authority.js';
import { versionAuthority } from '../authority/workflow-authority.js';
import { admitNext } from '../workflow-runs/start-run.js';
import { sound } from '../workflow-runs/definitions.js';
import { followSchedule } from '../workflow-runs/follow-schedule.js';
import {
  callCircles,
  fixedMembers,
  merged,
  readDefinition,
  workflowNamed,
  workflowsOff,
} from './read-workflow.js';

type Written = Readonly<Record<string, unknown>>;

/**
 * Save a new workflow: `await createWorkflow(app, {definition: {title: 'Digest', nodes: […]}}, {by:
 * operator})`
 */
export async function createWorkflow(
  request: Request,
  input: {
    readonly definition?: Written | undefined;
    readonly sop?: Written | undefined;
    /** The authority of the version that it is a copy of. */
    readonly copies?: ShownAuthority;
  },
): Promise<Reply<WorkflowDefinition> | Refusal> {
  const off = workflowsOff(request.app);
  if (off) return off;
  const definition = owned(input.definition ?? definitionOfSop(input.sop ?? {}), request.caller);
  const {
    definition: { id, name },
    faults,
  } = parseDefinition(definition);
  if (!sound(id)) return refuse('WORKFLOW_INVALID', { errors: faults }, 'definition failed validation');
  return oneAtATime(request.app, async () => {
    const taken = await nameTaken(request.app, name, id);
    if (taken) return taken;
    // Its own id stands in it, so that the policy sees what it is to be called.
    const spawn = (how: Request) =>
      request.app.supervisor.spawn('workflow', {
        id,
        input: {
          definition: { ...definition, id } as Record<string, Json>, // the route has parsed it from JSON
          ...(input.copies !== undefined && { copies: input.copies }),
        },
        ...optionsOf(how),
      });
    const made = await unlessCircular(request, { ...definition, id }, spawn);
    if (isRefusal(made))
      return made.code === 'EXISTS'
        ? refuse('EXISTS', made.details, `workflow "${id}" already exists`)
        : made;
    return done(request, made, { ...definition, id });
  });
}

/**
 * Write the next version. Without `expectedVersion` the last writer wins, but never overlooks another: it
 * merges into what the other wrote.
 */
export async function updateWorkflow(
  request: Request,
  id: string,
  change: {
    readonly patch: Written;
    readonly expectedVersion?: number | undefined;
  },
): Promise<Reply<WorkflowDefinition> | Refusal> {
  return oneAtATime(request.app, async () => {
    for (let attempt = 1; ; attempt += 1) {
      const stored = await readDefinition(request.app, id);
      if (isRefusal(stored)) return stored;
      const definition = merged(stored, change.patch);
      const { name } = parseDefinition(definition, { stamp: { id } }).definition;
      const taken = name === stored.name ? undefined : await nameTaken(request.app, name, id);
      if (taken) return taken;
      const view = await unlessCircular(request, definition, (how) =>
        request.app.supervisor.ask(
          'workflow',
          id,
          {
            type: 'definition.update',
            definition: definition as Json,
            expectedVersion: change.expectedVersion ?? stored.version,
            ...(isWhole(stored, change.patch) && { whole: true }),
          },
          optionsOf(how),
        ),
      );
      if (
        isRefusal(view) &&
        view.code === 'VERSION_CONFLICT' &&
        change.expectedVersion === undefined &&
        attempt < attemptsMax
      )
        continue;
      return isRefusal(view) ? view : done(request, view, definition);
    }
  });
}

const attemptsMax = 5;

/**
 * Anyone who sends every member that says something has sent the whole definition, and vouches for it; a part
 * vouches for nothing beside it.
 */
const isWhole = (stored: WorkflowDefinition, patch: Written): boolean =>
  Object.entries(stored).every(
    ([member, value]) =>
      fixedMembers.has(member) ||
      cosmetic.has(member) ||
      value === null ||
      (Array.isArray(value) && value.length === 0) ||
      patch[member] !== undefined,
  );

const cosmetic: ReadonlySet<string> = new Set([
  'name',
  'title',
  'description',
  'status',
  'layout',
  'concurrency',
]);

/** What an agent writes belongs to its employee where it says nothing. */
const owned = (definition: Written, by: Caller): Written =>
  by.type === 'session' &&
  by.employee !== null &&
  definition['owner'] == null &&
  definition['department'] == null
    ? { ...definition, owner: by.employee }
    : definition;

/** Pause, resume or retire. One that stands there already is answered as it is. */
export async function turnWorkflow(
  request: Request,
  id: string,
  status: WorkflowStatus,
  change: { readonly expectedVersion?: number | undefined },
): Promise<Reply<WorkflowDefinition> | Refusal> {
  const stored = await readDefinition(request.app, id);
  if (isRefusal(stored)) return stored;
  if (stored.status === status) return { body: stored, replayed: false, steps: [] };
  return updateWorkflow(request, id, { patch: { status }, ...change });
}

/**
 * A new workflow like this one. One that would wake by itself is created paused, so that nothing runs twice by
 * surprise. A copy of what an agent wrote and no one approved waits for approval as its source does.
 */
export async function duplicateWorkflow(
  request: Request,
  id: string,
  input: {
    readonly id?: string | undefined;
    readonly name?: string | undefined;
    readonly title?: string | undefined;
  },
): Promise<Reply<WorkflowDefinition> | Refusal> {
  const stored = await readDefinition(request.app, id);
  if (isRefusal(stored)) return stored;
  const name =
    input.name ?? (await freeName(request.app, slug(input.title ?? `${stored.name}-copy`) || 'workflow'));
  const wakes = stored.nodes.some((node) => node.type === 'trigger' && node.trigger.kind !== 'manual');
  const definition = {
    ...stored,
    id: input.id ?? name,
    name,
    title: input.title ?? `${stored.title} (copy)`.slice(0, 200),
    status: wakes ? 'paused' : 'active',
    version: 1,
  };
  const copies = await versionAuthority(request.app, id, stored.version);
  return createWorkflow(request, { definition, copies });
}

async function freeName(app: App, input: string): Promise<string> {
  for (let n = 1; n < 1_000; n += 1) {
    const name = n === 1 ? input : `${input.slice(0, 120)}-${n}`;
    if (
      (await workflowNamed(app, name)) === undefined &&
      (await app.supervisor.get('workflow', name)) === undefined
    )
      return name;
  }
  return input;
}

/**
 * Who may not write it, or sends other faults, hears of those first: so a circle is told only where the write
 * would have been taken.
 */
async function unlessCircular(
  request: Request,
  written: Written,
  write: (how: Request) => Promise<GatewayActor<'workflow'> | Refusal>,
): Promise<GatewayActor<'workflow'> | Refusal> {
  const circles = await callCircles(request.app, parseDefinition(written).definition);
  if (circles.length === 0) return write(request);
  const rehearsed = await write({ app: request.app, caller: request.caller, dryRun: true });
  return isRefusal(rehearsed)
    ? rehearsed
    : refuse('WORKFLOW_INVALID', { errors: circles }, 'definition failed validation');
}

async function nameTaken(app: App, name: string, id: string): Promise<Refusal | undefined> {
  const other = await workflowNamed(app, name);
  return other === undefined || other === id
    ? undefined
    : refuse('EXISTS', { kind: 'workflow', id: other, name }, `workflow "${name}" already exists`);
}

async function done(
  request: Request,
  view: GatewayActor<'workflow'>,
  written: Written,
): Promise<Reply<WorkflowDefinition> | Refusal> {
  const { version } = view.view;
  if (!request.dryRun) {
    await followSchedule(request.app, view.id);
    await admitNext(request.app, view.id); // there may be more room than there was
    await request.app.subscribers?.poll(request.app);
  }
  const value = request.dryRun
    ? parseDefinition(written, { stamp: { id: view.id, version } }).definition
    : await readDefinition(request.app, view.id, version);
  return isRefusal(value) ? value : replyWith(view, value);
}

/** Names are looked up before they are taken: two that want the same one stand in line. */
const oneAtATime = <Value>(app: App, operation: () => Promise<Value>): Promise<Value> =>
  inTurn(app.supervisor, 'workflow-definitions', operation);
