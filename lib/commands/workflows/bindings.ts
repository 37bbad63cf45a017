import { createHash } from 'node:crypto';
import { isPerson, system, type Caller } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { App, GatewayActor } from '../app.js';
import { answeredBefore, optionsOf, replyWith, type Request, type Reply, inTurn } from '../request.js';
import { idsOf, recordsOf } from '../iterate.js';
import { callerNamed } from '../authority/causes.js';
import type { RunInput } from '../workflow-runs/run-input.js';
import { startRun } from '../workflow-runs/start-run.js';
import { definitionAt } from '../workflow-runs/definitions.js';
import { standsAbove } from '../workflow-runs/run-authority.js';

/**
 * What bindings of every kind have in common: names, filters, who may make them and take them away, and the
 * key under which they start a run.
 */

/** All of them by name. To whom a poll shows that a decision is theirs depends on who asks. */
export async function listBindings(app: App, by: Caller): Promise<readonly Json[]> {
  const allOf = async <Kind extends 'trigger' | 'poll'>(kind: Kind) =>
    recordsOf(app.supervisor, kind, await idsOf(app.supervisor, kind, { index: 'all' }));
  const [webhooks, polls] = await Promise.all([allOf('trigger'), allOf('poll')]);
  return [...webhooks.map(withoutSalt), ...polls.map((poll) => withCapability(poll, by))].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

/** A webhook as callers see it: what its signing secret is made of stays here. */
export function withoutSalt({ signingSalt: _salt, ...shown }: GatewayActor<'trigger'>['view']) {
  return shown;
}

/** What this caller may do about a poll's activation. */
export function withCapability(poll: GatewayActor<'poll'>['view'], by: Caller) {
  const { activation, approval } = poll;
  const pending = activation === 'pending_approval';
  const person = isPerson(by);
  return {
    ...poll,
    approvalCapability: {
      canDecide: person,
      canEscalate: person && pending,
      needsYou: person && pending,
      target: 'operator',
      escalated: approval.escalatedAt !== null,
    },
  };
}

/** Take a binding away. The program of a poll that runs is ended with it. */
export async function deleteBinding(
  request: Request,
  name: string,
): Promise<Reply<{ readonly deleted: true; readonly name: string; readonly orphaned?: true }> | Refusal> {
  const before = await answeredBefore<{ kind: 'trigger' | 'poll' }>(request);
  if (isRefusal(before)) return before;
  const known =
    before === undefined
      ? await bindingNamed(request.app, name)
      : await request.app.supervisor.get(before.result.kind, name);
  if (known === undefined) return noBinding(name);
  const target = known.view.targetWorkflowId;
  const orphaned = (await definitionAt(request.app, target)) === undefined;
  const refusal =
    known.kind === 'poll' || (orphaned && request.caller.type !== 'session')
      ? undefined
      : await mayBind(request.app, target, request.caller);
  if (refusal) return refusal;
  const view = await request.app.supervisor.ask(
    known.kind,
    name,
    { type: 'binding.delete' },
    optionsOf(request),
  );
  return isRefusal(view)
    ? view
    : replyWith(view, { deleted: true, name, ...(orphaned && { orphaned: true as const }) });
}

export const noBinding = (name: string): Refusal =>
  refuse('NOT_FOUND', { kind: 'workflow trigger', id: name }, 'Not found');

/** Whatever kind it is. */
export async function bindingNamed(
  app: App,
  name: string,
): Promise<GatewayActor<'poll' | 'trigger'> | undefined> {
  for (const kind of ['trigger', 'poll'] as const) {
    const known = await app.supervisor.get(kind, name);
    if (known !== undefined && known.value !== 'deleted') return known;
  }
  return undefined;
}

/**
 * An operation that gives a name to a binding: names are shared by all kinds, so such operations go one after
 * the other.
 */
export const withName = async <Made>(
  app: App,
  name: string,
  kind: 'trigger' | 'poll',
  operation: () => Promise<Made | Refusal>,
): Promise<Made | Refusal> =>
  inTurn(app.supervisor, 'workflow-triggers', async () => {
    const other = await app.supervisor.get(kind === 'poll' ? 'trigger' : 'poll', name);
    if (other !== undefined && other.value !== 'deleted') return taken(name);
    const outcome = await operation();
    return isRefusal(outcome) && outcome.code === 'EXISTS' ? taken(name) : outcome;
  });

const taken = (name: string): Refusal =>
  refuse('EXISTS', { name }, `workflow trigger "${name}" already exists`);

/** The same occurrence of the same binding starts the same run. */
export const runKey = (name: string, fireRef: string): string =>
  `event:${name}:${createHash('sha256').update(fireRef).digest('base64url')}`;

/**
 * The run that a binding starts: the operation of who made the binding, no matter who holds its secret.
 * PENDING_APPROVAL where that is no one any more: someone else must make the binding again.
 */
export async function startBound(
  app: App,
  { name, createdBy }: { readonly name: string; readonly createdBy: string },
  wanted: RunInput,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> {
  const cause = await callerNamed(app, createdBy);
  if (cause === undefined)
    return refuse(
      'PENDING_APPROVAL',
      { name, createdBy },
      `The workflow trigger "${name}" was made by ${createdBy}, who is not known any more. Create it again.`,
    );
  return startRun({ app, caller: system('workflow-events'), onBehalfOf: [cause] }, wanted);
}

/** Who may write a workflow may bind events to it. */
export async function mayBind(app: App, workflowId: string, by: Caller): Promise<Refusal | undefined> {
  const definition = await definitionAt(app, workflowId);
  if (definition === undefined || definition.status === 'retired')
    return refuse('NOT_FOUND', { kind: 'workflow', id: workflowId }, 'target workflow not found');
  if (by.type !== 'session') return undefined;
  const { owner, department } = definition;
  return standsAbove(app, definition, by.employee) || (owner !== null && owner === by.employee)
    ? undefined
    : refuse(
        'FORBIDDEN',
        { workflowId, owner, department },
        `Only those who may change workflow "${workflowId}" may bind events to it.`,
      );
}

export const filterRulesMax = 20;
