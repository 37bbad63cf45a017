import { join } from 'node:path';
import * as z from 'zod';
import { readPlainFile, writeAtomically } from './atomic-file.js';
import { HomeError } from './home-error.js';

/**
 * trusted-folders.json: of each folder that a person trusted, the hashes of its settings as they were then
 * (actors/engines/project-settings.ts). The file fails closed: while it is damaged, no folder is trusted.
 */
const schema = z.record(z.string().startsWith('/'), z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(100));

type Trusted = z.infer<typeof schema>;

/** `await isTrustedFolder(home, '/home/me/project', sha256)`; false while the file cannot be used. */
export async function isTrustedFolder(home: string, root: string, sha256: string): Promise<boolean> {
  const known = await read(home).catch((): Trusted => ({}));
  return (Object.hasOwn(known, root) ? known[root] : undefined)?.includes(sha256) ?? false;
}

/** Rejects with a HomeError (BAD_HOME) while the file is damaged. */
export async function trustFolder(home: string, root: string, sha256: string): Promise<void> {
  const known = await read(home);
  const before = (Object.hasOwn(known, root) ? (known[root] ?? []) : []).filter((one) => one !== sha256);
  await write(home, { ...known, [root]: [...before, sha256].slice(-hashesMax) });
}

/** Answers whether it was trusted. */
export async function distrustFolder(home: string, root: string): Promise<boolean> {
  const { [root]: gone, ...rest } = await read(home);
  if (gone !== undefined) await write(home, rest);
  return gone !== undefined;
}

const hashesMax = 20;
const fileBytesMax = 2 ** 20;

const fileOf = (home: string): string => join(home, 'trusted-folders.json');

async function read(home: string): Promise<Trusted> {
  const path = fileOf(home);
  const bytes = await readPlainFile(path, fileBytesMax);
  if (bytes === undefined) return {};
  try {
    return schema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw new HomeError('BAD_HOME', `${path} is damaged.`, 'Delete it; every folder is asked for again.', {
      cause,
    });
  }
}

const write = (home: string, known: Trusted): Promise<void> =>
  writeAtomically(fileOf(home), `${JSON.stringify(known, null, 2)}\n`, { mode: 0o600 });
