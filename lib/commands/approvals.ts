import { asked, askOne, doneWith, recordOf, type Asking, type Desk, type Done } from './desk.js';
import type { ActorView } from '../supervisor/contract.js';
import type { ActorKey } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

export interface ApprovalWish {
  readonly request: string;
  /** An employee, or `operator`. */
  readonly target?: string | null | undefined;
  /** ISO-8601 */
  readonly expiresAt?: string | null | undefined;
}

/**
 * Ask for an approval. Routed to the named target, else to the owner's manager, else to the root; where there is no
 * roster the root is the operator (`virtual`).
 */
export function requestApproval(desk: Desk, workItemId: string, wish: ApprovalWish, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const { target } = wish;
  return askOne(desk, 'work-item', workItemId, {
    type: 'approval.request',
    requestId: desk.supervisor.world.id(),
    request: wish.request,
    target: target ?? null,
    ...(target === 'operator' && { targetKind: 'virtual' }),
    ...(wish.expiresAt != null && { expiresAt: Date.parse(wish.expiresAt) }),
  }, asking);
}

export interface Decision { readonly decision: 'approve' | 'reject'; readonly note?: string | undefined }

/**
 * Decide the pending approval. Where it mirrors the parked gate of a workflow run, item and run are decided in one
 * transaction: both move, or neither does.
 *
 * The port for workflows: a plan mirrors its gate by sending the item `approval.request` with `gate: {runId, gateKey}`;
 * from then on the item refuses to be archived, asked anew or decided alone (`GATE_PARKED`). Deciding it sends the actor
 * `{kind: 'workflow-run', id: runId}` the event `gate.resolve {gateKey, decision, note?, mirrored}` too; its refusal refuses
 * the whole. A run that resolves its own gate sends the item `approval.decide` with `resolves: runId` and `gateKey`.
 */
export async function decideApproval(desk: Desk, workItemId: string, { decision, note }: Decision, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const event = { type: 'approval.decide', decision, ...(note !== undefined && { note }) };
  const item = await desk.supervisor.get('work-item', workItemId);
  const gate = item && gateOf(item);
  return gate ? decideWithGate(desk, workItemId, gate, event, asking) : askOne(desk, 'work-item', workItemId, event, asking);
}

async function decideWithGate(desk: Desk, workItemId: string, gate: Gate, event: { type: string; decision: string; note?: string }, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const item: ActorKey = { kind: 'work-item', id: workItemId };
  const run: ActorKey = { kind: 'workflow-run', id: gate.runId };
  let decided: ActorView | undefined;
  const committed = await desk.supervisor.transact({
    name: 'decide-gate', newWork: false,
    actors: [item, run],
    ...asked(asking),
    decide(turns) {
      const now = turns.read(item);
      if (!now || gateOf(now)?.runId !== gate.runId) return refuse('CONFLICT', { workItemId }, 'The approval changed in the meantime. Read it again.');
      const answer = turns.send(item, { ...event, resolves: gate.runId, gateKey: gate.gateKey });
      if (isRefusal(answer)) return answer;
      decided = answer;
      turns.send(run, { ...event, type: 'gate.resolve', gateKey: gate.gateKey, mirrored: true });
      return { id: workItemId };
    },
  });
  if (isRefusal(committed)) return committed;
  const view = committed.replayed || decided === undefined ? await desk.supervisor.get('work-item', workItemId) : decided;
  return view ? doneWith(committed, view) : refuse('NOT_FOUND', { kind: 'work-item', id: workItemId });
}

interface Gate { readonly runId: string; readonly gateKey: string }

/** The gate that the pending request mirrors. */
function gateOf(item: ActorView): Gate | undefined {
  const { approvalRef, approvalState } = recordOf(item);
  const [, runId, gateKey] = /^workflow-run:([^/]+)\/(.+)$/.exec(String(approvalRef)) ?? [];
  return approvalState === 'pending' && runId !== undefined && gateKey !== undefined ? { runId, gateKey } : undefined;
}
