import { asked, doneWith, type Asking, type Desk, type Done } from '../desk.js';
import type { ActorView } from '../../supervisor/contract.js';
import type { WorkflowDefinition, WorkflowStatus } from '../../../machines/graph/definition.js';
import { parseDefinition, slug } from '../../../machines/graph/read-definition.js';
import { definitionOfSop } from '../../../machines/graph/sop.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { inTurn } from '../in-turn.js';
import { admitNext } from '../workflow-runs/admit-next.js';
import { sound } from '../workflow-runs/definitions.js';
import { followSchedule } from '../workflow-runs/follow-schedule.js';
import { callCircles } from './call-circle.js';
import { merged } from './merged.js';
import { readDefinition, workflowNamed, workflowsOff } from './read-workflow.js';

type Written = Readonly<Record<string, unknown>>;

/** Save a new workflow: `await createWorkflow(desk, {definition: {title: 'Digest', nodes: […]}}, {by: operator})` */
export async function createWorkflow(desk: Desk, wish: { readonly definition?: Written | undefined; readonly sop?: Written | undefined }, asking: Asking): Promise<Done<WorkflowDefinition> | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const definition = wish.definition ?? definitionOfSop(wish.sop ?? {});
  const { definition: { id, name }, faults } = parseDefinition(definition);
  if (!sound(id)) return refuse('WORKFLOW_INVALID', { errors: faults }, 'definition failed validation');
  return oneAtATime(desk, async () => {
    const taken = await nameTaken(desk, name, id);
    if (taken) return taken;
    // Its own id stands in it, so that the policy sees what it is to be called.
    const spawn = (how: Asking) => desk.supervisor.spawn('workflow', { id, input: { definition: { ...definition, id } as unknown as Json }, ...asked(how) }); // the door has parsed it from JSON
    const made = await unlessCircular(desk, { ...definition, id }, asking, spawn);
    if (isRefusal(made)) return made.code === 'EXISTS' ? refuse('EXISTS', made.details, `workflow "${id}" already exists`) : made;
    return done(desk, made, { ...definition, id }, asking);
  });
}

/**
 * Write the next version. Without `expectedVersion` the last writer wins, but never overlooks another: it merges into
 * what the other wrote.
 */
export async function updateWorkflow(
  desk: Desk, id: string, change: { readonly patch: Written; readonly expectedVersion?: number | undefined; readonly whole?: boolean }, asking: Asking,
): Promise<Done<WorkflowDefinition> | Refusal> {
  return oneAtATime(desk, async () => {
    for (let attempt = 1; ; attempt += 1) {
      const stored = await readDefinition(desk, id);
      if (isRefusal(stored)) return stored;
      const definition = change.whole === true ? { status: stored.status, name: stored.name, ...change.patch, id, version: stored.version } : merged(stored, change.patch);
      const { name } = parseDefinition(definition, { stamp: { id } }).definition;
      const taken = name === stored.name ? undefined : await nameTaken(desk, name, id);
      if (taken) return taken;
      const view = await unlessCircular(desk, definition, asking, (how) => desk.supervisor.ask('workflow', id, { type: 'definition.update', definition, expectedVersion: change.expectedVersion ?? stored.version }, asked(how)));
      if (isRefusal(view) && view.code === 'VERSION_CONFLICT' && change.expectedVersion === undefined && attempt < attemptsMax) continue;
      return isRefusal(view) ? view : done(desk, view, definition, asking);
    }
  });
}

const attemptsMax = 5;

/** Pause, resume or retire. One that stands there already is answered as it is. */
export async function turnWorkflow(desk: Desk, id: string, status: WorkflowStatus, change: { readonly expectedVersion?: number | undefined }, asking: Asking): Promise<Done<WorkflowDefinition> | Refusal> {
  const stored = await readDefinition(desk, id);
  if (isRefusal(stored)) return stored;
  if (stored.status === status) return { value: stored, replayed: false, steps: [] };
  return updateWorkflow(desk, id, { patch: { status }, ...change }, asking);
}

/** A new workflow like this one. One that would wake by itself is born paused, so that nothing runs twice by surprise. */
export async function duplicateWorkflow(desk: Desk, id: string, wish: { readonly id?: string | undefined; readonly name?: string | undefined; readonly title?: string | undefined }, asking: Asking): Promise<Done<WorkflowDefinition> | Refusal> {
  const stored = await readDefinition(desk, id);
  if (isRefusal(stored)) return stored;
  const name = wish.name ?? await freeName(desk, slug(wish.title ?? `${stored.name}-copy`) || 'workflow');
  const wakes = stored.nodes.some((node) => node.type === 'trigger' && node.trigger.kind !== 'manual');
  const definition = { ...stored, id: wish.id ?? name, name, title: wish.title ?? `${stored.title} (copy)`.slice(0, 200), status: wakes ? 'paused' : 'active', version: 1 };
  return createWorkflow(desk, { definition }, asking);
}

async function freeName(desk: Desk, wish: string): Promise<string> {
  for (let n = 1; n < 1_000; n += 1) {
    const name = n === 1 ? wish : `${wish.slice(0, 120)}-${n}`;
    if (await workflowNamed(desk, name) === undefined && await desk.supervisor.get('workflow', name) === undefined) return name;
  }
  return wish;
}

/** Who may not write it, or sends other faults, hears of those first: so a circle is told only where the write would have been taken. */
async function unlessCircular(desk: Desk, written: Written, asking: Asking, write: (how: Asking) => Promise<ActorView | Refusal>): Promise<ActorView | Refusal> {
  const circles = await callCircles(desk, parseDefinition(written).definition);
  if (circles.length === 0) return write(asking);
  const rehearsed = await write({ by: asking.by, dryRun: true });
  return isRefusal(rehearsed) ? rehearsed : refuse('WORKFLOW_INVALID', { errors: circles }, 'definition failed validation');
}

async function nameTaken(desk: Desk, name: string, id: string): Promise<Refusal | undefined> {
  const other = await workflowNamed(desk, name);
  return other === undefined || other === id ? undefined : refuse('EXISTS', { kind: 'workflow', id: other, name }, `workflow "${name}" already exists`);
}

async function done(desk: Desk, view: ActorView, written: Written, asking: Asking): Promise<Done<WorkflowDefinition> | Refusal> {
  const { version } = view.view as unknown as { version: number };
  if (!asking.dryRun) {
    await followSchedule(desk, view.id);
    await admitNext(desk, view.id); // there may be more room than there was
    await desk.wakers?.look();
  }
  const value = asking.dryRun ? parseDefinition(written, { stamp: { id: view.id, version } }).definition : await readDefinition(desk, view.id, version);
  return isRefusal(value) ? value : doneWith(view, value);
}

/** Names are looked up before they are taken: two that want the same one stand in line. */
const oneAtATime = <Value>(desk: Desk, deed: () => Promise<Value>): Promise<Value> => inTurn(desk.supervisor, 'workflow-definitions', deed);
