import { fromKernel, isTrusted, type Caller } from '../caller.js';
import { jsonBytes } from '../json-bytes.js';
import { refuse, type Refusal } from '../refusals.js';
import { isSteward, mayDecideGate } from './authority.js';
import { limits, type RunContext, type RunEvent, type RunEventOf, type RunInput } from './context.js';
import { graphOf, packGraph } from './graph.js';
import { isOver } from './pass.js';

/** Who may do what with a run, and when: the only place that knows. */
export function runPolicy(context: RunContext, event: RunEvent): Refusal | undefined {
  switch (event.type) {
    case 'gate.resolve': return mayDecideGate(context, event.gateKey, event) ?? fitDecision(event);
    case 'gate.escalate': return mayDecideGate(context, event.gateKey, event);
    case 'run.cancel': return mayCancel(context, event);
    case 'step.edit': return mayEdit(context, event);
    case 'step.submitted': return maySubmit(context, event);
    case 'step.ended': return isTrusted(event.by) ? undefined : ours(event);
    case 'run.continue': case 'run.admit': case 'step.timeout': case 'step.retry': case 'wait.over': case 'gate.overdue': case 'gate.unanswered':
      return event.by.type === 'system' ? undefined : ours(event);
    default: return fromKernel(event) ? undefined : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/** May a run be created like this? The command has judged definition and caller; this guards the bounds of a snapshot. */
export function admitRun({ graph, title, parent }: RunInput): Refusal | undefined {
  const bytes = jsonBytes(packGraph(graph));
  if (bytes > graphBytesMax) return refuse('BAD_REQUEST', { path: 'definition', bytes, bytesMax: graphBytesMax }, `The graph with its conditions takes ${bytes} bytes; a run carries ${graphBytesMax} at most. Split the workflow.`);
  if (typeof title !== 'string' || title.length > 200) return refuse('BAD_REQUEST', { path: 'title' });
  return (parent?.depth ?? 0) > limits.depthMax ? refuse('BAD_REQUEST', { depthMax: limits.depthMax }, `Workflows call each other at most ${limits.depthMax} deep.`) : undefined;
}

/** What is left of the 64 KiB of a snapshot is for the nodes' states. */
export const graphBytesMax = 28 * 1024;

/** Cancelling what has ended changes nothing, and is no error. */
function mayCancel(context: RunContext, event: RunEventOf<'run.cancel'>): Refusal | undefined {
  const { reason } = event;
  if (!isSteward(context, event)) return refuse('FORBIDDEN', { runId: context.id }, 'Only who started a run, who may run its workflow, or a person may cancel it.');
  return typeof reason === 'string' && reason.length > limits.errorCharsMax ? refuse('PAYLOAD_TOO_LARGE', { path: 'reason', charsMax: limits.errorCharsMax }) : undefined;
}

function mayEdit(context: RunContext, event: RunEventOf<'step.edit'>): Refusal | undefined {
  const { nodeId, prompt } = event;
  if (!isSteward(context, event)) return refuse('FORBIDDEN', { runId: context.id }, 'Only who started a run, who may run its workflow, or a person may edit its steps.');
  const node = graphOf(context).nodes.find(({ id }) => id === nodeId);
  if (node?.kind !== 'step') return refuse('NOT_FOUND', { runId: context.id, nodeId }, `Run ${context.id} has no step "${nodeId}".`);
  if (isOver(context.status)) return refuse('CONFLICT', { runId: context.id, status: context.status }, `Run ${context.id} is ${context.status}.`);
  const spot = context.spots[nodeId];
  if (spot !== undefined && spot.status !== 'parked' && spot.status !== 'waiting') return refuse('CONFLICT', { runId: context.id, nodeId, status: spot.status }, `The step "${nodeId}" is ${spot.status}; only pending steps are edited.`);
  if (typeof prompt !== 'string' || prompt.trim() === '') return refuse('BAD_REQUEST', { path: 'prompt' }, 'A prompt is required.');
  return prompt.length > limits.editCharsMax ? refuse('PAYLOAD_TOO_LARGE', { path: 'prompt', charsMax: limits.editCharsMax }) : undefined;
}

function maySubmit(context: RunContext, event: RunEventOf<'step.submitted'>): Refusal | undefined {
  const spot = context.spots[event.nodeId];
  const worker = spot?.worker;
  const works = (by: Caller): boolean => by.type === 'session' && worker?.kind === 'session' && (worker.id === by.id || by.ancestors.includes(worker.id));
  if (event.by.type !== 'system' && !works(event.by)) return refuse('FORBIDDEN', { runId: context.id, nodeId: event.nodeId }, 'Only the session that does a step submits its output.');
  if (spot === undefined || spot.status !== 'running' || spot.round !== event.round || spot.attempt !== event.attempt || isOver(context.status)) {
    return refuse('CONFLICT', { runId: context.id, nodeId: event.nodeId }, 'This attempt at the step is over.');
  }
  return undefined;
}

const fitDecision = ({ decision, note }: RunEventOf<'gate.resolve'>): Refusal | undefined => {
  if (!['approve', 'reject'].includes(decision)) return refuse('BAD_REQUEST', { path: 'decision' }, 'The decision is approve or reject.');
  return note !== undefined && note.length > 4_000 ? refuse('PAYLOAD_TOO_LARGE', { path: 'note', charsMax: 4_000 }) : undefined;
};

const ours = ({ type }: RunEvent): Refusal => refuse('UNKNOWN_EVENT', { type }, 'Only the run itself sends this.');
