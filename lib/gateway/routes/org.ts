import { z } from 'zod';
import { editEmployee } from '../../commands/edit-employee.js';
import { boardBytesMax, readBoard, writeBoard } from '../../records/roster/board.js';
import type { Records } from '../../records/records.js';
import type { Member } from '../../records/roster/roster.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { employee, organisation } from '../org-shapes.js';
import { route, type Call, type Reply, type Route } from '../route.js';

// looked at by the command itself, whole: a schema here would drop `__proto__` where it must be refused by name
const patchBody = z.unknown().meta({ type: 'object' }).describe('Any of displayName department rank engine model effortLevel persona reportsTo cliFlags alwaysNotify monthlyBudgetUsd allowedConnectors permissions; null takes a member out of the file. Anything else is refused.');
const board = z.union([z.array(z.unknown()), z.looseObject({})]);

/** The organisation: everybody reads it, people change it. */
export function orgRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  const { roster } = records;
  return [
    route('GET', '/api/org', 'org.read', { about: 'Departments, employees and who stands above whom.', answer: organisation }, () => ({ body: overview(records) })),
    route('GET', '/api/org/employees/:name', 'org.read', { about: 'An employee with persona.', answer: employee, refusals: ['NOT_FOUND'] }, (call) => {
      const member = roster.named(nameOf(call));
      return member ? { body: whole(member) } : refuse('NOT_FOUND', { kind: 'employee', id: nameOf(call) }, 'Not found');
    }),
    route('PATCH', '/api/org/employees/:name', 'org.edit', {
      about: 'Change an employee\'s file; comments and order in it stay.', body: patchBody,
      answer: z.object({ status: z.literal('ok'), employee }), refusals: ['NOT_FOUND', 'CONFLICT', 'UNKNOWN_EMPLOYEE', 'UNKNOWN_ENGINE', 'UNKNOWN_MODEL', 'UNKNOWN_EFFORT'],
    }, async (call) => {
      const done = await editEmployee(call.desk, records, nameOf(call), call.body);
      return isRefusal(done) ? done : { body: { status: 'ok', employee: whole(done) } };
    }),
    route('GET', '/api/org/departments/:name/board', 'org.board.read', { about: 'The legacy board of a department. Work items are elsewhere.', answer: board, refusals: ['NOT_FOUND', 'CONFLICT'] }, async (call) => {
      const refusal = unknownDepartment(call, records);
      const found = refusal ?? await readBoard(records.folders.org, nameOf(call));
      return isRefusal(found) ? found : { body: found };
    }),
    route('PUT', '/api/org/departments/:name/board', 'org.board.write', { about: 'Replace the legacy board of a department.', body: board, bodyBytesMax: boardBytesMax, answer: z.object({ status: z.literal('ok') }), refusals: ['NOT_FOUND'] }, async (call): Promise<Reply | Refusal> => {
      const refusal = unknownDepartment(call, records);
      if (refusal) return refusal;
      return await writeBoard(records.folders.org, nameOf(call), call.body as Json) ?? { body: { status: 'ok' } };
    }),
  ];
}

const nameOf = (call: Call<unknown, unknown>): string => call.params['name'] ?? '';

const unknownDepartment = (call: Call<unknown, unknown>, { roster }: Records): Refusal | undefined =>
  roster.departments.some(({ name }) => name === nameOf(call)) ? undefined : refuse('NOT_FOUND', { kind: 'department', id: nameOf(call) }, 'Not found');

function overview({ roster }: Records) {
  const { departments, hierarchy, setAside } = roster;
  return {
    departments: departments.map(({ name }) => name),
    departmentDetails: departments,
    employees: roster.everybody().map(row),
    hierarchy,
    setAside,
  };
}

const row = (member: Member) => ({ ...shared(member), role: roleOf(member.person.persona) });
const whole = (member: Member) => ({ ...shared(member), persona: member.person.persona });

function shared({ person, place }: Member) {
  const { persona: _persona, reportsTo, ...rest } = person;
  return {
    ...rest,
    engine: person.engine ?? null,
    model: person.model ?? null,
    ...(reportsTo.length > 0 && { reportsTo: reportsTo.length === 1 ? reportsTo[0] : reportsTo }),
    ...place,
  };
}

/** The first sentence, or its beginning. */
function roleOf(persona: string): string {
  const line = persona.trim().split('\n', 1)[0]?.trim() ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
