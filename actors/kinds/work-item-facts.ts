import { ownerOf, type WorkItemContext, type WorkItemFacts } from '../../machines/work-item/context.js';

/**
 * What a decision about a work item must know of the organisation: read from the roster that the supervisor has
 * learned (`supervisor.learn('roster', roster)`), just before the step, and logged with the event.
 */

/** The part of the roster that counts here. Employees in roster order. */
export interface Roster {
  readonly employees: readonly RosterEmployee[];
  /** The root employee where the configuration names one; else the first executive who reports to nobody. */
  readonly root?: string | null;
}

export interface RosterEmployee {
  readonly name: string;
  readonly rank: string;
  readonly department?: string | null;
  readonly reportsTo?: string | null;
}

/** Facts for one event. `roster` undefined: there is none, and the operator is the root. */
export function workItemFacts(context: WorkItemContext | undefined, event: { readonly type: string }, roster: unknown): WorkItemFacts {
  const asked = event as { readonly assignee?: unknown; readonly target?: unknown; readonly patch?: { assignee?: unknown }; readonly input?: { assignee?: unknown } };
  if (!isRoster(roster)) return { root: null, managers: [], executives: [], named: null };
  const owner = context === undefined ? null : ownerOf(context);
  const name = firstText(asked.assignee, asked.target, asked.patch?.assignee, asked.input?.assignee);
  return {
    root: rootOf(roster),
    managers: owner === null ? [] : managersOf(roster, owner),
    executives: roster.employees.filter(({ rank }) => rank === 'executive').map((executive) => executive.name),
    named: name === null ? null : named(roster, name),
  };
}

/** The one executive without a manager; of several, the configured one, else the first. */
export function rootOf(roster: Roster): string | null {
  const tops = roster.employees.filter(({ rank, reportsTo }) => rank === 'executive' && (reportsTo ?? null) === null);
  return tops.find(({ name }) => name === roster.root)?.name ?? tops[0]?.name ?? null;
}

/** Who stands above an employee, nearest first. A circle in the roster ends the chain. */
export function managersOf(roster: Roster, name: string): readonly string[] {
  const chain: string[] = [];
  let manager = managerOf(roster, name);
  while (manager !== null && manager !== name && !chain.includes(manager)) {
    chain.push(manager);
    manager = managerOf(roster, manager);
  }
  return chain;
}

function managerOf(roster: Roster, name: string): string | null {
  const manager = roster.employees.find((employee) => employee.name === name)?.reportsTo ?? null;
  return roster.employees.some((employee) => employee.name === manager) ? manager : null;
}

function named(roster: Roster, name: string): NonNullable<WorkItemFacts['named']> {
  const employee = roster.employees.find((candidate) => candidate.name === name);
  return { known: employee !== undefined, department: employee?.department ?? null, suggestion: employee ? null : nearest(roster.employees.map((candidate) => candidate.name), name) };
}

/** The name that differs least, if it differs by at most a third of its letters: "did you mean". */
function nearest(names: readonly string[], wanted: string): string | null {
  let best: string | null = null;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    const steps = distance(name.toLowerCase(), wanted.toLowerCase().slice(0, 64));
    if (steps < least) [best, least] = [name, steps];
  }
  return best;
}

/** Levenshtein's distance, row by row. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const firstText = (...values: readonly unknown[]): string | null => values.find((value): value is string => typeof value === 'string') ?? null;

const isRoster = (value: unknown): value is Roster =>
  typeof value === 'object' && value !== null && Array.isArray((value as { employees?: unknown }).employees) && (value as Roster).employees.length > 0;
