import type { App } from './app.js';
import { parsePatch, type EmployeePatch } from '../records/roster/edit-employee.js';
import type { Member } from '../records/roster/roster.js';
import type { Records } from '../records/records.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * Change an employee: what the body says must be known members of the right kind, name an engine, model and
 * effort that go together, and leave a company without circles; then the file is rewritten and everybody is
 * told.
 * @example await editEmployee(request, records, 'ann', {displayName: 'Ann'})
 */
export async function editEmployee(
  app: App,
  records: Records,
  name: string,
  body: unknown,
): Promise<Member | Refusal> {
  const before = records.roster.named(name);
  if (!before)
    return refuse('NOT_FOUND', { kind: 'employee', id: name }, `Unknown employee ${JSON.stringify(name)}.`);
  const patch = parsePatch(body);
  if (isRefusal(patch)) return patch;
  const refusal = await judgeSelection(app, before, patch);
  return refusal ?? records.roster.patch(name, patch);
}

/** An engine that is known but not installed may be chosen: it may come. */
async function judgeSelection(
  app: App,
  { person }: Member,
  patch: EmployeePatch,
): Promise<Refusal | undefined> {
  if (patch.engine === undefined && patch.model === undefined && patch.effortLevel === undefined)
    return undefined;
  const engine = patch.engine === undefined ? person.engine : patch.engine;
  const model = patch.model === undefined ? person.model : patch.model;
  const effort = patch.effortLevel === undefined ? person.effortLevel : patch.effortLevel;
  const selected = await app.engines.select(engine, model, effort);
  return isRefusal(selected) ? selected : undefined;
}
