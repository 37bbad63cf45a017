import type { Person } from './employee.js';
import type { Positions } from './hierarchy.js';

/**
 * The roster as decisions see it: an immutable value with a revision, learned by the supervisor under the
 * name `roster` and read by the facts of work items and connectors. `reportsTo` holds sound references only.
 */
export interface RosterValue {
  readonly revision: number;
  /** As configured; else the one that the hierarchy found. */
  readonly root: string | null;
  /** In roster order. */
  readonly employees: readonly RosterEmployee[];
}

export interface RosterEmployee {
  readonly name: string;
  readonly displayName: string;
  readonly department: string;
  readonly rank: string;
  readonly reportsTo: string | null;
  readonly engine?: string;
  readonly model?: string;
  readonly effortLevel?: string;
  /** Connectors through which this employee's sessions may send. */
  readonly connectors: readonly string[];
  /** What waits on this employee, or on a person because of it, is sent to people at once. */
  readonly alwaysNotify: boolean;
  readonly permissions: Person['permissions'];
  readonly monthlyBudgetUsd?: number;
  readonly cwd?: string;
  readonly worktree?: boolean;
  readonly worker?: NonNullable<Person['worker']>;
  readonly sandbox?: Person['sandbox'];
  readonly tools?: NonNullable<Person['tools']>;
}

/** Where there is no one, no name is anybody's, and the operator is the root. */
export function rosterValue(people: readonly Person[], positions: Positions, revision: number): RosterValue {
  const employees = people.map((person): RosterEmployee =>
    Object.freeze({
      name: person.name,
      displayName: person.displayName,
      department: person.department,
      rank: person.rank,
      reportsTo: positions.managers.get(person.name) ?? null,
      connectors: person.allowedConnectors,
      alwaysNotify: person.alwaysNotify,
      permissions: person.permissions,
      ...(person.engine !== undefined && { engine: person.engine }),
      ...(person.model !== undefined && { model: person.model }),
      ...(person.effortLevel !== undefined && { effortLevel: person.effortLevel }),
      ...(person.cwd !== undefined && { cwd: person.cwd }),
      ...(person.worktree !== undefined && { worktree: person.worktree }),
      ...(person.worker !== undefined && { worker: person.worker }),
      ...(person.sandbox !== undefined && { sandbox: person.sandbox }),
      ...(person.tools !== undefined && { tools: person.tools }),
      ...(person.monthlyBudgetUsd !== undefined && { monthlyBudgetUsd: person.monthlyBudgetUsd }),
    }),
  );
  return Object.freeze({ revision, root: positions.hierarchy.root, employees: Object.freeze(employees) });
}
