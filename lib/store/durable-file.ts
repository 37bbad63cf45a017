import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Replace a file so that a crash leaves the old text or the new, never a mixture: temporary file, fsync, rename, fsync of the folder. */
export async function writeFileDurably(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Make the names in a folder durable. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a folder; its renames are journalled by the file system.
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
