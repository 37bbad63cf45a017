import { z } from 'zod';
import { editEmployee } from '../../commands/edit-employee.js';
import { boardBytesMax, readBoard, writeBoard } from '../../records/roster/board.js';
import type { Records } from '../../records/records.js';
import type { Member } from '../../records/roster/roster.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { employee, organisation, budget, idempotencyKey, note } from '../schemas.js';
import { route, type HttpRequest, type Route } from '../route.js';
import type { Reply } from '../../commands/request.js';
import { budgetOf, worldOf, grant } from '../../commands/budgets.js';

// looked at by the command itself, whole: a schema here would drop `__proto__` where it must be refused by
// name
const patchBody = z
  .unknown()
  .meta({ type: 'object' })
  .describe(
    'Any of displayName department rank engine model effortLevel persona reportsTo cliFlags ' +
      'alwaysNotify monthlyBudgetUsd allowedConnectors permissions; null removes a member from the ' +
      'file. Other members are refused.',
  );
const board = z.union([z.array(z.unknown()), z.looseObject({})]);

/** The organisation: everybody reads it, people change it. */
export function orgRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  const { roster } = records;
  return [
    route(
      'GET',
      '/api/org',
      'org.read',
      { about: 'Departments, employees and reporting lines.', answer: organisation },
      () => ({ body: overview(records) }),
    ),
    route(
      'GET',
      '/api/org/employees/:name',
      'org.read',
      { about: 'An employee with persona.', answer: employee, refusals: ['NOT_FOUND'] },
      (request) => {
        const member = roster.named(nameOf(request));
        return member
          ? { body: whole(member) }
          : refuse('NOT_FOUND', { kind: 'employee', id: nameOf(request) }, 'Not found');
      },
    ),
    route(
      'PATCH',
      '/api/org/employees/:name',
      'org.edit',
      {
        about: "Update an employee's file; its comments and order are kept.",
        body: patchBody,
        answer: z.object({ status: z.literal('ok'), employee }),
        refusals: [
          'NOT_FOUND',
          'CONFLICT',
          'UNKNOWN_EMPLOYEE',
          'UNKNOWN_ENGINE',
          'UNKNOWN_MODEL',
          'UNKNOWN_EFFORT',
        ],
      },
      async (request) => {
        const done = await editEmployee(request.app, records, nameOf(request), request.body);
        return isRefusal(done) ? done : { body: { status: 'ok', employee: whole(done) } };
      },
    ),
    route(
      'DELETE',
      '/api/org/employees/:name',
      'org.edit',
      {
        about:
          'Retire an employee. The file is kept, with its comments, in `org/.retired` of the home; moved back, ' +
          'it is in use again. Refused while others report to this one.',
        answer: z.object({ status: z.literal('ok'), file: z.string().describe('Below `org` of the home.') }),
        refusals: ['NOT_FOUND', 'CONFLICT'],
      },
      async (request) => {
        const done = await roster.retire(nameOf(request));
        return isRefusal(done) ? done : { body: { status: 'ok', file: done.file } };
      },
    ),
    route(
      'GET',
      '/api/org/departments/:name/board',
      'org.board.read',
      {
        about: 'The legacy board of a department. It does not contain work items.',
        answer: board,
        refusals: ['NOT_FOUND', 'CONFLICT'],
      },
      async (request) => {
        const refusal = unknownDepartment(request, records);
        const found = refusal ?? (await readBoard(records.folders.org, nameOf(request)));
        return isRefusal(found) ? found : { body: found };
      },
    ),
    route(
      'PUT',
      '/api/org/departments/:name/board',
      'org.board.write',
      {
        about: 'Replace the legacy board of a department.',
        body: board,
        bodyBytesMax: boardBytesMax,
        answer: z.object({ status: z.literal('ok') }),
        refusals: ['NOT_FOUND'],
      },
      async (request): Promise<Reply | Refusal> => {
        const refusal = unknownDepartment(request, records);
        if (refusal) return refusal;
        return (
          (await writeBoard(records.folders.org, nameOf(request), request.body as Json)) ?? {
            body: { status: 'ok' },
          }
        );
      },
    ),
  ];
}

const nameOf = (request: HttpRequest<unknown, unknown>): string => request.params['name'] ?? '';

const unknownDepartment = (
  request: HttpRequest<unknown, unknown>,
  { roster }: Records,
): Refusal | undefined =>
  roster.departments.some(({ name }) => name === nameOf(request))
    ? undefined
    : refuse('NOT_FOUND', { kind: 'department', id: nameOf(request) }, 'Not found');

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

const grantBody = z.object({
  usd: z.number().positive().max(1_000_000).describe('Dollars on top of the budget, for this month.'),
  note,
  idempotencyKey,
});

/** What employees cost, against what the roster allows them. */
export function budgetRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  const { roster } = records;
  return [
    route(
      'GET',
      '/api/org/budgets',
      'budget.read',
      {
        about:
          'Spend and budget of every employee in this month (of `portal.timeZone`), in roster order. Only engines ' +
          'that report the cost of a turn are counted.',
        answer: z.object({ budgets: z.array(budget) }),
      },
      async ({ app }) => ({
        body: {
          budgets: await Promise.all(
            roster
              .everybody()
              .map(({ person }) => budgetOf(app.supervisor, worldOf(app, { roster }), person.name)),
          ),
        },
      }),
    ),
    route(
      'GET',
      '/api/org/employees/:name/budget',
      'budget.read',
      {
        about: 'Spend and budget of an employee in this month (of `portal.timeZone`).',
        answer: budget,
        refusals: ['NOT_FOUND'],
      },
      async ({ app, params }) => {
        const name = params['name'] ?? '';
        return roster.named(name)
          ? { body: await budgetOf(app.supervisor, worldOf(app, { roster }), name) }
          : refuse('NOT_FOUND', { kind: 'employee', id: name }, 'Not found');
      },
    ),
    route(
      'POST',
      '/api/org/employees/:name/budget',
      'budget.grant',
      {
        about: 'Raise the budget for this month. With budgets.enforce, held turns continue at once.',
        body: grantBody,
        answer: budget,
        plan: true,
        refusals: ['NOT_FOUND', 'PERSON_REQUIRED'],
      },
      async (request) => {
        const done = await grant(request, records, request.params['name'] ?? '', request.body);
        return isRefusal(done) ? done : { ...done, body: done.body };
      },
    ),
  ];
}
