import { lstat, mkdir, rename } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { Person } from './employee.js';

/** Others below have to be handed on first: a company with holes in it would be guessed at. */
export function judgeRetirement(name: string, people: readonly Person[]): Refusal | undefined {
  const below = people.filter(({ reportsTo }) => reportsTo.includes(name)).map((person) => person.name);
  if (below.length === 0) return undefined;
  const verb = below.length === 1 ? 'reports' : 'report';
  return refuse(
    'CONFLICT',
    { path: 'reportsTo' },
    `${below.slice(0, 5).join(', ')} ${verb} to ${name}: name another manager there first.`,
  );
}

/**
 * Move a file of the roster below `.retired/`, which is not read; one of the same name that was retired before stays.
 * Answers where it is now, from the folder of the roster.
 */
export async function keepAside(folder: string, path: string): Promise<string> {
  const end = extname(path);
  for (let n = 1; ; n += 1) {
    const file = join('.retired', n === 1 ? path : `${path.slice(0, -end.length)}.${n}${end}`);
    const isTaken = await lstat(join(folder, file)).then(
      () => true,
      () => false,
    );
    if (isTaken) continue;
    await mkdir(dirname(join(folder, file)), { recursive: true, mode: 0o700 });
    await rename(join(folder, path), join(folder, file));
    return file;
  }
}
