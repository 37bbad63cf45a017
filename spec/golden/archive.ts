import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/**
 * A folder in one compressed file: Brotli over a line of JSON, `[{path, mode, bytes}]`, and the bytes of all files
 * in that order; folders have no `bytes`. Enough for a home, which holds plain files only. The window is as large
 * as it goes, because a home holds its records twice.
 */
interface Entry {
  readonly path: string;
  readonly mode: number;
  readonly bytes?: number;
}

/** Everything beneath `folder`, in the order of its paths. A pipe, a socket or a link is an error. */
export async function pack(folder: string): Promise<Buffer> {
  const entries: Entry[] = [];
  const contents: Buffer[] = [];
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = new Map(found.map((each) => [relative(folder, join(each.parentPath, each.name)), each]));
  for (const path of [...paths.keys()].sort()) {
    const mode = (await stat(join(folder, path))).mode & 0o777;
    if (paths.get(path)?.isDirectory()) entries.push({ path, mode });
    else if (paths.get(path)?.isFile()) {
      const content = await readFile(join(folder, path));
      entries.push({ path, mode, bytes: content.length });
      contents.push(content);
    } else throw new Error(`${path} is neither a file nor a folder`);
  }
  return compressed(Buffer.concat([Buffer.from(`${JSON.stringify(entries)}\n`), ...contents]));
}

/** Every file of an archive with its content; folders with undefined. */
export function contentsOf(packed: Buffer): readonly (Entry & { readonly content?: Buffer })[] {
  const all = brotliDecompressSync(packed);
  let at = all.indexOf('\n') + 1;
  const entries = JSON.parse(all.subarray(0, at).toString()) as readonly Entry[];
  return entries.map((entry) => {
    if (entry.bytes === undefined) return entry;
    const content = all.subarray(at, (at += entry.bytes));
    return { ...entry, content };
  });
}

/** Writes it beneath `folder`; every file gets the given time as its own, as if it had stayed where it was. */
export async function unpack(packed: Buffer, folder: string, at: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { path, mode, content } of contentsOf(packed)) {
    const full = join(folder, path);
    if (content === undefined) {
      await mkdir(full, { recursive: true, mode });
      continue;
    }
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, content, { mode });
    await utimes(full, at / 1000, at / 1000);
  }
}

export const compressed = (bytes: Buffer): Buffer =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
