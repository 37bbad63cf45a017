import type { z } from 'zod';

/**
 * What is wrong with a value, in a sentence that a person can act on. The schema library's own words are replaced;
 * those that a schema was given are kept.
 * @example wordingOf(issue, 5) // 'must be text, not a number'
 */
export function wordingOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (!/^(?:Invalid|Too) /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type': return `must be ${kinds[issue.expected] ?? issue.expected}, not ${typeof value === 'number' && issue.expected === 'int' ? value : kindOf(value)}`;
    case 'invalid_value': return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small': return issue.minimum === 1 && sizes[issue.origin] !== undefined ? 'must not be empty' : `must ${has(issue.origin)}at least ${sized(issue.origin, issue.minimum)}`;
    case 'too_big': return `must ${has(issue.origin)}at most ${sized(issue.origin, issue.maximum)}`;
    case 'invalid_format': return issue.format === 'datetime' ? 'must be a time like 2026-01-31T09:00:00.000Z' : issue.message;
    default: return issue.message;
  }
}

const kinds: Readonly<Record<string, string>> = { string: 'text', number: 'a number', int: 'a whole number', boolean: 'true or false', object: 'an object', record: 'an object', array: 'a list', null: 'null' };
const sizes: Readonly<Record<string, string>> = { string: 'characters', array: 'elements', object: 'members' };

const has = (origin: string): string => (sizes[origin] === undefined ? 'be ' : 'have ');
const sized = (origin: string, limit: number | bigint): string => [limit, limit === 1 ? sizes[origin]?.slice(0, -1) : sizes[origin]].filter((part) => part !== undefined).join(' ');

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return kinds[typeof value] ?? 'that';
}
