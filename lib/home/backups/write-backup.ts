import { constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { endOfCopy } from '../../store/cut-copy.js';
import { keptParts } from './kept-parts.js';
import { choiceFolders } from './manifest.js';
import type { Entry, Manifest, Piece } from './manifest.js';
import type { Repository } from './repository.js';

export interface BackupSource {
  readonly home: string;
  /** A folder that holds the second copy of the store, see `stageStore`. */
  readonly store: string;
  readonly instance: string;
  readonly version: string;
  readonly include: Manifest['include'];
  /** Epoch ms. */
  readonly at: number;
}

export interface Written {
  readonly manifest: Manifest;
  /** New bytes, before they were sealed. */
  readonly newBytes: number;
}

/**
 * Writes what the repository does not have yet, and answers the list of everything, which is not written: it becomes a
 * backup once it was restored on trial. The store is read first: a file is written before the commit that speaks of it,
 * so every file that the copied store knows is there to be copied after it.
 */
export async function writeBackup(
  repository: Repository,
  source: BackupSource,
  previous: Manifest | undefined,
): Promise<Written> {
  const writer = new PieceWriter(repository, previous);
  const entries: Entry[] = [];
  const { from, seq, files } = await endOfCopy(source.store);
  for (const { name, bytes } of files)
    entries.push({
      path: `store-copy/${name}`,
      mode: 0o600,
      pieces: await writer.file(join(source.store, name), bytes),
    });
  const chosen = source.include.map((choice) => choiceFolders[choice]);
  for (const { name, at } of await keptParts(source.home, chosen))
    await walk(at, name, source.include.includes('work'), entries, writer);
  const newBytes = await writer.flush();
  const { instance, version, include, at } = source;
  return {
    newBytes,
    manifest: {
      troupeBackup: 2,
      at: new Date(at).toISOString(),
      version,
      instance,
      from,
      seq,
      include,
      entries,
    },
  };
}

/** Absent is nothing, also what goes while it is looked at: a home lives while it is copied. */
async function walk(
  from: string,
  path: string,
  withLinks: boolean,
  entries: Entry[],
  writer: PieceWriter,
): Promise<void> {
  const facts = await lstat(from).catch(absent);
  if (facts === undefined) return;
  const mode = facts.mode & 0o777;
  if (facts.isFile()) {
    const pieces = await writer.file(from).catch(absent);
    if (pieces !== undefined) entries.push({ path, mode, pieces });
  } else if (facts.isDirectory()) {
    entries.push({ path, mode, folder: true });
    for (const name of ((await readdir(from).catch(absent)) ?? []).sort())
      await walk(join(from, name), `${path}/${name}`, withLinks, entries, writer);
  } else if (facts.isSymbolicLink() && withLinks && path.startsWith(`${choiceFolders.work}/`)) {
    // Elsewhere what a link points to is someone else's; a working folder is not whole without its links
    const link = await readlink(from).catch(absent);
    if (link !== undefined) entries.push({ path, link });
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Cuts files into pieces and puts those that are new together into objects, so that many small files are few. */
class PieceWriter {
  private readonly known = new Map<string, Piece>();
  private waiting: { readonly content: Buffer; readonly take: ((piece: Piece) => void)[] }[] = [];
  private readonly waitingBy = new Map<string, ((piece: Piece) => void)[]>();
  private waitingBytes = 0;
  private newBytes = 0;
  private readonly repository: Repository;

  constructor(repository: Repository, previous: Manifest | undefined) {
    this.repository = repository;
    for (const entry of previous?.entries ?? [])
      if ('pieces' in entry) for (const piece of entry.pieces) this.known.set(piece.digest, piece);
  }

  /** The pieces of a file, up to `bytesMax`. They are filled in until `flush` has resolved. */
  async file(path: string, bytesMax = Infinity): Promise<Piece[]> {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const pieces: Piece[] = [];
    try {
      for (let at = 0, index = 0; at < bytesMax; index += 1) {
        const content = Buffer.allocUnsafe(Math.min(pieceBytes, bytesMax - at));
        let filled = 0;
        for (let more = -1; more !== 0 && filled < content.length; filled += more)
          more = (await file.read(content, filled, content.length - filled, at + filled)).bytesRead;
        if (filled === 0) break;
        at += filled;
        await this.piece(content.subarray(0, filled), (piece) => (pieces[index] = piece));
      }
    } finally {
      await file.close();
    }
    return pieces;
  }

  private async piece(content: Buffer, take: (piece: Piece) => void): Promise<void> {
    const digest = this.repository.digest(content);
    const known = this.known.get(digest);
    if (known !== undefined) return take(known);
    const alike = this.waitingBy.get(digest);
    if (alike !== undefined) return void alike.push(take);
    const takers = [take];
    this.waitingBy.set(digest, takers);
    this.waiting.push({ content, take: takers });
    this.waitingBytes += content.length;
    if (this.waitingBytes >= pieceBytes) await this.flush();
  }

  /** Answers how many bytes were new so far. */
  async flush(): Promise<number> {
    if (this.waiting.length === 0) return this.newBytes;
    const waiting = this.waiting;
    const object = await this.repository.keep(Buffer.concat(waiting.map(({ content }) => content)));
    let at = 0;
    for (const { content, take } of waiting) {
      const digest = this.repository.digest(content);
      const piece = { object, at, bytes: content.length, digest };
      this.known.set(digest, piece);
      for (const one of take) one(piece);
      at += content.length;
    }
    this.newBytes += at;
    this.waiting = [];
    this.waitingBy.clear();
    this.waitingBytes = 0;
    return this.newBytes;
  }
}

/** A segment that grew differs in its last piece only. */
const pieceBytes = 4 * 2 ** 20;
