import type { GatewayEvent } from '../../../actors/gateway-kinds.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { GatewayActor } from '../app.js';
import { optionsOf, askActor, replyWith, type Request, type Reply } from '../request.js';

/**
 * What a caller does with a run that is under way: decide and escalate its gates, cancel it, edit a step that
 * has not begun.
 */

export interface GateDecision {
  readonly decision: 'approve' | 'reject';
  readonly note?: string | undefined;
  readonly gateKey?: string | undefined;
}

/**
 * Decide a parked gate, and with it the approval of the work item that mirrors it: both in one transaction,
 * or nothing.
 */
export function resolveGate(
  request: Request,
  run: RunView,
  { decision, note, gateKey = run.parked?.gateKey }: GateDecision,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> {
  const said = { decision, ...(note !== undefined && { note }) };
  return withMirror(
    request,
    run,
    { type: 'gate.resolve', ...(gateKey !== undefined && { gateKey }), ...said },
    { type: 'approval.decide', ...said, resolves: run.runId, ...(gateKey !== undefined && { gateKey }) },
    gateKey,
  );
}

export function escalateGate(
  request: Request,
  run: RunView,
  reason: string | undefined,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> {
  const gateKey = run.parked?.gateKey;
  const why = reason === undefined ? {} : { reason };
  return withMirror(
    request,
    run,
    { type: 'gate.escalate', ...(gateKey !== undefined && { gateKey }), ...why },
    { type: 'approval.escalate', ...why },
    gateKey,
  );
}

async function withMirror(
  request: Request,
  run: RunView,
  event: GatewayEvent<'workflow-run'>,
  mirrored: GatewayEvent<'work-item'>,
  gateKey: string | undefined,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> {
  const { runId, workItemId } = run;
  const item = workItemId === null ? undefined : await request.app.supervisor.get('work-item', workItemId);
  if (item === undefined || !mirrors(item, runId, gateKey))
    return askActor(request, 'workflow-run', runId, event);
  const itemKey = { kind: 'work-item', id: item.id } as const;
  let moved: GatewayActor<'workflow-run'> | undefined;
  const committed = await request.app.supervisor.transact({
    name: 'decide-gate',
    startsWork: false,
    actors: [{ kind: 'workflow-run', id: runId }, itemKey],
    ...optionsOf(request),
    run(turns) {
      const now = turns.read(itemKey);
      const shows = now !== undefined && mirrors(now, runId, gateKey);
      const answer = turns.send(
        { kind: 'workflow-run', id: runId },
        { ...event, ...(shows && { mirrored: true }) },
      );
      if (isRefusal(answer)) return answer;
      moved = answer;
      if (shows) turns.send(itemKey, mirrored);
      return { id: runId };
    },
  });
  if (isRefusal(committed)) return committed;
  const value = moved ?? (await request.app.supervisor.get('workflow-run', runId));
  return value === undefined
    ? refuse('NOT_FOUND', { kind: 'workflow-run', id: runId })
    : replyWith(committed, value);
}

/** Does the pending approval of this item stand for this very gate? */
function mirrors(item: GatewayActor<'work-item'>, runId: string, gateKey: string | undefined): boolean {
  const { approvalRef, approvalState } = item.view;
  return (
    approvalState === 'pending' && gateKey !== undefined && approvalRef === `workflow-run:${runId}/${gateKey}`
  );
}

/** Cancel a run. One that has ended stays as it is. */
export const cancelRun = (
  request: Request,
  run: RunView,
  reason: string | undefined,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> =>
  askActor(request, 'workflow-run', run.runId, { type: 'run.cancel', reason: reason ?? null });

/** Change the prompt of a step that has not begun, for this run only. */
export const editStep = (
  request: Request,
  run: RunView,
  { nodeId, prompt }: { readonly nodeId: string; readonly prompt: string },
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> =>
  askActor(request, 'workflow-run', run.runId, { type: 'step.edit', nodeId, prompt });
