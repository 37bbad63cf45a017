import { budgetMachine, budgetPolicy, monthOf, type Band } from '../../machines/budget/machine.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';

/**
 * The account of an employee as a kind; the id is the employee's name. The budget is a fact of the roster.
 */
export function budgetKind() {
  return defineKind({
    kind: 'budget',
    version: 3,
    migrate: {
      /** Its chart says when, and no longer who; states and context are the same. */
      1: (old) => old,
      /** Its months may begin in another zone than UTC, from the next event on. */
      2: (old) => old,
    },
    machine: budgetMachine,
    policy: (_snapshot, event, authority) => budgetPolicy(event, authority),
    facts: (snapshot, _event, world) => ({
      limitUsd: snapshot === undefined ? null : limitOf(world['roster'], snapshot.context.id),
      ...(typeof world['timeZone'] === 'string' && { timeZone: world['timeZone'] }),
    }),
    view: ({ value, context }) => ({ ...context, state: value as Band }),
    index: ({ context }) => [{ index: 'all', key: context.id }],
    // Once it is exceeded no turn begins, so that the last cost is what exceeded it.
    waitingFor: ({ value, context }, { updatedAt }) =>
      value !== 'exceeded'
        ? []
        : [
            {
              id: 'budget',
              what: 'budget',
              title:
                `${context.id}: $${context.spentUsd.toFixed(2)} of ` +
                `$${((context.limitUsd ?? 0) + context.grantedUsd).toFixed(2)} spent in ${context.month}`,
              on: 'operator',
              since: updatedAt,
              until: monthOf(updatedAt, context.timeZone).endsAt,
            },
          ],
    panels: ({ context: { month, spentUsd, limitUsd, grantedUsd, turns } }) => [
      {
        type: 'bars',
        title: `Spent in ${month}`,
        unit: 'dollars',
        bars: [
          {
            label: `${turns} turns`,
            value: spentUsd,
            of: limitUsd === null ? undefined : limitUsd + grantedUsd,
          },
        ],
      },
    ],
    indexVersion: 1,
    keptInBundles: ['id', 'month', 'timeZone'],
    validateContext: checkShape({
      id: 'string',
      month: 'string',
      spentUsd: 'number',
      turns: 'number',
      grantedUsd: 'number',
      limitUsd: 'number?',
    }),
  });
}

/** What the roster allows an employee a month; null where it says nothing. */
export function limitOf(roster: unknown, name: string): number | null {
  const { employees = [] } = (roster ?? {}) as {
    readonly employees?: readonly { readonly name: string; readonly monthlyBudgetUsd?: number }[];
  };
  return employees.find((employee) => employee.name === name)?.monthlyBudgetUsd ?? null;
}

/**
 * Who pays for a turn: the port through which the effect of a turn asks before it begins and tells what it
 * cost. Absent, no one keeps accounts.
 */
export interface BudgetPort {
  /** Why this employee's turn may not begin now, and when to ask again (epoch ms); undefined: it may. */
  admits(employee: string): Promise<{ readonly reason: string; readonly resetAt: number } | undefined>;
  /** Once per turn, no matter who asks again. */
  spent(employee: string, turnId: string, costUsd: number): Promise<void>;
}
