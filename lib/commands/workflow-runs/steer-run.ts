import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { ActorView, EventObject } from '../../supervisor/contract.js';
import { asked, askOne, doneWith, recordOf, type Asking, type Desk, type Done } from '../desk.js';

/** What a caller does with a run that is under way: decide and escalate its gates, cancel it, edit a step that has not begun. */

export interface GateDecision { readonly decision: 'approve' | 'reject'; readonly note?: string | undefined; readonly gateKey?: string | undefined }

/** Decide a parked gate, and with it the approval of the work item that mirrors it: both in one transaction, or nothing. */
export function resolveGate(desk: Desk, run: RunView, { decision, note, gateKey = run.parked?.gateKey }: GateDecision, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const said = { decision, ...(note !== undefined && { note }) };
  return withMirror(desk, run, { type: 'gate.resolve', ...(gateKey !== undefined && { gateKey }), ...said }, { type: 'approval.decide', ...said, resolves: run.runId, ...(gateKey !== undefined && { gateKey }) }, gateKey, asking);
}

export function escalateGate(desk: Desk, run: RunView, reason: string | undefined, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const gateKey = run.parked?.gateKey;
  const why = reason === undefined ? {} : { reason };
  return withMirror(desk, run, { type: 'gate.escalate', ...(gateKey !== undefined && { gateKey }), ...why }, { type: 'approval.escalate', ...why }, gateKey, asking);
}

async function withMirror(desk: Desk, run: RunView, event: { type: string } & Record<string, unknown>, mirrored: EventObject, gateKey: string | undefined, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const { runId, workItemId } = run;
  const item = workItemId === null ? undefined : await desk.supervisor.get('work-item', workItemId);
  if (item === undefined || !mirrors(item, runId, gateKey)) return askOne(desk, 'workflow-run', runId, event, asking);
  const itemKey = { kind: 'work-item', id: item.id };
  let moved: ActorView | undefined;
  const committed = await desk.supervisor.transact({
    name: 'decide-gate', newWork: false, actors: [{ kind: 'workflow-run', id: runId }, itemKey], ...asked(asking),
    decide(turns) {
      const now = turns.read(itemKey);
      const shows = now !== undefined && mirrors(now, runId, gateKey);
      const answer = turns.send({ kind: 'workflow-run', id: runId }, { ...event, ...(shows && { mirrored: true }) });
      if (isRefusal(answer)) return answer;
      moved = answer;
      if (shows) turns.send(itemKey, mirrored);
      return { id: runId };
    },
  });
  if (isRefusal(committed)) return committed;
  const value = moved ?? await desk.supervisor.get('workflow-run', runId);
  return value === undefined ? refuse('NOT_FOUND', { kind: 'workflow-run', id: runId }) : doneWith(committed, value);
}

/** Does the pending approval of this item stand for this very gate? */
function mirrors(item: ActorView, runId: string, gateKey: string | undefined): boolean {
  const { approvalRef, approvalState } = recordOf(item);
  return approvalState === 'pending' && gateKey !== undefined && approvalRef === `workflow-run:${runId}/${gateKey}`;
}

/** Cancel a run. One that has ended stays as it is. */
export const cancelRun = (desk: Desk, run: RunView, reason: string | undefined, asking: Asking): Promise<Done<ActorView> | Refusal> =>
  askOne(desk, 'workflow-run', run.runId, { type: 'run.cancel', reason: reason ?? null }, asking);

/** Another prompt for a step that has not begun, in this run alone. */
export const editStep = (desk: Desk, run: RunView, { nodeId, prompt }: { readonly nodeId: string; readonly prompt: string }, asking: Asking): Promise<Done<ActorView> | Refusal> =>
  askOne(desk, 'workflow-run', run.runId, { type: 'step.edit', nodeId, prompt }, asking);
