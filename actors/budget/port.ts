/**
 * Who pays for a turn: the port through which the hand of a turn asks before it begins and tells what it
 * cost. Absent, nobody keeps accounts.
 */
export interface BudgetPort {
  /** Why this employee's turn may not begin now, and when to ask again (epoch ms); undefined: it may. */
  admits(employee: string): Promise<{ readonly reason: string; readonly resetAt: number } | undefined>;
  /** Once per turn, whoever asks again. */
  spent(employee: string, turnId: string, costUsd: number): Promise<void>;
}
