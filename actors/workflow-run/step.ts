import { isSessionActor, type StepNode, type WorkflowDefinition } from '../../machines/graph/definition.js';
import { openText } from '../../machines/graph/fixed-texts.js';
import { pathsIn, renderJson, type Scope } from '../../machines/graph/paths.js';
import { misfits } from '../../machines/graph/value-shape.js';
import { asJson, type Json } from '../../machines/outputs.js';
import {
  limits,
  type StepCall,
  type StepOutcome,
  type StepResult,
} from '../../machines/workflow-run/context.js';
import { readOutcome } from '../../machines/workflow-run/outcome.js';
import type { AtMostOnceEffect, EffectContext, AtLeastOnceEffect } from '../contracts.js';
import { composePrompt, scopeOf } from './prompt.js';
import type { Opened, Placed, WorkflowPorts } from './ports.js';

/**
 * The effects of a run's steps. A step of an agent is a session that is opened here and tells by itself when it
 * is done; a plain action is done here. Texts of the definition are filled in from the run's own rows just
 * before.
 */
export function workflowStepEffect(ports: PortsOf): AtLeastOnceEffect<StepCall, StepResult> {
  return { guarantee: 'at-least-once', run: (call, context) => carryOut(ports(context), call, context) };
}

/**
 * The same for what must not be done twice: once the intent is noted, a crash ends the attempt as
 * `interrupted`.
 */
export function workflowActEffect(ports: PortsOf): AtMostOnceEffect<StepCall, StepResult> {
  return {
    guarantee: 'at-most-once',
    run: (call, context) =>
      carryOut(ports(context), call, context, () => context.checkpoint({ began: true })),
    recover: () =>
      Promise.resolve({
        state: 'failed',
        reason: 'interrupted',
        message: 'The gateway ended during this action; its outcome is unknown.',
      }),
  };
}

type PortsOf = (context: EffectContext) => WorkflowPorts;

async function carryOut(
  ports: WorkflowPorts,
  call: StepCall,
  context: EffectContext,
  intent?: () => Promise<void>,
): Promise<StepResult> {
  const definition = await ports.definition(call.workflowId, call.definitionVersion);
  const step = definition?.nodes.find(({ id }) => id === call.nodeId);
  if (definition === undefined || step?.type !== 'step')
    return failed(
      `Version ${call.definitionVersion} of the workflow ${call.workflowId} has no step "${call.nodeId}".`,
    );
  if (call.mode === 'collect') return collect(step, call);
  return act(ports, definition, step, call, context, intent);
}

async function act(
  ports: WorkflowPorts,
  definition: WorkflowDefinition,
  step: StepNode,
  call: StepCall,
  context: EffectContext,
  intent?: () => Promise<void>,
): Promise<StepResult> {
  const placed: Placed = {
    runId: call.runId,
    workflowId: call.workflowId,
    nodeId: call.nodeId,
    round: call.round,
    attempt: call.attempt,
    key: keyOf(call),
    signal: context.signal,
  };
  const { actor } = step;
  if (isSessionActor(actor)) {
    if (ports.openSession === undefined) return failed('Sessions cannot be opened here.');
    const prompt = await composePrompt(
      definition,
      step,
      await scopeOf(runOf(call), context),
      await editOf(step.id, context),
    );
    const opened = await ports.openSession({
      ...placed,
      actor,
      prompt,
      title: `${definition.title}: ${step.label}`.slice(0, 200),
      options: step.options,
    });
    return worker('session', opened, { prompt: prompt.slice(0, limits.inputCharsMax) });
  }
  if (actor.kind === 'noop') return { state: 'done', outcome: {} };
  const open = call.lent === true ? openText(definition, actor) : undefined;
  if (open !== undefined)
    return failed(
      `${open.member} is "${open.text}": a workflow that lends rights fixes where it acts. Write the ` +
        'value into the definition, or list those that may stand there (enum).',
    );
  const action =
    pathsIn(JSON.stringify(actor)).length === 0
      ? actor
      : // An actor keeps its shape
        (renderJson(asJson(actor), await scopeOf(runOf(call), context)) as typeof actor);
  const input = shownAs(asJson(action));
  await intent?.();
  switch (action.kind) {
    case 'workflow':
      return ports.startRun === undefined
        ? unable(action.kind)
        : worker('workflow-run', await ports.startRun({ ...placed, action }), input);
    case 'connector-send':
      return ports.send === undefined
        ? unable(action.kind)
        : checked(step, await ports.send({ ...placed, action }), input);
    case 'http':
      return ports.request === undefined
        ? unable(action.kind)
        : checked(step, await ports.request({ ...placed, action }), input);
    case 'work-item':
      return ports.workItem === undefined
        ? unable(action.kind)
        : checked(step, await ports.workItem({ ...placed, action }), input);
  }
}

/** What a receipt shows of an action's input. Header values may be secrets. */
function shownAs(action: Json): Json {
  const { headers, ...rest } = action as Readonly<Record<string, Json>>;
  const shown = headers === undefined ? rest : { ...rest, headers: Object.keys(headers as object) };
  return JSON.stringify(shown).length <= limits.inputCharsMax
    ? shown
    : { kind: rest['kind'] ?? null, omitted: 'The input is too large.' };
}

/** Stable for one attempt, and different for every other one of this run and of all others. */
const keyOf = ({ runId, nodeId, round, attempt }: StepCall): string =>
  `workflow-run:${runId}:${nodeId}:r${round}:${attempt}`;

/** What a session said last, or what a child run gives back, as an outcome that fits. */
function collect(step: StepNode, { text = '', fields }: StepCall): StepResult {
  const outcome: StepOutcome =
    fields === undefined ? readOutcome(text) : { summary: text, fields, extractedFrom: 'action' };
  if (fields === undefined && text.trim() === '')
    return { state: 'failed', reason: 'no-output', message: 'The session ended without saying anything.' };
  const faults = faultsOf(step, outcome);
  if (faults.length === 0) return { state: 'done', outcome };
  return fields === undefined
    ? { state: 'unfit', message: faults.join('; ') }
    : { state: 'failed', reason: 'no-output', message: faults.join('; ') };
}

function checked(step: StepNode, outcome: StepOutcome, input: Json): StepResult {
  const faults = faultsOf(step, outcome);
  return faults.length === 0
    ? { state: 'done', outcome: { extractedFrom: 'action', ...outcome }, input }
    : { state: 'failed', reason: 'no-output', message: faults.join('; '), input };
}

const faultsOf = ({ output }: StepNode, { fields }: StepOutcome): readonly string[] =>
  output === null ? [] : misfits(output, (fields ?? {}) as Json);

function worker(kind: 'session' | 'workflow-run', opened: Opened, input: Json): StepResult {
  return 'refused' in opened
    ? { state: 'failed', reason: 'error', message: opened.refused, input }
    : { state: 'opened', worker: { kind, id: opened.id }, input };
}

const failed = (message: string): StepResult => ({ state: 'failed', reason: 'error', message });
const unable = (kind: string): StepResult => failed(`A step of kind "${kind}" cannot be done here.`);

const runOf = ({ runId, round }: StepCall): Scope['run'] => ({ id: runId, rounds: round, status: 'running' });

/** What a person wrote in place of the definition's instructions, for this run. */
async function editOf(nodeId: string, context: EffectContext): Promise<string | undefined> {
  const edits = (await context.rows('edits')) as readonly {
    readonly nodeId: string;
    readonly prompt: string;
  }[];
  return edits.find((edit) => edit.nodeId === nodeId)?.prompt;
}
