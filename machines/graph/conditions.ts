import type { Json } from '../outputs.js';
import { parsePath, readPath, type Path, type Scope } from './paths.js';

/**
 * Conditions: a path, an operator out of a closed list, a scalar. No expression is ever evaluated, and
 * deciding one takes time linear in the value that it looks at. Patterns (`matches`) are handed to a port,
 * which must be linear, too.
 */
export interface Condition {
  /** What is looked at: `steps.<id>.status`, `input.<key>`, `trigger.payload.<key>` … */
  readonly path: string;
  /** How it is compared with `value`. */
  readonly op: ConditionOperator;
  /** Absent with `exists` and `absent`. */
  readonly value?: Scalar;
}
export type Scalar = string | number | boolean | null;
export type ConditionOperator = (typeof conditionOperators)[number];

export const conditionOperators = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'startsWith',
  'matches',
  'exists',
  'absent',
] as const;

/** A regular expression engine that takes linear time: `fault` says what is wrong with a pattern. */
export interface Patterns {
  /** Why the pattern cannot be used; undefined: it can. */
  fault(pattern: string): string | undefined;
  /** Whether the text matches, in time linear in its length. */
  test(pattern: string, text: string): boolean;
}

export const conditionLimits = { valueCharsMax: 2_000, patternCharsMax: 512 } as const;

export interface ConditionFault {
  readonly code: ConditionFaultCode;
  readonly message: string;
}
export type ConditionFaultCode =
  | 'bad-condition'
  | 'bad-condition-path'
  | 'bad-condition-operator'
  | 'bad-condition-value'
  | 'unknown-condition-step';

/**
 * What makes of anything a condition: `{condition, path}`, or every fault in it. Never throws. `isNode` says whether
 * a step of that id exists (default: any), `patterns` what `matches` asks (default: an engine of linear time).
 * @example const { faults } = parseCondition({ path: 'input.size', op: 'gt', value: 3 }); // undefined: none
 */
export function parseCondition(
  value: unknown,
  options: { readonly isNode?: (id: string) => boolean; readonly patterns?: Patterns } = {},
):
  | { readonly condition: Condition; readonly path: Path; readonly faults?: undefined }
  | { readonly faults: readonly ConditionFault[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { faults: [fault('bad-condition', 'a condition is an object {path, op, value}')] };
  const { path: written, op, value: wanted, ...others } = value as Readonly<Record<string, unknown>>;
  const faults: ConditionFault[] = Object.keys(others)
    .slice(0, 4)
    .map((name) => fault('bad-condition', `a condition has no member "${name.slice(0, 64)}"`));
  const path = typeof written === 'string' ? parsePath(written, options.isNode) : undefined;
  if (path === undefined)
    faults.push(
      fault(
        'bad-condition-path',
        `"${String(typeof written === 'string' ? written : typeof written).slice(0, 128)}" is not a ` +
          'path: write steps.<id>.status, steps.<id>.outcome.fields.<key>, run.rounds, ' +
          'trigger.payload.<key> or input.<key>',
      ),
    );
  else if (path.root === 'steps' && options.isNode !== undefined && !options.isNode(path.nodeId))
    faults.push(
      fault(
        'unknown-condition-step',
        `the path ${written as string} names the node "${path.nodeId}", which does not exist`,
      ),
    );
  const operator = conditionOperators.find((known) => known === op);
  if (operator === undefined)
    faults.push(
      fault(
        'bad-condition-operator',
        `"${typeof op === 'string' ? op.slice(0, 64) : typeof op}" is not an operator: ` +
          `${conditionOperators.join(', ')}`,
      ),
    );
  else faults.push(...valueFaults(operator, wanted, options.patterns));
  if (faults.length > 0 || path === undefined || operator === undefined) return { faults };
  return {
    path,
    condition: {
      path: written as string,
      op: operator,
      ...(wanted === undefined ? {} : { value: wanted as Scalar }),
    },
  };
}

function valueFaults(
  op: ConditionOperator,
  value: unknown,
  patterns: Patterns | undefined,
): readonly ConditionFault[] {
  const bad = (message: string): readonly ConditionFault[] => [fault('bad-condition-value', message)];
  if (op === 'exists' || op === 'absent') return value === undefined ? [] : bad(`${op} takes no value`);
  if (!isScalar(value)) return bad(`${op} needs a value: a string, a number, true, false or null`);
  if (typeof value === 'string' && value.length > conditionLimits.valueCharsMax)
    return bad(`the value is longer than ${conditionLimits.valueCharsMax} characters`);
  if (orders.has(op) && typeof value !== 'number' && typeof value !== 'string')
    return bad(`${op} compares numbers or texts`);
  if ((op === 'startsWith' || op === 'matches') && typeof value !== 'string')
    return bad(`${op} needs a text`);
  if (op !== 'matches') return [];
  if (patterns === undefined) return bad('matches is not available here');
  if ((value as string).length > conditionLimits.patternCharsMax)
    return bad(`the pattern is longer than ${conditionLimits.patternCharsMax} characters`);
  const wrong = patterns.fault(value as string);
  return wrong === undefined ? [] : bad(`the pattern cannot be used: ${wrong.slice(0, 200)}`);
}

const orders: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte']);
const isScalar = (value: unknown): value is Scalar =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));
const fault = (code: ConditionFaultCode, message: string): ConditionFault => ({ code, message });

/**
 * All of them hold. No conditions: true. Never throws: what cannot be compared does not hold.
 * @example
 *   const isLarge = (scope: Parameters<typeof holds>[1]) =>
 *     holds([{ path: 'input.size', op: 'gt', value: 3 }], scope);
 */
export function holds(conditions: readonly Condition[], scope: Scope, patterns?: Patterns): boolean {
  return conditions.every((condition) => {
    const path = parsePath(condition.path, (id) => Object.hasOwn(scope.steps, id));
    return path !== undefined && compare(condition.op, readPath(path, scope), condition.value, patterns);
  });
}

/**
 * One operator on two values: `compare('gt', 3, 2)`. Values of different kinds are never equal and never in
 * order.
 */
export function compare(
  op: ConditionOperator,
  found: Json | undefined,
  wanted: Scalar | undefined,
  patterns?: Patterns,
): boolean {
  switch (op) {
    case 'exists':
      return found !== undefined && found !== null;
    case 'absent':
      return found === undefined || found === null;
    case 'eq':
      return found === wanted || (found === undefined && wanted === null);
    case 'ne':
      return !compare('eq', found, wanted);
    case 'gt':
      return inOrder(found, wanted) && (found as number) > (wanted as number);
    case 'gte':
      return inOrder(found, wanted) && (found as number) >= (wanted as number);
    case 'lt':
      return inOrder(found, wanted) && (found as number) < (wanted as number);
    case 'lte':
      return inOrder(found, wanted) && (found as number) <= (wanted as number);
    case 'contains':
      return typeof found === 'string'
        ? typeof wanted === 'string' && found.includes(wanted)
        : Array.isArray(found) && found.some((item) => item === wanted);
    case 'startsWith':
      return typeof found === 'string' && typeof wanted === 'string' && found.startsWith(wanted);
    case 'matches':
      return (
        typeof found === 'string' &&
        typeof wanted === 'string' &&
        patterns !== undefined &&
        patterns.test(wanted, found)
      );
  }
}

/** Two numbers, or two texts. */
const inOrder = (found: Json | undefined, wanted: Scalar | undefined): boolean =>
  (typeof found === 'number' && typeof wanted === 'number') ||
  (typeof found === 'string' && typeof wanted === 'string');

/**
 * What an event must look like for a binding to start its workflow. `path`: members, with dots between them;
 * `payload.…`, `event` or `fireRef`, any other is read below the payload.
 */
export type FilterRule = {
  readonly path: string;
  readonly op: 'equals' | 'notEquals' | 'exists' | 'matches';
  readonly value: string | number | boolean | null;
};

/** A rule of before paths had roots, when all of them were read below the payload. */
export const belowPayload = (rule: FilterRule): FilterRule =>
  /^(?:payload|event|fireRef)(?:\.|$)/.test(rule.path) ? { ...rule, path: `payload.${rule.path}` } : rule;
