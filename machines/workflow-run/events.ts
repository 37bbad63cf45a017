import { callerName, type Caller } from '../caller.js';
import type { Patterns } from '../graph/conditions.js';
import { publish, writeRow, stampOf } from '../outputs.js';
import { Advance } from './advance.js';
import {
  isActive,
  limits,
  type Attempted,
  type GateDecision,
  type RunContext,
  type RunEvent,
  type RunEventOf,
  type RunFacts,
  type RunInput,
} from './context.js';
import { gateNamed } from './gates.js';
import { timerFor } from './requests.js';

/**
 * What each event does to a run: one table from events to its steps. Whatever is stale does nothing.
 */
export function take(context: RunContext, event: RunEvent, patterns: Patterns | undefined): Advance {
  const advance = new Advance(context, event.at, event.facts, patterns);
  apply(advance, event);
  return event.type === 'step.edit' ? advance : advance.goOn(); // a run that waits for room may be edited, too
}

function apply(advance: Advance, event: RunEvent): void {
  switch (event.type) {
    case 'run.admit':
      return advance.set({ continuing: true });
    case 'run.continue':
      return;
    case 'run.cancel':
      return advance.cancel(callerName(event.by), event.reason?.trim() || null);
    case 'step.edit':
      narrow(advance, event.onBehalfOf ?? event.by);
      return edit(advance, event.nodeId, event.prompt, callerName(event.by));
    case 'step.ended':
    case 'step.submitted': {
      const place = present(advance, event);
      if (place !== undefined) advance.step(place, event);
      return;
    }
    case 'step.timeout':
    case 'step.retry':
    case 'wait.over': {
      const place = present(advance, event);
      const own = timerFor(event.type);
      if (place !== undefined && own !== undefined) advance.step(place, { type: own });
      return;
    }
    case 'gate.overdue':
    case 'gate.unanswered': {
      const own = timerFor(event.type);
      if (own !== undefined) publishGate(advance, event.gateKey, { type: own });
      return;
    }
    case 'gate.escalate':
      return publishGate(advance, event.gateKey, event);
    case 'gate.resolve':
      return decideGate(advance, event);
  }
}

/** Words that no one approved lend nothing: from now on the run does no more than who wrote them may. */
function narrow(advance: Advance, by: Caller): void {
  const { authority } = advance.now;
  if (by.type !== 'session' || authority === null) return;
  const onBehalfOf = [...new Set([...authority.onBehalfOf, callerName(by)])];
  advance.set({ authority: { onBehalfOf, lent: false } });
}

/** The place of the attempt that an event speaks of; undefined where the run has gone on since. */
function present(advance: Advance, { nodeId, round, attempt }: Attempted): number | undefined {
  const step = advance.steps[nodeId];
  return step === undefined || step.round !== round || step.attempt !== attempt || !isActive(step)
    ? undefined
    : advance.topology.place.get(nodeId);
}

function publishGate(
  advance: Advance,
  gateKey: string | undefined,
  event: Parameters<Advance['step']>[1],
): void {
  const gate = gateNamed(advance.steps, gateKey)?.[1];
  const place = gate && advance.topology.place.get(gate.nodeId);
  if (place !== undefined) advance.step(place, event);
}

function decideGate(advance: Advance, event: RunEventOf<'gate.resolve'>): void {
  const found = gateNamed(advance.steps, event.gateKey);
  if (found === undefined) return;
  const [gateKey, { target, targetKind, at, escalatedAt }] = found;
  const { by, note, mirrored, decision } = event;
  const actor = by.type === 'session' && by.employee !== null ? by.employee : callerName(by);
  const decided: GateDecision = {
    gateKey,
    decision,
    actor,
    at: advance.at,
    note: note?.trim().slice(0, 300) || null,
    approval: { target, targetKind, at, escalatedAt },
  };
  advance.set({ decisions: [...advance.now.decisions, decided].slice(-limits.decisionsKept) });
  publishGate(
    advance,
    gateKey,
    decision === 'approve'
      ? { type: 'gate.open', detail: `approved by ${actor}`, note, mirrored }
      : {
          type: 'gate.reject',
          detail: `rejected by ${actor}${note?.trim() ? `: ${note.trim()}` : ''}`,
          note,
          mirrored,
        },
  );
}

function edit(advance: Advance, nodeId: string, prompt: string, by: string): void {
  advance.set({ edited: [...advance.now.edited.filter((id) => id !== nodeId), nodeId] });
  advance.outputs.push(writeRow('edits', nodeId, { nodeId, prompt, by, at: advance.at }));
}

/** What a run is created with: rows of what it was given, and what is known of its conditions. */
export function create(context: RunContext, input: RunInput, patterns: Patterns | undefined): Advance {
  const advance = new Advance(context, input.at, input.facts, patterns);
  const { id: runId, workflowId, title, trigger } = context;
  const queued = input.queued === true;
  advance.outputs.push(
    writeRow('given', 1, {
      input: input.input,
      payload: input.payload,
      trigger: { kind: trigger.source, ...trigger },
    }),
    publish('run:started', { runId, workflowId, title, source: trigger.source, queued }),
    publish('company:changed', { entity: 'workflow-run', action: 'started', id: runId, workflowId, runId }),
  );
  const scope = {
    steps: {},
    run: { id: runId, rounds: 1, status: 'running' },
    input: input.input,
    trigger: {
      kind: trigger.source,
      source: trigger.source,
      event: trigger.event,
      fireRef: trigger.fireRef,
      payload: input.payload,
    },
  };
  for (const subject of ['trigger', 'input']) advance.judge(advance.topology.about.get(subject) ?? [], scope);
  for (const { nodeId, prompt } of input.prompts ?? []) edit(advance, nodeId, prompt, callerName(input.by));
  for (const inherited of input.inherited ?? []) advance.inherit(inherited);
  for (const error of input.errors ?? []) advance.fail(error);
  advance.set({ continuing: true });
  return advance;
}

/** There is room from the start: the first steps begin in the commit that creates the run. */
export const begin = (context: RunContext, input: RunInput, patterns: Patterns | undefined): Advance =>
  new Advance(context, input.at, input.facts, patterns).goOn();

/** The result of an effect, by the name of its call. */
export function hearCall(
  context: RunContext,
  event: { readonly type: string },
  patterns: Patterns | undefined,
): Advance {
  const stamp = stampOf(event);
  const advance = new Advance(context, stamp.at, stamp.facts as RunFacts | null | undefined, patterns);
  const call = event.type.slice(event.type.indexOf('step:'));
  const [, place = '', round = '', attempt = ''] = call.split(':');
  const nodeId = advance.graph.nodes[Number(place)]?.id ?? '';
  if (present(advance, { nodeId, round: Number(round), attempt: Number(attempt) }) !== undefined)
    advance.step(Number(place), { ...event, type: event.type.replace(call, 'work') });
  advance.forget(call);
  return advance.goOn();
}
