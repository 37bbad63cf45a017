import {
  isSessionActor,
  type Gate,
  type StepActor,
  type StepNode,
  type WorkflowDefinition,
  type WorkflowNode,
} from '../graph/definition.js';
import type { GateRules, RunEdge, RunGraph, RunNode, StepRules } from './graph.js';

/**
 * `compile(definition)`: what a run of this version carries with it. The definition must be in its normal
 * form.
 */
export function compile(definition: WorkflowDefinition): RunGraph {
  const place = new Map(definition.nodes.map(({ id }, at) => [id, at]));
  const at = (id: string): number => place.get(id) ?? -1;
  return {
    nodes: definition.nodes.map((node) => nodeOf(node, definition)),
    edges: definition.edges.map((edge): RunEdge => ({
      id: edge.id,
      from: at(edge.from),
      to: at(edge.to),
      ...(edge.kind === 'loop'
        ? { lane: 'loop' as const, roundsMax: edge.maxRounds ?? definition.loop?.maxRoundsPerRun ?? 1 }
        : edge.lane === 'error'
          ? { lane: 'error' as const }
          : {}),
      ...(edge.when.length > 0 ? { when: edge.when } : {}),
    })),
    stopWhen: definition.loop?.stopWhen ?? [],
  };
}

function nodeOf(node: WorkflowNode, { runGates }: WorkflowDefinition): RunNode {
  const { id } = node;
  switch (node.type) {
    case 'trigger':
      return { id, kind: 'trigger', gates: runGates.map(gateOf) };
    case 'step':
      return { id, kind: 'step', rules: rulesOf(node) };
    case 'gate':
      return { id, kind: 'gate', gates: [gateOf(node.gate)] };
    case 'switch':
      return { id, kind: 'switch', all: node.switchMode === 'allMatches' };
    case 'wait':
      return {
        id,
        kind: 'wait',
        ...(node.waitUntil === null
          ? { delayMs: (node.waitMinutes ?? 0) * 60_000 }
          : { until: Date.parse(node.waitUntil) }),
      };
    case 'merge':
      return { id, kind: 'merge', any: node.mode === 'any' };
    case 'fail':
      return { id, kind: 'fail', message: node.failMessage };
    case 'end':
      return { id, kind: 'end' };
  }
}

function rulesOf({ actor, options, optional, gates }: StepNode): StepRules {
  const by = guaranteeOf(actor);
  return {
    by,
    gates: gates.map(gateOf),
    attempts: options.retry.maxAttempts,
    delayMs: options.retry.delayMs,
    onError: options.onError,
    timeoutMs: options.timeoutMs,
    optional,
    // a fenced action that was interrupted may have been done: another attempt would do it twice
    on: options.retry.on.filter((reason) => by !== 'fenced' || reason !== 'interrupted'),
  };
}

/** Only a request that changes something at a far side that knows no key of ours must not be repeated. */
function guaranteeOf(actor: StepActor): StepRules['by'] {
  if (isSessionActor(actor)) return 'keyed';
  if (actor.kind === 'noop') return 'inline';
  return actor.kind === 'http' && actor.method !== 'GET' ? 'fenced' : 'keyed';
}

const gateOf = (gate: Gate): GateRules => ({
  id: gate.id,
  kind: gate.kind,
  wants: gate.kind === 'artifact' ? gate.glob : gate.kind === 'flag' ? gate.flag : null,
  approver: gate.kind === 'approval' ? gate.approvalRef : null,
  asks: gate.description.slice(0, 200),
  timeoutMs: gate.timeoutMs,
});
