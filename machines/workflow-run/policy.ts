import { fromKernel, isTrusted, type Authority, type Caller } from '../caller.js';
import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import { isSteward, mayDecideGate, mayRewrite } from './authority.js';
import {
  limits,
  statusOf,
  type RunContext,
  type RunEvent,
  type RunEventOf,
  type RunInput,
} from './context.js';
import { gateNamed } from './gates.js';
import { graphOf, packGraph } from './graph.js';
import { isOver, runStatus } from './step-run.js';

/**
 * Who may do what with a run, and does what they send fit. When it may be done is the chart's to say. Answers
 * the refusal, or undefined for yes; never throws.
 * @example
 *   const policy = (context: RunContext, event: RunEvent & Stamp) =>
 *     runPolicy(context, event, authorityOf(event));
 */
export function runPolicy(
  context: RunContext,
  event: RunEvent,
  { by, onBehalfOf }: Authority,
): Refusal | undefined {
  switch (event.type) {
    case 'gate.resolve':
      return mayDecideGate(context, event.gateKey, { ...event, by: onBehalfOf }) ?? fitDecision(event);
    case 'gate.escalate':
      return mayDecideGate(context, event.gateKey, { ...event, by: onBehalfOf });
    case 'run.cancel':
      return mayCancel(context, event, onBehalfOf);
    case 'step.edit':
      return mayEdit(context, event, onBehalfOf);
    case 'step.submitted':
      return maySubmit(context, event, by);
    case 'step.ended':
      return isTrusted(by) ? undefined : ours(event);
    case 'run.continue':
    case 'run.admit':
    case 'step.timeout':
    case 'step.retry':
    case 'wait.over':
    case 'gate.overdue':
    case 'gate.unanswered':
      return by.type === 'system' ? undefined : ours(event);
    default:
      return fromKernel(event)
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/**
 * May a run be created like this? The command has judged definition and caller; this guards the bounds of a
 * snapshot.
 */
export function admitRun({ graph, title, parent }: RunInput): Refusal | undefined {
  const bytes = jsonBytes(packGraph(graph));
  if (bytes > graphBytesMax)
    return refuse(
      'BAD_REQUEST',
      { path: 'definition', bytes, bytesMax: graphBytesMax },
      `The graph with its conditions takes ${bytes} bytes; a run carries ${graphBytesMax} at most. Split the workflow.`,
    );
  if (typeof title !== 'string' || title.length > 200) return refuse('BAD_REQUEST', { path: 'title' });
  return (parent?.depth ?? 0) > limits.depthMax
    ? refuse(
        'BAD_REQUEST',
        { depthMax: limits.depthMax },
        `Workflows call each other at most ${limits.depthMax} deep.`,
      )
    : undefined;
}

/** The word for what a run's state does not take: see the guards of its chart. */
export function runNotInState(
  { value, context }: { readonly value: unknown; readonly context: RunContext },
  event: RunEvent,
): Refusal | undefined {
  const status = runStatus(value);
  const { id: runId, steps } = context;
  switch (event.type) {
    case 'gate.resolve':
    case 'gate.escalate': {
      const { gateKey } = event;
      return refuse(
        'CONFLICT',
        { runId, status, ...(gateKey === undefined ? {} : { gateKey }) },
        status === 'parked'
          ? `Run ${runId} is not parked at the gate ${gateKey ?? ''}.`
          : `Run ${runId} is ${status}, not parked at a gate.`,
      );
    }
    case 'step.edit': {
      const { nodeId } = event;
      const step = steps[nodeId];
      const node = graphOf(context).nodes.find(({ id }) => id === nodeId);
      if (step === undefined || node === undefined || isOver(status))
        return refuse('CONFLICT', { runId, status }, `Run ${runId} is ${status}.`);
      const now = statusOf(node, step.state);
      return refuse(
        'CONFLICT',
        { runId, nodeId, status: now },
        `The step "${nodeId}" is ${now}; only pending steps are edited.`,
      );
    }
    case 'step.submitted':
      return refuse('CONFLICT', { runId, nodeId: event.nodeId }, 'This attempt at the step is over.');
    default:
      return undefined;
  }
}

/** Guards of the chart: the gate that is decided, the step that is edited, the attempt that is meant. */
export const hasGate = ({ steps }: RunContext, event: RunEvent): boolean =>
  (event.type === 'gate.resolve' || event.type === 'gate.escalate') &&
  gateNamed(steps, event.gateKey) !== undefined;

export function isPending({ steps }: RunContext, event: RunEvent): boolean {
  if (event.type !== 'step.edit') return false;
  const state = steps[event.nodeId]?.state;
  return state === undefined || state === 'parked' || state === 'waiting' || state === 'retrying';
}

export function isUnderWay({ steps }: RunContext, event: RunEvent): boolean {
  if (event.type !== 'step.submitted') return false;
  const step = steps[event.nodeId];
  return (
    step?.state.startsWith('running') === true && step.round === event.round && step.attempt === event.attempt
  );
}

/** What is left of the 64 KiB of a snapshot is for the nodes' states. */
export const graphBytesMax = 28 * 1024;

/** Cancelling what has ended changes nothing, and is no error. */
function mayCancel(
  context: RunContext,
  event: RunEventOf<'run.cancel'>,
  onBehalfOf: Caller,
): Refusal | undefined {
  const { reason } = event;
  if (!isSteward(context, { by: onBehalfOf, facts: event.facts ?? null }))
    return refuse(
      'FORBIDDEN',
      { runId: context.id },
      'Only its starter, a caller who may run its workflow, or a person may cancel a run.',
    );
  return typeof reason === 'string' && reason.length > limits.errorCharsMax
    ? refuse('PAYLOAD_TOO_LARGE', { path: 'reason', charsMax: limits.errorCharsMax })
    : undefined;
}

function mayEdit(
  context: RunContext,
  event: RunEventOf<'step.edit'>,
  onBehalfOf: Caller,
): Refusal | undefined {
  const { nodeId, prompt } = event;
  if (!mayRewrite(context, { by: onBehalfOf, facts: event.facts ?? null }))
    return refuse(
      'FORBIDDEN',
      { runId: context.id },
      'Only a person, the owner of its workflow or a manager above, who do no step of it, may edit the steps of a run.',
    );
  const node = graphOf(context).nodes.find(({ id }) => id === nodeId);
  if (node?.kind !== 'step')
    return refuse('NOT_FOUND', { runId: context.id, nodeId }, `Run ${context.id} has no step "${nodeId}".`);
  if (typeof prompt !== 'string' || prompt.trim() === '')
    return refuse('BAD_REQUEST', { path: 'prompt' }, 'A prompt is required.');
  return prompt.length > limits.editCharsMax
    ? refuse('PAYLOAD_TOO_LARGE', { path: 'prompt', charsMax: limits.editCharsMax })
    : undefined;
}

function maySubmit(
  context: RunContext,
  event: RunEventOf<'step.submitted'>,
  by: Caller,
): Refusal | undefined {
  const worker = context.steps[event.nodeId]?.worker;
  const works =
    by.type === 'session' &&
    worker?.kind === 'session' &&
    (worker.id === by.id || by.ancestors.includes(worker.id));
  if (by.type !== 'system' && !works)
    return refuse(
      'FORBIDDEN',
      { runId: context.id, nodeId: event.nodeId },
      'Only the session of a step may submit its output.',
    );
  return undefined;
}

const fitDecision = ({ decision, note }: RunEventOf<'gate.resolve'>): Refusal | undefined => {
  if (!['approve', 'reject'].includes(decision))
    return refuse('BAD_REQUEST', { path: 'decision' }, 'The decision must be approve or reject.');
  return note !== undefined && note.length > 4_000
    ? refuse('PAYLOAD_TOO_LARGE', { path: 'note', charsMax: 4_000 })
    : undefined;
};

const ours = ({ type }: RunEvent): Refusal =>
  refuse('UNKNOWN_EVENT', { type }, 'Only the run itself sends this.');
