import { stat } from 'node:fs/promises';
import { Scalar, type Document } from 'yaml';
import * as z from 'zod';
import { contentHash, readPlainFile, writeAtomically } from '../../home/atomic-file.js';
import { HomeError } from '../../home/home-error.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { judged } from '../judged.js';
import { parsePlainYaml } from '../plain-yaml.js';
import { editable, personOf, type Person } from './employee.js';
import { onCircles } from './hierarchy.js';
import { employeeBytesMax } from './read-roster.js';

/** What may be changed about an employee; every member optional, at least one given. */
export const employeePatch = z.strictObject(editable).partial();
export type EmployeePatch = z.output<typeof employeePatch>;

/** The patch, or BAD_REQUEST that names the member: unknown, immutable, or of the wrong kind. */
export function parsePatch(body: unknown): EmployeePatch | Refusal {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refuse('BAD_REQUEST', {}, 'The body must be an object.');
  const members = Object.keys(body);
  if (members.includes('name'))
    return refuse('BAD_REQUEST', { path: 'name' }, "field 'name' is immutable and cannot be changed");
  const unknown = members.filter((member) => !Object.hasOwn(editable, member));
  if (unknown.length > 0)
    return refuse(
      'BAD_REQUEST',
      { path: unknown[0] },
      `unknown field(s): ${unknown.slice(0, 20).join(', ')}`,
    );
  if (members.length === 0) return refuse('BAD_REQUEST', {}, 'no recognized fields to update');
  const checked = judged(employeePatch, body);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const path = issue?.path.join('.') ?? '';
  return refuse(
    'BAD_REQUEST',
    { path },
    issue?.message.startsWith('invalid ') ? issue.message : `${path}: ${issue?.message ?? 'cannot be used'}`,
  );
}

/**
 * Would the company still stand? A manager must exist, be someone else, and not stand beneath; the
 * department must exist.
 */
export function judgePatch(
  name: string,
  patch: EmployeePatch,
  people: readonly Person[],
  departments: readonly string[],
): Refusal | undefined {
  const wrong = (path: string, sentence: string) => refuse('BAD_REQUEST', { path }, sentence);
  if (patch.department !== undefined && !departments.includes(patch.department)) {
    return wrong(
      'department',
      `unknown department ${JSON.stringify(patch.department)}: there are ${departments.slice(0, 50).join(', ')}`,
    );
  }
  const managers = typeof patch.reportsTo === 'string' ? [patch.reportsTo] : (patch.reportsTo ?? []);
  for (const manager of managers) {
    if (manager === name) return wrong('reportsTo', `${name} cannot report to itself`);
    if (!people.some((person) => person.name === manager))
      return refuse(
        'UNKNOWN_EMPLOYEE',
        { path: 'reportsTo', employee: manager },
        `unknown manager ${JSON.stringify(manager)}`,
      );
  }
  if (patch.reportsTo === undefined) return undefined;
  const lines = new Map<string, string>();
  for (const person of people) {
    const above = person.name === name ? managers[0] : person.reportsTo[0];
    if (above !== undefined) lines.set(person.name, above);
  }
  return onCircles(lines).includes(name)
    ? wrong('reportsTo', `${name} cannot report to ${managers[0]}, who is below ${name}`)
    : undefined;
}

/**
 * Rewrite the file: comments, order and everything that is not changed stay. CONFLICT when someone edits it
 * at the same time.
 */
export async function rewriteEmployee(
  path: string,
  patch: EmployeePatch,
  fallback: { readonly name: string; readonly department: string },
): Promise<true | Refusal> {
  const bytes = await readPlainFile(path, employeeBytesMax);
  if (bytes === undefined) return refuse('NOT_FOUND', { kind: 'employee', id: fallback.name });
  const parsed = parsePlainYaml(bytes.toString('utf8'), employeeBytesMax);
  if ('fault' in parsed)
    return refuse(
      'CONFLICT',
      {},
      `The file of ${fallback.name} was changed and is now unusable: ${parsed.fault}.`,
    );
  for (const [member, value] of Object.entries(patch)) put(parsed.document, member, value);
  const text = parsed.document.toString({ lineWidth: 0 });
  const again = parsePlainYaml(text, employeeBytesMax);
  const person = 'fault' in again ? again : personOf(again.value, fallback);
  if ('fault' in person)
    return refuse('BAD_REQUEST', {}, `The change would make the file unusable: ${person.fault}.`);
  try {
    const { mode } = await stat(path);
    await writeAtomically(path, text, { mode: mode & 0o777, unlessChangedFrom: contentHash(bytes) });
    return true;
  } catch (error) {
    if (error instanceof HomeError && error.code === 'CHANGED_MEANWHILE')
      return refuse(
        'CONFLICT',
        {},
        `The file of ${fallback.name} has changed since it was read. Read it again.`,
      );
    throw error;
  }
}

/** A value in its old place, with the comment beside it. */
function put(document: Document, member: string, value: unknown): void {
  if (value === undefined) return;
  if (value === null) {
    document.delete(member);
    return;
  }
  const old = document.get(member, true);
  const fresh = document.createNode(value);
  if (old instanceof Scalar && fresh instanceof Scalar) {
    const same = typeof old.value === typeof fresh.value;
    old.value = fresh.value as unknown;
    if (!same) delete old.type;
    return;
  }
  if (old !== undefined)
    carryComments(old as { comment?: string | null; commentBefore?: string | null }, fresh);
  document.set(member, fresh);
}

function carryComments(
  from: { comment?: string | null; commentBefore?: string | null },
  to: { comment?: string | null; commentBefore?: string | null },
): void {
  if (from.comment) to.comment = from.comment;
  if (from.commentBefore) to.commentBefore = from.commentBefore;
}
