import { createHash } from 'node:crypto';
import { RE2JS } from 're2js';
import { departmentManagers } from '../../actors/kinds/workflow.js';
import { rootOf, type Roster } from '../../actors/kinds/work-item-facts.js';
import { system, type Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { sortableText } from '../../machines/sortable.js';
import type { BindingFields, FilterRule } from '../../machines/trigger/machine.js';
import type { ActorView } from '../supervisor/contract.js';
import { asked, recordOf, type Asking, type Desk, type Done } from './desk.js';
import { idsOf, recordsOf } from './walk.js';
import { definitionAt } from './workflow-runs/definitions.js';
import { startRun } from './workflow-runs/start-run.js';
import { workflowsOff } from './workflows/read-workflow.js';

/** Bindings of events from outside to workflows, and what an event starts. */

export interface BindingWish {
  readonly name: string;
  readonly event: string;
  readonly targetWorkflowId: string;
  readonly filter?: readonly FilterRule[] | undefined;
  /** A secret of the caller's own; else one is made, and told once. */
  readonly secretToken?: string | undefined;
}

export async function listTriggers(desk: Desk): Promise<readonly Json[]> {
  return recordsOf(desk.supervisor, 'trigger', await idsOf(desk.supervisor, 'trigger', { index: 'all' }));
}

export async function createTrigger(desk: Desk, wish: BindingWish, asking: Asking): Promise<Done<{ readonly trigger: Json; readonly secretToken?: string }> | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const refusal = await mayBind(desk, wish.targetWorkflowId, asking.by) ?? fitFilter(wish.filter ?? []);
  if (refusal) return refusal;
  const secretToken = wish.secretToken ?? `svcwe_${desk.supervisor.world.secret(32)}`;
  const binding: BindingFields = { event: wish.event, targetWorkflowId: wish.targetWorkflowId, filter: wish.filter ?? [], tokenHash: hashOf(secretToken), tokenPreview: `${secretToken.slice(0, 5)}…${secretToken.slice(-4)}` };
  const known = await desk.supervisor.get('trigger', wish.name);
  const made = known?.value === 'deleted'
    ? await desk.supervisor.ask('trigger', wish.name, { type: 'binding.revive', binding }, asked(asking))
    : await desk.supervisor.spawn('trigger', { id: wish.name, input: binding as unknown as Json, ...asked(asking) }); // plain values, all of them
  if (isRefusal(made)) return made.code === 'EXISTS' ? refuse('EXISTS', { name: wish.name }, `workflow trigger "${wish.name}" already exists`) : made;
  // told once: who asks again with the same key gets the binding, and no secret
  return { value: { trigger: made.view, ...(wish.secretToken === undefined && made.replayed !== true && { secretToken }) }, replayed: made.replayed === true, steps: made.steps ?? [] };
}

export async function deleteTrigger(desk: Desk, name: string, asking: Asking): Promise<Done<{ readonly deleted: true; readonly name: string; readonly orphaned?: true }> | Refusal> {
  const known = await desk.supervisor.get('trigger', name);
  if (known === undefined || known.value === 'deleted') return refuse('NOT_FOUND', { kind: 'workflow trigger', id: name }, 'Not found');
  const target = String(recordOf(known)['targetWorkflowId']);
  const orphaned = (await definitionAt(desk, target)) === undefined;
  const refusal = orphaned && asking.by.type !== 'session' ? undefined : await mayBind(desk, target, asking.by);
  if (refusal) return refusal;
  const view = await desk.supervisor.ask('trigger', name, { type: 'binding.delete' }, asked(asking));
  if (isRefusal(view)) return view;
  return { value: { deleted: true, name, ...(orphaned && { orphaned: true as const }) }, replayed: view.replayed === true, steps: view.steps ?? [] };
}

export interface Occurrence { readonly event: string; readonly payload: Readonly<Record<string, Json | undefined>>; readonly fireRef?: string | undefined }
export type EventOutcome = { readonly triggerName: string; readonly outcome: 'started'; readonly run: Json } | { readonly triggerName: string; readonly outcome: 'missing-workflow'; readonly targetWorkflowId: string };

/** The binding that a secret opens; undefined: none. */
export async function bindingOf(desk: Desk, token: string): Promise<string | undefined> {
  if (token.length < tokenCharsMin || token.length > tokenCharsMax) return undefined;
  return (await idsOf(desk.supervisor, 'trigger', { index: 'token', prefix: `${sortableText(hashOf(token))}` }))[0]; // looked up by hash: no time tells how much of a secret was right
}

/**
 * Something happened outside. Every binding of the event whose filter lets the payload pass starts a run, under the
 * event's own `fireRef`: told again, it is the same run; with another payload it is IDEMPOTENCY_CONFLICT. `only`: the
 * binding whose secret was shown.
 */
export async function receiveEvent(desk: Desk, { event, payload, fireRef }: Occurrence, only: string | undefined): Promise<readonly EventOutcome[] | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const names = (await idsOf(desk.supervisor, 'trigger', { index: 'event', prefix: sortableText(event) })).filter((name) => only === undefined || name === only);
  const outcomes: EventOutcome[] = [];
  const by = system('workflow-events');
  for (const triggerName of names) {
    const { event: bound, filter, targetWorkflowId } = recordOf(await desk.supervisor.get('trigger', triggerName) as ActorView) as unknown as BindingFields;
    if (bound !== event || !filter.every((rule) => passes(rule, payload))) continue;
    const definition = await definitionAt(desk, targetWorkflowId);
    if (definition === undefined) {
      outcomes.push({ triggerName, outcome: 'missing-workflow', targetWorkflowId });
      continue;
    }
    if (definition.status !== 'active') continue;
    const run = await startRun(desk, {
      workflowId: targetWorkflowId, trigger: { source: 'event-webhook', event, payload, ...(fireRef !== undefined && { fireRef }) },
      ...(fireRef !== undefined && { idempotencyKey: `event:${triggerName}:${createHash('sha256').update(fireRef).digest('base64url')}` }),
    }, { by });
    if (isRefusal(run)) return run;
    outcomes.push({ triggerName, outcome: 'started', run: run.value.view });
    if (!run.replayed) await desk.supervisor.ask('trigger', triggerName, { type: 'binding.fired', outcome: 'started' }, { by });
  }
  return outcomes.length > 0 ? outcomes : refuse('NO_BINDING', { outcomes: [] });
}

const tokenCharsMin = 16;
const tokenCharsMax = 200;
const filterRulesMax = 20;
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/** Who may write a workflow may bind events to it. */
async function mayBind(desk: Desk, workflowId: string, by: Caller): Promise<Refusal | undefined> {
  const definition = await definitionAt(desk, workflowId);
  if (definition === undefined || definition.status === 'retired') return refuse('NOT_FOUND', { kind: 'workflow', id: workflowId }, 'target workflow not found');
  if (by.type !== 'session') return undefined;
  const { owner, department } = definition;
  const roster = desk.roster?.() as Roster | undefined;
  const above = roster !== undefined && by.employee !== null && (rootOf(roster) === by.employee || (department !== null && departmentManagers(roster, department).includes(by.employee)));
  return above || (owner !== null && owner === by.employee) ? undefined : refuse('FORBIDDEN', { workflowId, owner, department }, `Only who may write the workflow "${workflowId}" binds events to it.`);
}

function fitFilter(filter: readonly FilterRule[]): Refusal | undefined {
  if (filter.length > filterRulesMax) return refuse('BAD_REQUEST', { path: 'filter' }, `A filter has at most ${filterRulesMax} rules.`);
  for (const [at, { op, value }] of filter.entries()) {
    if (op !== 'matches') continue;
    try {
      RE2JS.compile(String(value));
    } catch (error) {
      return refuse('BAD_REQUEST', { path: `filter.${at}.value` }, `The pattern cannot be used: ${error instanceof Error ? error.message : String(error)}. Look-around and back references are not offered: they can take for ever.`);
    }
  }
  return undefined;
}

function passes({ path, op, value }: FilterRule, payload: unknown): boolean {
  const found = path.split('.').reduce<unknown>((at, member) => (typeof at === 'object' && at !== null && Object.hasOwn(at, member) ? (at as Record<string, unknown>)[member] : undefined), payload);
  switch (op) {
    case 'exists': return found !== undefined;
    case 'equals': return found === value;
    case 'notEquals': return found !== value;
    case 'matches': return typeof found === 'string' && RE2JS.compile(String(value)).matcher(found.slice(0, 10_000)).find();
  }
}
