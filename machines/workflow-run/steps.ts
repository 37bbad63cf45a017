import { keep } from '../ground.js';
import { limits, type RetryReason, type RunEventOf, type Spot, type StepCall, type StepOutcome, type StepResult } from './context.js';
import { fail } from './ending.js';
import { openGates } from './gates.js';
import type { RunNode } from './graph.js';
import { trim } from './outcome.js';
import { callOf, timeText, type Pass } from './pass.js';
import { release, writeReceipt } from './receipts.js';
import { resolve } from './settle.js';

/**
 * The attempts at a step. One attempt is one receipt. What works on it is an effect (a plain action), or a session or
 * child run that the effect opened and that tells when it is done; either is known by node, round and attempt, and what
 * comes for an attempt that is over is dropped.
 */
type Step = RunNode & { readonly kind: 'step' };

export function beginAttempt(pass: Pass, place: number, attempt: number): void {
  const node = pass.nodes[place] as Step;
  const spot: Spot = { status: 'running', round: pass.now.rounds, attempt, row: pass.nextRow(), at: pass.at };
  pass.move(node.id, spot);
  writeReceipt(pass, node, spot, { status: 'running' });
  call(pass, place, node, spot, { mode: 'begin' });
  pass.timers.push({ id: `timeout:${place}`, event: { type: 'step.timeout', nodeId: node.id, round: spot.round, attempt }, delayMs: node.rules.timeoutMs });
}

function call(pass: Pass, place: number, node: Step, spot: Spot, how: Pick<StepCall, 'mode' | 'text' | 'fields'>): void {
  const { id: runId, workflowId, definitionVersion } = pass.now;
  pass.starts.push({
    src: node.rules.by === 'fenced' ? 'workflow-act' : 'workflow-step', id: callOf(place, spot),
    input: { runId, workflowId, definitionVersion, nodeId: node.id, round: spot.round, attempt: spot.attempt, row: spot.row, ...how },
  });
}

type Found = NonNullable<ReturnType<Pass['present']>>;

/** What the hand of an attempt says. */
export function hearHand(pass: Pass, { place, node, spot }: Found, result: StepResult): void {
  if (node.kind !== 'step') return;
  if ('input' in result && result.input !== undefined) pass.wishes.push(keep('inputs', spot.row, result.input));
  switch (result.state) {
    case 'opened': {
      const working: Spot = { ...spot, worker: result.worker };
      pass.move(node.id, working);
      return writeReceipt(pass, node, working, { status: 'running' });
    }
    case 'done': return finish(pass, place, node, { ...spot, costUsd: (spot.costUsd ?? 0) + (result.costUsd ?? 0) }, trim(result.outcome));
    case 'failed': return failAttempt(pass, place, node, spot, result.reason, result.message);
    case 'unfit': return remind(pass, place, node, spot, result.message);
  }
}

/** The session or child run that worked on an attempt has ended. What a session said still has to be read. */
export function hearWorker(pass: Pass, { place, node, spot }: Found, event: RunEventOf<'step.ended'>): void {
  if (node.kind !== 'step') return;
  const told: Spot = { ...spot, costUsd: (spot.costUsd ?? 0) + (event.costUsd ?? 0), worker: event.worker };
  pass.stops.push(callOf(place, spot)); // it may not even have said yet that it was opened
  if (event.outcome === 'succeeded') {
    pass.spot(node.id, told);
    return call(pass, place, node, told, { mode: 'collect', text: event.text, ...(event.fields === undefined ? {} : { fields: event.fields }) });
  }
  failAttempt(pass, place, node, told, event.outcome === 'interrupted' ? 'interrupted' : 'error', event.error ?? event.text);
}

/** Its agent handed in an outcome that fits: nothing need be read any more. */
export function submit(pass: Pass, { place, node, spot }: Found, outcome: StepOutcome): void {
  if (node.kind === 'step') finish(pass, place, node, spot, trim(outcome));
}

export function timeOut(pass: Pass, { place, node, spot }: Found): void {
  if (node.kind === 'step' && spot.status === 'running') failAttempt(pass, place, node, spot, 'timeout', `The step took longer than ${Math.round(node.rules.timeoutMs / 1000)} s.`);
}

/** Its agent said something, but not what was asked for: it is asked again, a few times. */
function remind(pass: Pass, place: number, node: Step, spot: Spot, message: string): void {
  const reminders = (spot.reminders ?? 0) + 1;
  if (spot.worker?.kind !== 'session' || reminders > limits.remindersMax) return failAttempt(pass, place, node, spot, 'no-output', message);
  pass.spot(node.id, { ...spot, reminders });
  const { id: runId } = pass.now;
  const id = `${runId}:${place}.${spot.round}.${spot.attempt}.${reminders}`.slice(-64);
  const content = `Your answer does not have the shape that this step asks for: ${message}\nAnswer again, with a JSON object in a code block that fits.`;
  pass.tell({ kind: 'session', id: spot.worker.id }, {
    type: 'message.post', message: { id, content, role: 'notification', kind: 'callback', meta: { kind: 'workflow-step', runId, nodeId: node.id } },
    step: { runId, nodeId: node.id, round: spot.round, attempt: spot.attempt },
  });
}

function finish(pass: Pass, place: number, node: Step, spot: Spot, outcome: StepOutcome): void {
  release(pass, place, spot);
  pass.move(node.id, { ...over(spot), status: 'done' });
  pass.set({ costUsd: pass.now.costUsd + (spot.costUsd ?? 0) });
  pass.wishes.push(keep('outcomes', node.id, { nodeId: node.id, status: 'done', attempt: spot.attempt, round: spot.round, outcome: outcome as never })); // the latest of each node, for the steps after it
  writeReceipt(pass, node, spot, { status: 'done', settledAt: timeText(pass.at), outcome: outcome as never }); // an outcome is JSON
  resolve(pass, place, { status: 'done', attempt: spot.attempt, outcome });
  openGates(pass);
}

function failAttempt(pass: Pass, place: number, node: Step, spot: Spot, reason: RetryReason, message: string): void {
  release(pass, place, spot, reason === 'timeout' ? message : undefined); // what has ended by itself need not be stopped
  pass.set({ costUsd: pass.now.costUsd + (spot.costUsd ?? 0) });
  const { attempts, on, delayMs } = node.rules;
  const again = spot.attempt < attempts && on.includes(reason);
  const pauseMs = Math.min(3_600_000, delayMs * 2 ** (spot.attempt - 1));
  const detail = message.slice(0, limits.errorCharsMax);
  writeReceipt(pass, node, spot, { status: 'failed', reason, detail, settledAt: timeText(pass.at), ...(again ? { retriedAfterMs: pauseMs } : {}) });
  if (!again) return giveUp(pass, place, node, spot, detail);
  if (pauseMs === 0) return beginAttempt(pass, place, spot.attempt + 1);
  pass.move(node.id, { ...over(spot), status: 'waiting' });
  pass.timers.push({ id: `retry:${place}`, event: { type: 'step.retry', nodeId: node.id, round: spot.round, attempt: spot.attempt }, delayMs: pauseMs });
}

function giveUp(pass: Pass, place: number, node: Step, spot: Spot, detail: string): void {
  const { optional, onError } = node.rules;
  const status = optional ? 'skipped' : 'failed';
  pass.move(node.id, { ...over(spot), status });
  pass.wishes.push(keep('outcomes', node.id, { nodeId: node.id, status, attempt: spot.attempt, round: spot.round, outcome: { notes: detail } }));
  if (!optional && onError === 'fail-run') {
    pass.set({ settled: pass.now.settled + 1 });
    return fail(pass, { code: 'STEP_FAILED', message: detail, ref: node.id });
  }
  resolve(pass, place, { status, attempt: spot.attempt, ...(!optional && onError === 'error-edge' ? { lane: 'error' as const } : {}) });
}

/** A spot that nobody works on any more; who did is still known. */
const over = ({ status, round, attempt, row, at, worker }: Spot): Spot => ({ status, round, attempt, row, at, ...(worker === undefined ? {} : { worker }) });
