import { join } from 'node:path';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Environment } from '../../environment.js';
import { watchTree } from '../watch-tree.js';
import { judgePatch, rewriteEmployee, type EmployeePatch } from './edit-employee.js';
import type { Person } from './employee.js';
import { hierarchyOf, type Hierarchy, type Place, type Positions } from './hierarchy.js';
import { readRoster, type Department, type RosterFiles, type SetAside } from './read-roster.js';
import { judgeRetirement, keepAside } from './retire-employee.js';
import { rosterValue, type RosterValue } from './value.js';

/**
 * The roster of the instance: read from `org/`, read again whenever something changes there, and changed
 * through here. The files are the truth; what is held in memory is replaced whole, so that no one ever sees
 * half of a change.
 */
export interface RosterBook {
  /** For decisions. */
  readonly value: RosterValue;
  readonly departments: readonly Department[];
  readonly hierarchy: Hierarchy;
  readonly setAside: readonly SetAside[];
  /** Everybody from the top down, or someone. */
  everybody(): readonly Member[];
  named(name: string): Member | undefined;
  /** Change someone's file. NOT_FOUND, BAD_REQUEST, UNKNOWN_EMPLOYEE or CONFLICT. */
  patch(name: string, patch: EmployeePatch): Promise<Member | Refusal>;
  /**
   * Take someone out of the company: the file is kept as it is below `.retired/`, which is not read. Answers where.
   * NOT_FOUND, or CONFLICT with the names of those who report to this one.
   */
  retire(name: string): Promise<{ readonly file: string } | Refusal>;
  /** Read the files now; true when they differed. */
  reload(): Promise<boolean>;
  /** Called after every change, no matter who made it, with the names that a patch changed. */
  onChange(listener: (change: { readonly patched?: string }) => Promise<void> | void): void;
  close(): Promise<void>;
}

export interface Member {
  readonly person: Person;
  readonly place: Place;
}

/** `const book = await openRoster({folder: layout.org, root: null, log})`. Watches until closed. */
export async function openRoster(options: {
  readonly folder: string;
  readonly root: string | null;
  readonly log: Environment['log'];
}): Promise<RosterBook> {
  const { folder, root, log } = options;
  const listeners: ((change: { readonly patched?: string }) => Promise<void> | void)[] = [];
  let current = snapshotOf(await readRoster(folder), root, 1, log);
  let busy: Promise<unknown> = Promise.resolve();

  /** One reader or writer of the files at a time. */
  function alone<Result>(operation: () => Promise<Result>): Promise<Result> {
    const mine = busy.then(operation);
    busy = mine.catch(() => undefined);
    return mine;
  }

  async function refresh(change: { readonly patched?: string } = {}): Promise<boolean> {
    const files = await readRoster(folder);
    if (files.hash === current.files.hash) return false;
    current = snapshotOf(files, root, current.revision + 1, log);
    for (const listener of listeners) await listener(change);
    return true;
  }

  const named = (name: string): Member | undefined => {
    const person = current.files.people.find((one) => one.name === name);
    const place = current.positions.places.get(name);
    return person && place ? { person, place } : undefined;
  };

  const watched = watchTree(folder, {
    depth: 1,
    onChange: () =>
      alone(() => refresh()).then(
        () => undefined,
        (error: unknown) => log.error({ err: error }, 'roster could not be read; previous one kept'),
      ),
  });

  await watched.established;
  await alone(() => refresh()); // what changed between the first reading and the watch

  return {
    get value() {
      return current.value;
    },
    get departments() {
      return current.files.departments;
    },
    get hierarchy() {
      return current.positions.hierarchy;
    },
    get setAside() {
      return current.files.setAside;
    },
    everybody: () => current.positions.hierarchy.sorted.flatMap((name) => named(name) ?? []),
    named,
    patch: (name, patch) =>
      alone(async () => {
        await refresh(); // judged on what the files say now
        const path = current.files.paths.get(name);
        if (path === undefined) return unknownEmployee(name);
        const refusal = judgePatch(
          name,
          patch,
          current.files.people,
          current.files.departments.map((department) => department.name),
        );
        if (refusal) return refusal;
        const done = await rewriteEmployee(join(folder, path), patch, {
          name,
          department: path.split('/')[0] ?? '',
        });
        if (isRefusal(done)) return done;
        await refresh({ patched: name });
        return named(name) ?? refuse('CONFLICT', {}, `${name} was removed in the meantime.`);
      }),
    retire: (name) =>
      alone(async () => {
        await refresh();
        const path = current.files.paths.get(name);
        if (path === undefined) return unknownEmployee(name);
        const refusal = judgeRetirement(name, current.files.people);
        if (refusal) return refusal;
        const file = await keepAside(folder, path);
        await refresh();
        return { file };
      }),
    reload: () => alone(() => refresh()),
    onChange: (listener) => void listeners.push(listener),
    async close() {
      await watched.close();
      await busy;
    },
  };
}

interface Current {
  readonly files: RosterFiles;
  readonly positions: Positions;
  readonly value: RosterValue;
  readonly revision: number;
}

function snapshotOf(
  files: RosterFiles,
  root: string | null,
  revision: number,
  log: Environment['log'],
): Current {
  for (const { file, reason } of files.setAside)
    log.warn({ file: `org/${file}`, reason }, 'roster file was set aside');
  const positions = hierarchyOf(files.people, root);
  return { files, positions, value: rosterValue(files.people, positions, revision), revision };
}

const unknownEmployee = (name: string): Refusal =>
  refuse('NOT_FOUND', { kind: 'employee', id: name }, `There is no employee ${JSON.stringify(name)}.`);
