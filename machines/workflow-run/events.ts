import { callerName } from '../caller.js';
import type { Patterns } from '../graph/conditions.js';
import { announce, keep, stampOf } from '../ground.js';
import { advance, endWait, inherit, lookEverywhere } from './advance.js';
import type { RunContext, RunEvent, RunFacts, RunInput, StepResult } from './context.js';
import { cancel, fail } from './ending.js';
import { decideGate, escalateGate, overdue } from './gates.js';
import { Pass } from './pass.js';
import { beginAttempt, hearHand, hearWorker, submit, timeOut } from './steps.js';

/** What each event does to a run: one table from events to the deeds of this folder. Whatever is stale does nothing. */
export function take(context: RunContext, event: RunEvent, patterns: Patterns | undefined): Pass {
  const pass = new Pass(context, event.at, event.facts, patterns);
  apply(pass, event);
  return goOn(pass);
}

/** What was left over by the last commit, and what this event made ready. */
function goOn(pass: Pass): Pass {
  if (pass.over || pass.now.queued) return pass;
  if (pass.now.continuing) lookEverywhere(pass);
  pass.set({ continuing: false });
  advance(pass);
  return pass;
}

function apply(pass: Pass, event: RunEvent): void {
  switch (event.type) {
    case 'run.admit':
      if (pass.now.queued) pass.set({ queued: false, continuing: true });
      break;
    case 'run.continue': break;
    case 'step.ended': {
      const found = pass.present(event);
      if (found?.spot.status === 'running') hearWorker(pass, found, event);
      break;
    }
    case 'step.submitted': {
      const found = pass.present(event);
      if (found?.spot.status === 'running') submit(pass, found, event.outcome);
      break;
    }
    case 'step.timeout': {
      const found = pass.present(event);
      if (found !== undefined) timeOut(pass, found);
      break;
    }
    case 'step.retry': {
      const found = pass.present(event);
      if (found?.node.kind === 'step') beginAttempt(pass, found.place, event.attempt + 1);
      break;
    }
    case 'wait.over': {
      const found = pass.present(event);
      if (found !== undefined) endWait(pass, found);
      break;
    }
    case 'step.edit': edit(pass, event.nodeId, event.prompt, callerName(event.by)); break;
    case 'gate.resolve': decideGate(pass, event); break;
    case 'gate.overdue': overdue(pass, event); break;
    case 'gate.unanswered': escalateGate(pass, event.gateKey, 'system'); break;
    case 'gate.escalate': escalateGate(pass, event.gateKey, callerName(event.by)); break;
    case 'run.cancel': cancel(pass, callerName(event.by), event.reason?.trim() || null); break;
  }
}

/** The first commit of a run. */
export function born(context: RunContext, input: RunInput, patterns: Patterns | undefined): Pass {
  const pass = new Pass(context, input.at, input.facts, patterns);
  pass.wishes.push(keep('given', 1, { input: input.input, payload: input.payload, trigger: { kind: context.trigger.source, ...context.trigger } }));
  const { id: runId, workflowId, title, trigger } = context;
  pass.wishes.push(announce('run:started', { runId, workflowId, title, source: trigger.source, queued: context.queued }), announce('company:changed', { entity: 'workflow-run', action: 'started', id: runId, workflowId, runId }));
  const scope = {
    steps: {}, run: { id: runId, rounds: 1, status: 'running' }, input: input.input,
    trigger: { kind: trigger.source, source: trigger.source, event: trigger.event, fireRef: trigger.fireRef, payload: input.payload },
  };
  for (const subject of ['trigger', 'input']) pass.judge(pass.ways.about.get(subject) ?? [], scope);
  for (const { nodeId, prompt } of input.prompts ?? []) edit(pass, nodeId, prompt, callerName(input.by));
  inherit(pass, input.inherited ?? []);
  for (const error of input.errors ?? []) fail(pass, error);
  pass.set({ continuing: true });
  return goOn(pass);
}

function edit(pass: Pass, nodeId: string, prompt: string, by: string): void {
  pass.set({ edited: [...pass.now.edited.filter((id) => id !== nodeId), nodeId] });
  pass.wishes.push(keep('edits', nodeId, { nodeId, prompt, by, at: pass.at }));
}

/** The result of an effect, by the name of its call. */
export function hearCall(context: RunContext, event: { readonly type: string }, result: StepResult, patterns: Patterns | undefined): Pass {
  const { at, facts } = stampOf(event);
  const pass = new Pass(context, at, facts as RunFacts | null | undefined, patterns);
  const [, place = '', round = '', attempt = ''] = event.type.slice(event.type.indexOf('step:')).split(':');
  const node = pass.nodes[Number(place)];
  const found = node === undefined ? undefined : pass.present({ nodeId: node.id, round: Number(round), attempt: Number(attempt) });
  pass.stops.push(event.type.slice(event.type.indexOf('step:')));
  if (found?.spot.status === 'running') hearHand(pass, found, result);
  return goOn(pass);
}
