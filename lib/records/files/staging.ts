import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { makeFolder } from '../../home/atomic-file.js';

/**
 * Where uploads lie until they are complete: a private folder of the home, on the same file system as their
 * last place, so that the move at the end is one rename. What a crash left behind is removed after an hour.
 */
export interface Staged {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

export class Staging {
  constructor(
    readonly folder: string,
    readonly bytesMax: number,
    private readonly newId: () => string,
  ) {}

  async open(): Promise<void> {
    await makeFolder(this.folder);
  }

  /**
   * Bytes as they come, hashed and counted on the way. Rejects as the source does; too many are
   * PAYLOAD_TOO_LARGE.
   */
  async take(source: AsyncIterable<Uint8Array>): Promise<Staged | Refusal> {
    const path = join(this.folder, this.newId());
    const file = await open(path, 'wx', 0o600);
    let kept = false;
    try {
      const hash = createHash('sha256');
      let size = 0;
      for await (const chunk of source) {
        size += chunk.length;
        if (size > this.bytesMax) return tooLarge(this.bytesMax);
        hash.update(chunk);
        await writeAll(file, chunk);
      }
      await file.sync();
      kept = true;
      return { path, size, sha256: hash.digest('hex') };
    } finally {
      await file.close();
      if (!kept) await rm(path, { force: true });
    }
  }

  /** What someone else has written into the folder, once it is complete. */
  async adopt(path: string): Promise<Staged> {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const hash = createHash('sha256');
      let size = 0;
      for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
        hash.update(chunk);
        size += chunk.length;
      }
      await file.sync();
      return { path, size, sha256: hash.digest('hex') };
    } finally {
      await file.close();
    }
  }

  /** To its last place, which must not exist; durable when this resolves. */
  async settle({ path }: Staged, place: string): Promise<void> {
    await chmod(path, 0o600);
    const move = async (): Promise<void> => {
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      await rename(path, place);
    };
    await move().catch(move); // once more: a sweep may have taken the empty folder in between
    const folder = await open(dirname(place), constants.O_RDONLY);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async discard({ path }: { readonly path: string }): Promise<void> {
    await rm(path, { force: true });
  }

  /** Remove what is older than an hour: no one writes for that long. */
  async sweep(now: number): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [] as string[])) {
      const path = join(this.folder, name);
      const facts = await stat(path).catch(() => undefined);
      if (facts && now - facts.mtimeMs > staleMs) await rm(path, { force: true, recursive: true });
    }
  }
}

export const staleMs = 3_600_000;

export const tooLarge = (bytesMax: number): Refusal =>
  refuse('PAYLOAD_TOO_LARGE', { bytesMax }, `A file may have at most ${Math.floor(bytesMax / 2 ** 20)} MiB.`);

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length;) written += (await file.write(chunk, written)).bytesWritten;
}
