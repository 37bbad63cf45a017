import { nearest } from '../../machines/text.js';
import type { WorkItemContext, WorkItemFacts } from '../../machines/work-item/context.js';
import { ownerOf } from '../../machines/work-item/authority.js';

/**
 * What a decision about a work item must know of the organisation: read from the roster that the supervisor
 * has learned (`supervisor.setFact('roster', roster)`), just before the step, and logged with the event.
 */

/** The part of the roster that counts here. Employees in roster order. */
export interface Roster {
  readonly employees: readonly RosterEmployee[];
  /** The root employee where the configuration names one; else the first executive without a manager. */
  readonly root?: string | null;
}

export interface RosterEmployee {
  readonly name: string;
  readonly rank: string;
  readonly department?: string | null;
  readonly reportsTo?: string | null;
}

/** Facts for one event. `known` undefined: there is none, and the operator is the root. */
export function workItemFacts(
  context: WorkItemContext | undefined,
  event: { readonly type: string },
  known: unknown,
): WorkItemFacts {
  const asked = event as {
    readonly assignee?: unknown;
    readonly target?: unknown;
    readonly patch?: { assignee?: unknown; verifyPolicy?: unknown };
    readonly input?: { assignee?: unknown; verifyPolicy?: unknown };
  };
  const roster = rosterOf(known);
  if (roster === undefined) return { root: null, managers: [], executives: [], named: null };
  const owner = context === undefined || roster.employees.length === 0 ? null : ownerOf(context);
  const name = firstText(asked.assignee, asked.target, asked.patch?.assignee, asked.input?.assignee);
  return {
    root: rootOf(roster),
    managers: owner === null ? [] : managersOf(roster, owner),
    executives: roster.employees
      .filter(({ rank }) => rank === 'executive')
      .map((executive) => executive.name),
    named: name === null ? null : named(roster, name),
    ...verifier(roster, asked.patch?.verifyPolicy ?? asked.input?.verifyPolicy),
  };
}

function verifier(roster: Roster, policy: unknown): Pick<WorkItemFacts, 'verifier'> {
  const name = (policy as { verifier?: { employee?: unknown } } | null | undefined)?.verifier?.employee;
  if (typeof name !== 'string') return {};
  const { known, suggestion } = named(roster, name);
  return { verifier: { known, suggestion } };
}

/** The one executive without a manager; of several, the configured one, else the first. */
export function rootOf(roster: Roster): string | null {
  const tops = roster.employees.filter(
    ({ rank, reportsTo }) => rank === 'executive' && (reportsTo ?? null) === null,
  );
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
  return {
    known: employee !== undefined,
    department: employee?.department ?? null,
    suggestion: employee
      ? null
      : (nearest(
          name,
          roster.employees.map((candidate) => candidate.name),
        ) ?? null),
  };
}

const firstText = (...values: readonly unknown[]): string | null =>
  values.find((value): value is string => typeof value === 'string') ?? null;

/** Undefined: none is kept, and names are not checked. One without people knows no name. */
export function rosterOf(value: unknown): Roster | undefined {
  const { employees } = (value ?? {}) as Partial<Roster>;
  return Array.isArray(employees) ? (value as Roster) : undefined;
}
