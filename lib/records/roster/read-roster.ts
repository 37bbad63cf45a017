import { readdir } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { contentHash, readPlainFile } from '../../home/atomic-file.js';
import { judged } from '../judged.js';
import { parsePlainYaml } from '../plain-yaml.js';
import { departmentFile, personOf, type Person } from './employee.js';

/**
 * The files of `org/` as people: `<department>/department.yaml` and one file per employee. A file that cannot
 * be used is set aside with its reason, and everybody else is there all the same.
 */
export interface RosterFiles {
  readonly departments: readonly Department[];
  /** Department by department, in order of file names. */
  readonly people: readonly Person[];
  readonly setAside: readonly SetAside[];
  /** Where someone is written, by name. */
  readonly paths: ReadonlyMap<string, string>;
  /** Of everything that was read: the same files have the same hash. */
  readonly hash: string;
}

export interface Department {
  readonly name: string;
  readonly displayName: string;
  readonly description: string | null;
}
export interface SetAside {
  /** Below org/. */ readonly file: string;
  readonly reason: string;
}

/**
 * `await readRoster(layout.org)`. An absent folder is an empty roster; never rejects for what is in the
 * files.
 */
export async function readRoster(folder: string): Promise<RosterFiles> {
  const departments: Department[] = [];
  const people = new Map<string, Person>();
  const paths = new Map<string, string>();
  const setAside: SetAside[] = [];
  const hashes: string[] = [];

  // The first that a newcomer writes lies there; ignored in silence it would be looked for at great length.
  for (const file of (await entriesOf(folder, 'yaml')).slice(0, straysMax)) {
    hashes.push(`${file} astray`);
    setAside.push({ file, reason: `it is not in a department folder: move it to org/<department>/${file}` });
  }

  for (const department of (await entriesOf(folder, 'folder')).slice(0, departmentsMax)) {
    hashes.push(`${department}/`); // one without a file is news, too
    const about = await valueOf(folder, join(department, 'department.yaml'), hashes);
    const described = judged(departmentFile, 'value' in about ? (about.value ?? {}) : {});
    if ('fault' in about && about.fault !== absent)
      setAside.push({ file: join(department, 'department.yaml'), reason: about.fault });
    else if (!described.success)
      setAside.push({
        file: join(department, 'department.yaml'),
        reason: described.error.issues[0]?.message ?? 'it cannot be used',
      });
    const { displayName, description } = described.success ? described.data : {};
    departments.push({
      name: department,
      displayName: displayName ?? department,
      description: description ?? null,
    });

    for (const file of await entriesOf(join(folder, department), 'yaml')) {
      const path = join(department, file);
      const read = await valueOf(folder, path, hashes);
      const person =
        'fault' in read ? read : personOf(read.value, { name: basename(file, extname(file)), department });
      if ('fault' in person) {
        setAside.push({ file: path, reason: person.fault });
        continue;
      }
      const twin = paths.get(person.name);
      // whose file is called so keeps the name: a newcomer's file must not push someone out
      const pushed = twin !== undefined && !isCalled(twin, person.name) && isCalled(path, person.name);
      if (twin !== undefined)
        setAside.push({
          file: pushed ? twin : path,
          reason: `the name ${person.name} is taken by ${pushed ? path : twin}`,
        });
      if (pushed) people.delete(person.name);
      if (twin !== undefined && !pushed) continue;
      if (people.size >= peopleMax)
        setAside.push({ file: path, reason: `a roster has at most ${peopleMax} employees` });
      else {
        people.set(person.name, person);
        paths.set(person.name, path);
      }
    }
  }
  return { departments, people: [...people.values()], setAside, paths, hash: contentHash(hashes.join('\n')) };
}

const isCalled = (path: string, name: string): boolean => basename(path, extname(path)) === name;

const straysMax = 100;
const departmentsMax = 500;
const peopleMax = 2_000;
export const employeeBytesMax = 262_144;
const absent = 'absent';

/** Folders, or files of employees; neither hidden ones nor links. */
async function entriesOf(folder: string, what: 'folder' | 'yaml'): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const wanted = entries.filter(
    (entry) =>
      !entry.name.startsWith('.') &&
      (what === 'folder'
        ? entry.isDirectory()
        : /\.ya?ml$/.test(entry.name) && !/^department\.ya?ml$/.test(entry.name)),
  );
  return wanted.map(({ name }) => name).sort();
}

async function valueOf(
  folder: string,
  path: string,
  hashes: string[],
): Promise<{ readonly value: unknown } | { readonly fault: string }> {
  let bytes: Buffer | undefined;
  try {
    bytes = await readPlainFile(join(folder, path), employeeBytesMax);
  } catch (error) {
    hashes.push(`${path} unreadable`);
    const code = (error as NodeJS.ErrnoException).code;
    return {
      fault:
        code === 'BAD_HOME' ? 'not a regular file, or too large' : `cannot be read (${code ?? 'unknown'})`,
    };
  }
  if (bytes === undefined) return { fault: absent };
  hashes.push(`${path} ${contentHash(bytes)}`);
  return parsePlainYaml(bytes.toString('utf8'), employeeBytesMax);
}
