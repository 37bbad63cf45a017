import type { Json } from '../../../machines/outputs.js';
import type { Receipt, Run } from './parts/run-record.js';

/** What one run did at a node, where it came so far. */
export interface Side {
  readonly status: string;
  readonly attempt: number;
  readonly round: number;
  /** Null while it works, and where it never began. */
  readonly durationMs: number | null;
  /** What it was given, and what came of it. */
  readonly given: Json;
  readonly outcome: Json;
}

/** A node of either run, and in what the two differ there. */
export interface ComparedNode {
  readonly nodeId: string;
  readonly label: string;
  readonly left: Side | undefined;
  readonly right: Side | undefined;
  readonly given: readonly Difference[];
  readonly outcome: readonly Difference[];
  readonly differs: boolean;
}

/** A member that two values have not alike: `{ path: 'fields.sum', left: 3, right: 4 }`; undefined: it is not there. */
export interface Difference {
  readonly path: string;
  readonly left: Json | undefined;
  readonly right: Json | undefined;
}

/** Two runs node by node, in the order of the first; nodes that only the other has come last. */
export function compareRuns(left: Run, right: Run): readonly ComparedNode[] {
  const others = new Map(right.steps.map((step) => [step.nodeId, step]));
  const own = new Set(left.steps.map(({ nodeId }) => nodeId));
  return [
    ...left.steps.map((step) => compared(step, others.get(step.nodeId))),
    ...right.steps.filter(({ nodeId }) => !own.has(nodeId)).map((step) => compared(undefined, step)),
  ];
}

function compared(left: Receipt | undefined, right: Receipt | undefined): ComparedNode {
  const sides = { left: left && sideOf(left), right: right && sideOf(right) };
  const given = differences(sides.left?.given ?? null, sides.right?.given ?? null);
  const outcome = differences(sides.left?.outcome ?? null, sides.right?.outcome ?? null);
  return {
    nodeId: (left ?? right)?.nodeId ?? '',
    label: (left ?? right)?.label ?? '',
    ...sides,
    given,
    outcome,
    differs:
      given.length + outcome.length > 0 ||
      sides.left?.status !== sides.right?.status ||
      sides.left?.attempt !== sides.right?.attempt ||
      sides.left?.round !== sides.right?.round,
  };
}

function sideOf({ status, attempt, round, ...receipt }: Receipt): Side {
  const begun = timeOf(receipt['dispatchedAt'] ?? receipt['at']);
  const settled = timeOf(receipt['settledAt']);
  return {
    status,
    attempt,
    round: round ?? 1,
    durationMs: begun === undefined || settled === undefined ? null : Math.max(0, settled - begun),
    given: (receipt['input'] as Json | undefined) ?? null,
    outcome: withoutWorker((receipt['outcome'] as Json | undefined) ?? null),
  };
}

const timeOf = (value: unknown): number | undefined =>
  typeof value === 'string' ? Date.parse(value) : undefined;

/** Every run has sessions of its own: that they are others is no difference. */
function withoutWorker(outcome: Json): Json {
  if (!isObject(outcome)) return outcome;
  const { sessionId: _sessionId, runId: _runId, ...rest } = outcome;
  return rest;
}

/** Where two values differ, member by member, at most a hundred. Lists are compared by place. */
export function differences(left: Json, right: Json): readonly Difference[] {
  const found: Difference[] = [];
  walk(left, right, '', found);
  return found;
}

function walk(left: Json | undefined, right: Json | undefined, path: string, found: Difference[]): void {
  if (found.length >= differencesMax || left === right) return;
  const bothLists = Array.isArray(left) && Array.isArray(right);
  if (!bothLists && !(isObject(left) && isObject(right))) {
    found.push({ path: path === '' ? 'all' : path, left, right });
    return;
  }
  const before = left as Readonly<Record<string, Json>>;
  const after = right as Readonly<Record<string, Json>>;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    walk(before[name], after[name], path === '' ? name : `${path}.${name}`, found);
}

const isObject = (value: Json | undefined): value is { readonly [member: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const differencesMax = 100;
