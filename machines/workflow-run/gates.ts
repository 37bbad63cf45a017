import { callerName } from '../caller.js';
import { limits, type ParkedGate, type RunEventOf, type Spot } from './context.js';
import { fail } from './ending.js';
import { gatesOf, openKey, type GateRules } from './graph.js';
import { gateNamed, mirror, unmirror } from './mirror.js';
import { timeText, type Pass } from './pass.js';

/**
 * Gates: places where a run waits for somebody or something, for a week if need be. An approval waits for a person or a
 * manager; an artifact or a flag opens by itself as soon as an outcome names it, and whoever may decide an approval may
 * open it by hand. Nobody at all: the gate escalates, and at its deadline it is rejected.
 */
export function passGates(pass: Pass, place: number, from: number): boolean {
  const node = pass.nodes[place];
  if (node === undefined) return true;
  const gates = gatesOf(node);
  for (let at = from; at < gates.length; at += 1) {
    const gate = gates[at] as GateRules;
    if (pass.now.truths[openKey(node.id, gate)] !== true) {
      park(pass, place, node.id, at, gate);
      return false;
    }
    pass.receipt(pass.nextRow(), { nodeId: node.id, gateId: gate.id, status: 'checkpoint', attempt: 1, round: pass.now.rounds, at: timeText(pass.at), settledAt: timeText(pass.at), detail: `${gate.kind} "${gate.wants ?? ''}" is there` });
  }
  return true;
}

/** `<node>/<gate>@<round>` */
const gateKeyOf = (nodeId: string, gateId: string, round: number): string => `${nodeId}/${gateId}@${round}`;

function park(pass: Pass, place: number, nodeId: string, at: number, gate: GateRules): void {
  const spot: Spot = { status: 'parked', round: pass.now.rounds, attempt: 1, row: pass.nextRow(), at: pass.at, gate: at };
  const key = gateKeyOf(nodeId, gate.id, spot.round);
  const parked: ParkedGate = { nodeId, gateId: gate.id, kind: gate.kind, at: pass.at, ...routed(pass, gate), escalatedAt: null, requestedBy: pass.now.startedBy };
  pass.move(nodeId, spot);
  pass.set({ gates: { ...pass.now.gates, [key]: parked } });
  pass.receipt(spot.row, { nodeId, gateId: gate.id, status: 'parked', attempt: 1, round: spot.round, at: timeText(pass.at), detail: gate.asks });
  if (gate.timeoutMs !== null) pass.timers.push({ id: `gate:${place}`, event: { type: 'gate.overdue', gateKey: key }, delayMs: gate.timeoutMs });
  if (gate.kind !== 'approval') return;
  pass.timers.push({ id: `answer:${place}`, event: { type: 'gate.unanswered', gateKey: key }, delayMs: pass.now.escalateAfterMs });
  mirror(pass, key, parked, gate);
}

/** To the employee whom the definition names, else to the requester's manager, else to the root. */
function routed({ facts }: Pass, gate: GateRules): Pick<ParkedGate, 'target' | 'targetKind'> {
  const named = gate.approver !== null && facts?.approvers.includes(gate.approver) === true ? gate.approver : null;
  const target = named ?? facts?.managers[0] ?? facts?.root ?? null;
  return { target, targetKind: target === null ? 'virtual' : 'employee' };
}

export function decideGate(pass: Pass, event: RunEventOf<'gate.resolve'>): void {
  const found = gateNamed(pass.now.gates, event.gateKey);
  if (found === undefined) return;
  const [key, gate] = found;
  const actor = event.by.type === 'session' && event.by.employee !== null ? event.by.employee : callerName(event.by);
  const { target, targetKind, at, escalatedAt } = gate;
  const decision = { gateKey: key, decision: event.decision, actor, at: pass.at, note: event.note?.trim().slice(0, 300) || null, approval: { target, targetKind, at, escalatedAt } };
  pass.set({ decisions: [...pass.now.decisions, decision].slice(-limits.decisionsKept) });
  if (event.mirrored !== true) unmirror(pass, key, event.decision, event.note);
  if (event.decision === 'approve') openGate(pass, key, gate, `approved by ${actor}`);
  else refuseGate(pass, key, gate, `rejected by ${actor}${event.note?.trim() ? `: ${event.note.trim()}` : ''}`);
}

/** Nobody came in time. */
export function overdue(pass: Pass, { gateKey }: RunEventOf<'gate.overdue'>): void {
  const gate = pass.now.gates[gateKey];
  if (gate === undefined) return;
  unmirror(pass, gateKey, 'reject', 'Nobody decided in time.');
  refuseGate(pass, gateKey, gate, 'nobody came in time');
}

export function escalateGate(pass: Pass, gateKey: string | undefined, by: string): void {
  const found = gateNamed(pass.now.gates, gateKey);
  if (found === undefined || found[1].escalatedAt !== null) return;
  const [key, gate] = found;
  pass.set({ gates: { ...pass.now.gates, [key]: { ...gate, escalatedAt: pass.at } } });
  if (pass.now.workItemId !== null && by === 'system') pass.tell({ kind: 'work-item', id: pass.now.workItemId }, { type: 'approval.escalate', reason: 'The gate that it mirrors was escalated.' });
}

/** Gates whose artifact or flag has come meanwhile. */
export function openGates(pass: Pass): void {
  for (const [key, gate] of Object.entries(pass.now.gates)) {
    if (gate.kind !== 'approval' && pass.now.truths[`gate.${gate.nodeId}.${gate.gateId}`] === true) openGate(pass, key, gate, `${gate.kind} has come`);
  }
}

function openGate(pass: Pass, key: string, gate: ParkedGate, detail: string): void {
  const place = leave(pass, key, gate, 'checkpoint', detail);
  if (place === undefined) return;
  const { gate: at = 0 } = pass.spots[gate.nodeId] as Spot;
  pass.opened.push({ place, from: at + 1 });
}

function refuseGate(pass: Pass, key: string, gate: ParkedGate, detail: string): void {
  if (leave(pass, key, gate, 'failed', detail) === undefined) return;
  const spot = pass.spots[gate.nodeId];
  if (spot !== undefined) pass.move(gate.nodeId, { ...spot, status: 'failed' });
  fail(pass, { code: 'GATE_REJECTED', message: detail, ref: gate.nodeId });
}

/** The gate is decided, one way or the other. */
function leave(pass: Pass, key: string, gate: ParkedGate, status: 'checkpoint' | 'failed', detail: string): number | undefined {
  const { [key]: _left, ...gates } = pass.now.gates;
  pass.set({ gates });
  const place = pass.ways.place.get(gate.nodeId);
  const spot = pass.spots[gate.nodeId];
  if (place === undefined || spot === undefined) return undefined;
  pass.cancels.push(`gate:${place}`, `answer:${place}`);
  pass.receipt(spot.row, { nodeId: gate.nodeId, gateId: gate.gateId, status, attempt: 1, round: spot.round, at: timeText(spot.at), settledAt: timeText(pass.at), detail: detail.slice(0, limits.errorCharsMax) });
  return place;
}
