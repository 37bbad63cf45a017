import type { FilterRule } from '../../../machines/graph/conditions.js';
import { linearPatterns } from '../../../machines/graph/patterns.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * Filters of bindings. A path begins with `payload.`, or is `event` or `fireRef`; any other is read below the
 * payload: `repo.name` is `payload.repo.name`.
 */

/** What a filter is asked about. */
export interface Filtered {
  readonly event: string;
  readonly payload: unknown;
  readonly fireRef?: string | undefined;
}

/**
 * All rules hold. Members that the payload only inherits are not there.
 * @example passes([{ path: 'payload.branch', op: 'equals', value: 'main' }], { event, payload, fireRef })
 */
export const passes = (filter: readonly FilterRule[], occurrence: Filtered): boolean =>
  filter.every((rule) => holds(rule, occurrence));

function holds({ path, op, value }: FilterRule, occurrence: Filtered): boolean {
  const found = partsOf(path).reduce<unknown>(
    (at, member) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, member)
        ? (at as Record<string, unknown>)[member]
        : undefined,
    occurrence,
  );
  switch (op) {
    case 'exists':
      return found !== undefined;
    case 'equals':
      return found === value;
    case 'notEquals':
      return found !== value;
    case 'matches':
      return typeof found === 'string' && linearPatterns.test(String(value), found);
  }
}

const partsOf = (path: string): readonly string[] => {
  const parts = path.split('.');
  return roots.has(parts[0] ?? '') ? parts : ['payload', ...parts];
};

const roots: ReadonlySet<string> = new Set(['payload', 'event', 'fireRef']);

/** Why a filter cannot be stored: a pattern that is none, or a rule that no occurrence of `event` ever meets. */
export function fitFilter(filter: readonly FilterRule[], event: string): Refusal | undefined {
  for (const [at, rule] of filter.entries()) {
    const fault = patternFault(rule) ?? neverHolds(rule, event) ?? contradiction(rule, filter.slice(0, at));
    if (fault !== undefined)
      return refuse('BAD_REQUEST', { path: `filter.${at}.${fault.member}` }, fault.text);
  }
  return undefined;
}

interface FilterFault {
  readonly member: 'path' | 'value';
  readonly text: string;
}

function patternFault({ op, value }: FilterRule): FilterFault | undefined {
  if (op !== 'matches') return undefined;
  if (typeof value !== 'string') return { member: 'value', text: 'A pattern must be text.' };
  const fault = linearPatterns.fault(value);
  return fault === undefined ? undefined : { member: 'value', text: `Invalid pattern: ${fault}.` };
}

function neverHolds(rule: FilterRule, event: string): FilterFault | undefined {
  const { path, op, value } = rule;
  const [root = '', ...below] = partsOf(path);
  const never = (why: string): FilterFault => ({
    member: 'path',
    text: `The rule on "${path}" can never match: ${why}.`,
  });
  if (below.includes('')) return never('a part of the path is empty');
  if (root === 'payload')
    return below.length === 0 && op !== 'exists' && op !== 'notEquals'
      ? never('the payload itself is an object; write payload.<member>')
      : undefined;
  if (below.length > 0 && op !== 'notEquals')
    return never(`${root} is text without members; members of the payload are payload.${path}`);
  if (root === 'event')
    return holds(rule, { event, payload: {} }) ? undefined : never(`the event is "${event}"`);
  return op === 'equals' && typeof value !== 'string' ? never('fireRef is text') : undefined;
}

/** Two rules on one path of which the one denies the other. */
function contradiction(rule: FilterRule, before: readonly FilterRule[]): FilterFault | undefined {
  const place = partsOf(rule.path).join('.');
  const denies = (one: FilterRule, other: FilterRule): boolean =>
    one.op === 'equals' &&
    ((other.op === 'equals' && other.value !== one.value) ||
      (other.op === 'notEquals' && other.value === one.value));
  const other = before.find(
    (each) => partsOf(each.path).join('.') === place && (denies(each, rule) || denies(rule, each)),
  );
  return other === undefined
    ? undefined
    : { member: 'path', text: `Two rules on "${rule.path}" contradict each other: no event meets both.` };
}
