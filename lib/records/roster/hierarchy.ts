import type { Person } from './employee.js';

/**
 * Who stands above whom, made of what the files say. A reference that leads nowhere, to oneself or round in a
 * circle counts as none and is told as a warning: authority must never rest on it. Who names no manager
 * stands below the root.
 */
export interface Hierarchy {
  /**
   * The executive without a manager; of several the configured one, else the first. Null: the operator is the
   * root.
   */
  readonly root: string | null;
  /** From the top down, everybody before those beneath. */
  readonly sorted: readonly string[];
  readonly warnings: readonly Warning[];
}

export interface Warning {
  readonly employee: string;
  readonly type: 'broken_ref' | 'self_ref' | 'cycle' | 'cross_department' | 'multiple_executives';
  readonly message: string;
  readonly ref: string | null;
}

export interface Place {
  readonly parentName: string | null;
  readonly directReports: readonly string[];
  /** 0 at the top. */
  readonly depth: number;
  /** Names from the top down to this one, itself included. */
  readonly chain: readonly string[];
}

export interface Positions {
  readonly hierarchy: Hierarchy;
  readonly places: ReadonlyMap<string, Place>;
  /** The managers that count, explicit ones only. */ readonly managers: ReadonlyMap<string, string>;
}

/** `hierarchyOf(people, 'ann').hierarchy.root`. People in roster order. */
export function hierarchyOf(people: readonly Person[], configuredRoot: string | null): Positions {
  const warnings: Warning[] = [];
  const byName = new Map(people.map((person) => [person.name, person]));
  const managers = soundManagers(people, byName, warnings);
  const root = rootOf(people, configuredRoot, managers, warnings);
  const parents = new Map(
    people.map(({ name, rank }) => {
      const adopted = name === root || rank === 'executive' ? null : root;
      return [name, managers.get(name) ?? adopted] as const;
    }),
  );
  const reports = reportsOf(people, parents);
  const places = new Map<string, Place>();
  const tops = people
    .filter(({ name }) => parents.get(name) === null)
    .map(({ name }) => name)
    .sort((one, other) => Number(other === root) - Number(one === root));
  for (const top of tops) settle(top, [], parents, reports, places);
  return { hierarchy: { root, sorted: [...places.keys()], warnings }, places, managers };
}

function soundManagers(
  people: readonly Person[],
  byName: ReadonlyMap<string, Person>,
  warnings: Warning[],
): Map<string, string> {
  const managers = new Map<string, string>();
  for (const {
    name,
    department,
    reportsTo: [ref],
  } of people) {
    if (ref === undefined) continue;
    const manager = byName.get(ref);
    if (ref === name)
      warnings.push({
        employee: name,
        type: 'self_ref',
        message: `${name} reports to itself; that is ignored.`,
        ref,
      });
    else if (manager === undefined)
      warnings.push({
        employee: name,
        type: 'broken_ref',
        message: `${name} reports to ${ref}, who does not exist.`,
        ref,
      });
    else {
      managers.set(name, ref);
      if (manager.department === department || manager.rank === 'executive') continue;
      warnings.push({
        employee: name,
        type: 'cross_department',
        message: `${name} (${department}) reports to ${ref} of ${manager.department}.`,
        ref,
      });
    }
  }
  for (const name of onCircles(managers)) {
    const ref = managers.get(name) ?? null;
    warnings.push({
      employee: name,
      type: 'cycle',
      message: `${name} reports to itself by way of ${ref}; that is ignored.`,
      ref,
    });
  }
  for (const { employee, type } of warnings) if (type === 'cycle') managers.delete(employee);
  return managers;
}

/** Everybody who comes back to themselves on the way up, in roster order. */
export function onCircles(managers: ReadonlyMap<string, string>): readonly string[] {
  return [...managers.keys()].filter((name) => {
    const seen = new Set<string>();
    for (
      let above = managers.get(name);
      above !== undefined && !seen.has(above);
      above = managers.get(above)
    ) {
      if (above === name) return true;
      seen.add(above);
    }
    return false;
  });
}

function rootOf(
  people: readonly Person[],
  given: string | null,
  managers: ReadonlyMap<string, string>,
  warnings: Warning[],
): string | null {
  const tops = people.filter(({ name, rank }) => rank === 'executive' && !managers.has(name));
  const root = tops.find(({ name }) => name === given) ?? tops[0];
  for (const { name } of tops.length > 1 ? tops : []) {
    if (name === root?.name) continue;
    warnings.push({
      employee: name,
      type: 'multiple_executives',
      message:
        `${name} and ${root?.name} are both executives without a manager; ${root?.name} is the root. Set ` +
        'portal.root to choose.',
      ref: root?.name ?? null,
    });
  }
  return root?.name ?? null;
}

function reportsOf(
  people: readonly Person[],
  parents: ReadonlyMap<string, string | null>,
): ReadonlyMap<string, readonly string[]> {
  const reports = new Map<string, string[]>();
  for (const { name } of people) {
    const parent = parents.get(name);
    if (parent == null) continue;
    reports.set(parent, [...(reports.get(parent) ?? []), name]);
  }
  return reports;
}

/** Walked with a list of what is to come, not by recursion: a company may be one long line. */
function settle(
  top: string,
  above: readonly string[],
  parents: ReadonlyMap<string, string | null>,
  reports: ReadonlyMap<string, readonly string[]>,
  places: Map<string, Place>,
): void {
  const ahead: { name: string; chain: readonly string[] }[] = [{ name: top, chain: [...above, top] }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { name, chain } = next;
    const directReports = reports.get(name) ?? [];
    places.set(name, {
      parentName: parents.get(name) ?? null,
      directReports,
      depth: chain.length - 1,
      chain,
    });
    for (const below of [...directReports].reverse()) ahead.push({ name: below, chain: [...chain, below] });
  }
}
