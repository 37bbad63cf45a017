import type { Random } from '../crash/random.js';
import type { Tables } from './tables.js';

/**
 * What lies on the simulated disk: files and folders, each twice. Once as the system shows it, once as the platter
 * has it, with the changes between them that no sync has taken over yet. A power cut keeps any of those changes,
 * whole or in part, in whatever order suits it.
 */
export class FileNode {
  readonly shown = new Bytes();
  private readonly kept = new Bytes();
  private pending: Change[] = [];

  write(at: number, bytes: Buffer, durable: boolean): void {
    this.shown.write(at, bytes);
    if (durable && this.pending.length === 0) this.kept.write(at, bytes);
    else this.pending.push({ at, bytes, durable });
  }

  truncate(length: number): void {
    if (this.shown.length === length) return;
    this.shown.truncate(length);
    this.pending.push({ at: length, bytes: undefined, durable: false });
  }

  sync(): void {
    for (const change of this.pending) make(this.kept, change);
    this.pending = [];
  }

  /** A sync that failed: the system shows the bytes on, and no later sync will write them. */
  failSync(): void {
    this.pending = this.pending.filter(({ durable }) => durable);
    for (const change of this.pending) make(this.kept, change);
    this.pending = [];
  }

  losePower(random: Random, share: number): void {
    for (const change of this.pending) {
      if (change.durable) make(this.kept, change);
      else if (random.chance(share)) make(this.kept, random.chance(0.3) ? torn(change, random) : change);
    }
    this.pending = [];
    this.shown.copyOf(this.kept);
  }

  /** Flip one bit, in memory and on the platter alike. */
  flip(at: number, bit: number): void {
    this.shown.flip(at, bit);
    this.kept.flip(at, bit);
  }
}

interface Change {
  readonly at: number;
  /** Undefined: cut off, or extended, to `at`. */
  readonly bytes: Buffer | undefined;
  /** Written by a synchronous write: it survives. */
  readonly durable: boolean;
}

function make(bytes: Bytes, { at, bytes: written }: Change): void {
  if (written === undefined) bytes.truncate(at);
  else bytes.write(at, written);
}

/** Some of the sectors only. */
export function torn(change: Change, random: Random): Change {
  if (change.bytes === undefined || change.bytes.length === 0) return change;
  return { ...change, bytes: change.bytes.subarray(0, random.between(0, change.bytes.length - 1)) };
}

/** Bytes that grow. */
export class Bytes {
  length = 0;
  private buffer = Buffer.alloc(0);

  get view(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  write(at: number, bytes: Buffer): void {
    this.reserve(at + bytes.length);
    bytes.copy(this.buffer, at);
    this.length = Math.max(this.length, at + bytes.length);
  }

  truncate(length: number): void {
    this.reserve(length);
    if (length < this.length) this.buffer.fill(0, length, this.length);
    this.length = length;
  }

  flip(at: number, bit: number): void {
    if (at < this.length) this.buffer[at]! ^= 1 << bit;
  }

  copyOf(other: Bytes): void {
    this.buffer = Buffer.from(other.view);
    this.length = other.length;
  }

  /** What lies behind the end is zeros, so that a gap reads as such. */
  private reserve(length: number): void {
    if (length <= this.buffer.length) return;
    const larger = Buffer.alloc(Math.max(length, this.buffer.length * 2, 1024));
    this.buffer.copy(larger);
    this.buffer = larger;
  }
}

export type Node = FileNode | Folder;

export class Folder {
  shown = new Map<string, Node>();
  private kept = new Map<string, Node>();
  private pending: Renaming[] = [];
  /** A LevelDB lives here. */
  tables: Tables | undefined;

  set(name: string, node: Node): void {
    this.change({ names: [name], make: (names) => names.set(name, node) });
  }

  remove(name: string): void {
    this.change({ names: [name], make: (names) => names.delete(name) });
  }

  /** Within the folder: both names change at once, or neither. */
  rename(from: string, to: string, node: Node): void {
    this.change({
      names: [from, to],
      make: (names) => {
        names.delete(from);
        names.set(to, node);
      },
    });
  }

  sync(): void {
    for (const { make: change } of this.pending) change(this.kept);
    this.pending = [];
  }

  losePower(random: Random, share: number): void {
    // What was done to a name is done in order, or not at all from some point on
    const lost = new Set<string>();
    for (const { names, make: change } of this.pending) {
      if (names.some((name) => lost.has(name)) || !random.chance(share))
        for (const name of names) lost.add(name);
      else change(this.kept);
    }
    this.pending = [];
    this.shown = new Map(this.kept);
    for (const node of this.shown.values()) node.losePower(random, share);
    this.tables?.losePower(random, share);
  }

  private change(change: Renaming): void {
    change.make(this.shown);
    this.pending.push(change);
  }
}

interface Renaming {
  readonly names: readonly string[];
  readonly make: (names: Map<string, Node>) => void;
}
