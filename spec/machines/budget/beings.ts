import type { SnapshotFrom } from 'xstate';
import { budgetMachine, budgetPolicy, type BudgetEvent } from '../../../machines/budget/machine.js';
import { authorityOf, system } from '../../../machines/caller.js';
import { Life } from '../step.js';

/** Ann's account, opened in the middle of November, and what is told to it. */

export const fresh = (): Life<typeof budgetMachine> =>
  new Life(
    budgetMachine,
    { id: 'ann' },
    (_snapshot: SnapshotFrom<typeof budgetMachine>, event: BudgetEvent) =>
      budgetPolicy(event, authorityOf(event)),
    Date.UTC(2026, 10, 15),
  );
export const spend = (costUsd: number, limitUsd: number | null = 10) => ({
  type: 'spend.noted',
  costUsd,
  by: system('turns'),
  facts: { limitUsd },
});
export const grant = (usd: number, limitUsd: number | null = 10) => ({
  type: 'budget.granted',
  usd,
  facts: { limitUsd },
});
