import { statfs } from 'node:fs/promises';

/** Bytes that this process may still write on the disk of a folder. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
