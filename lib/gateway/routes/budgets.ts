import { z } from 'zod';
import { budgetOf, grant } from '../../commands/budgets.js';
import type { Records } from '../../records/records.js';
import { isRefusal, refuse } from '../../../machines/refusals.js';
import { budget } from '../org-shapes.js';
import { route, type Route } from '../route.js';
import { idempotencyKey, note } from '../shapes.js';

const grantBody = z.object({ usd: z.number().positive().max(1_000_000).describe('Dollars on top of the budget, for this month.'), note, idempotencyKey });

/** What employees cost, against what the roster allows them. */
export function budgetRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  const { roster } = records;
  return [
    route('GET', '/api/org/budgets', 'budget.read', { about: 'Spend and budget of every employee in this month (UTC), in roster order. Only engines that tell what a turn cost are counted.', answer: z.object({ budgets: z.array(budget) }) }, async ({ desk }) => ({
      body: { budgets: await Promise.all(roster.everybody().map(({ person }) => budgetOf(desk.supervisor, roster.value, person.name))) },
    })),
    route('GET', '/api/org/employees/:name/budget', 'budget.read', { about: 'Spend and budget of an employee in this month (UTC).', answer: budget, refusals: ['NOT_FOUND'] }, async ({ desk, params }) => {
      const name = params['name'] ?? '';
      return roster.named(name) ? { body: await budgetOf(desk.supervisor, roster.value, name) } : refuse('NOT_FOUND', { kind: 'employee', id: name }, 'Not found');
    }),
    route('POST', '/api/org/employees/:name/budget', 'budget.grant', {
      about: 'Grant more for this month. With budgets.enforce, turns that waited for money go on at once.', body: grantBody, answer: budget, plan: true, refusals: ['NOT_FOUND', 'PERSON_REQUIRED'],
    }, async ({ desk, params, body, asking }) => {
      const done = await grant(desk, records, params['name'] ?? '', body, asking);
      return isRefusal(done) ? done : { ...done, body: done.value };
    }),
  ];
}
