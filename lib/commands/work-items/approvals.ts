import type { GatewayActor } from '../app.js';
import { optionsOf, askActor, replyWith, type Request, type Reply } from '../request.js';
import type { ActorKey } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

export interface ApprovalInput {
  readonly request: string;
  /** An employee, or `operator`. */
  readonly target?: string | null | undefined;
  /** ISO-8601 */
  readonly expiresAt?: string | null | undefined;
}

/**
 * Ask for an approval. Routed to the named target, else to the owner's manager, else to the root; where there
 * is no roster the root is the operator (`virtual`).
 */
export function requestApproval(
  request: Request,
  workItemId: string,
  input: ApprovalInput,
): Promise<Reply<GatewayActor<'work-item'>> | Refusal> {
  const { target } = input;
  return askActor(request, 'work-item', workItemId, {
    type: 'approval.request',
    requestId: request.app.supervisor.environment.ids.next(),
    request: input.request,
    target: target ?? null,
    ...(target === 'operator' && { targetKind: 'virtual' }),
    ...(input.expiresAt != null && { expiresAt: Date.parse(input.expiresAt) }),
  });
}

export interface Decision {
  readonly decision: 'approve' | 'reject';
  readonly note?: string | undefined;
}

/**
 * Decide the pending approval. Where it mirrors the parked gate of a workflow run, item and run are decided
 * in one transaction: both move, or neither does.
 *
 * The port for workflows: a plan mirrors its gate by sending the item `approval.request` with `gate: {runId,
 * gateKey}`; from then on the item refuses to be archived, asked again or decided alone (`GATE_PARKED`).
 * Deciding it sends the actor `{kind: 'workflow-run', id: runId}` the event `gate.resolve {gateKey, decision,
 * note?, mirrored}` too; its refusal refuses the whole. A run that resolves its own gate sends the item
 * `approval.decide` with `resolves: runId` and `gateKey`.
 */
export async function decideApproval(
  request: Request,
  workItemId: string,
  { decision, note }: Decision,
): Promise<Reply<GatewayActor<'work-item'>> | Refusal> {
  const event = { type: 'approval.decide' as const, decision, ...(note !== undefined && { note }) };
  const item = await request.app.supervisor.get('work-item', workItemId);
  const gate = item && gateOf(item);
  return gate
    ? decideWithGate(request, workItemId, gate, event)
    : askActor(request, 'work-item', workItemId, event);
}

async function decideWithGate(
  request: Request,
  workItemId: string,
  gate: Gate,
  event: {
    readonly type: 'approval.decide';
    readonly decision: Decision['decision'];
    readonly note?: string;
  },
): Promise<Reply<GatewayActor<'work-item'>> | Refusal> {
  const item: ActorKey<'work-item'> = { kind: 'work-item', id: workItemId };
  const run: ActorKey<'workflow-run'> = { kind: 'workflow-run', id: gate.runId };
  let decided: GatewayActor<'work-item'> | undefined;
  const committed = await request.app.supervisor.transact({
    name: 'decide-gate',
    startsWork: false,
    actors: [item, run],
    ...optionsOf(request),
    run(turns) {
      const now = turns.read(item);
      if (!now || gateOf(now)?.runId !== gate.runId)
        return refuse('CONFLICT', { workItemId }, 'The approval has changed. Read it again.');
      const answer = turns.send(item, { ...event, resolves: gate.runId, gateKey: gate.gateKey });
      if (isRefusal(answer)) return answer;
      decided = answer;
      turns.send(run, { ...event, type: 'gate.resolve', gateKey: gate.gateKey, mirrored: true });
      return { id: workItemId };
    },
  });
  if (isRefusal(committed)) return committed;
  const view =
    committed.replayed || decided === undefined
      ? await request.app.supervisor.get('work-item', workItemId)
      : decided;
  return view ? replyWith(committed, view) : refuse('NOT_FOUND', { kind: 'work-item', id: workItemId });
}

interface Gate {
  readonly runId: string;
  readonly gateKey: string;
}

/** The gate that the pending request mirrors. */
function gateOf(item: GatewayActor<'work-item'>): Gate | undefined {
  const { approvalRef, approvalState } = item.view;
  const [, runId, gateKey] = /^workflow-run:([^/]+)\/(.+)$/.exec(String(approvalRef)) ?? [];
  return approvalState === 'pending' && runId !== undefined && gateKey !== undefined
    ? { runId, gateKey }
    : undefined;
}
