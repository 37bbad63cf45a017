import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Is a program here? What a shell would find, without a shell and without starting it. */
export async function findExecutable(
  program: string,
  path: string = process.env['PATH'] ?? '',
): Promise<string | undefined> {
  if (isAbsolute(program)) return (await isExecutable(program)) ? program : undefined;
  if (program.includes('/')) return undefined; // relative to which folder? sessions have their own
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const candidate = join(folder, program);
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/** `available`, or the reason and what would repair it: the part of `EngineFacts` that any program has. */
export async function commandFacts(
  program: string,
  remedy: string,
): Promise<
  | { readonly available: true; readonly executable: string }
  | { readonly available: false; readonly reason: string; readonly remedy: string }
> {
  const executable = await findExecutable(program);
  if (executable !== undefined) return { available: true, executable };
  const reason = isAbsolute(program)
    ? `${program} is not an executable file.`
    : `The program "${program}" was not found on the PATH.`;
  return { available: false, reason, remedy };
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
