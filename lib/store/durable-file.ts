import { dirname } from 'node:path';
import type { StoreFiles } from './files.js';

/**
 * Replace a file so that a crash leaves the old text or the new, never a mixture: temporary file, fsync,
 * rename, fsync of the folder.
 */
export async function writeFileDurably(files: StoreFiles, path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  const file = await files.open(temporary, 'new');
  try {
    await file.write(Buffer.from(text), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(temporary, path);
  await files.syncDirectory(dirname(path));
}

/** The whole text of a small file. */
export async function readText(files: StoreFiles, path: string): Promise<string> {
  const file = await files.open(path, 'read');
  try {
    const bytes = Buffer.alloc(await file.size());
    return bytes.toString('utf8', 0, await file.read(bytes, 0));
  } finally {
    await file.close();
  }
}
