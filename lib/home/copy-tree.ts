import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './atomic-file.js';

/** One file that was copied: where it stands below the copy, and what it held. */
export interface Copied {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly mode: number;
}

/**
 * Copy a file or a folder to the place `name` below `to`, every file synced to disk and hashed on the way. Only
 * regular files and folders are copied: what a link points to is someone else's. Absent is nothing, also what goes
 * while it is looked at: a home lives while it is copied.
 */
export async function copyTree(from: string, to: string, name: string): Promise<readonly Copied[]> {
  const facts = await lstat(from).catch(absent);
  if (facts === undefined) return [];
  if (facts.isFile()) return copyFile(from, to, name, facts.mode & 0o777);
  if (!facts.isDirectory()) return [];
  await makeFolder(join(to, name));
  const copied: Copied[] = [];
  for (const entry of ((await readdir(from).catch(absent)) ?? []).sort())
    copied.push(...(await copyTree(join(from, entry), to, `${name}/${entry}`)));
  return copied;
}

async function copyFile(from: string, to: string, path: string, mode: number): Promise<readonly Copied[]> {
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    absent,
  );
  if (source === undefined) return [];
  try {
    const target = await open(join(to, path), 'wx', mode);
    try {
      const hash = createHash('sha256');
      const bytes = await pour(source, target, (piece) => void hash.update(piece));
      await target.chmod(mode);
      await target.sync();
      return [{ path, bytes, sha256: hash.digest('hex'), mode }];
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function pour(
  source: FileHandle,
  target: FileHandle,
  onPiece: (piece: Buffer) => void,
): Promise<number> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  for (let total = 0; ;) {
    const { bytesRead } = await source.read(buffer, 0, pieceBytes, null);
    if (bytesRead === 0) return total;
    const piece = buffer.subarray(0, bytesRead);
    onPiece(piece);
    await target.writeFile(piece);
    total += bytesRead;
  }
}

const pieceBytes = 256 * 1024;

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
