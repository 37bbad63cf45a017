/**
 * Lists of numbers in one growing arena of bytes: for each word, in which documents it stands and how often. A list is
 * a chain of slices, each larger than the one before, so that the many words that stand in one document cost a few
 * bytes and the few that stand everywhere cost little more than their content. Numbers are varints; documents are
 * written as distances, so they must come in rising order.
 */
export class Postings {
  private arena = new Uint8Array(1 << 20);
  private used = 1; // 0 means "no slice"
  private head = new Uint32Array(1_024);
  /** Where the next byte of a list goes, and where its slice ends. */
  private tail = new Uint32Array(1_024);
  private end = new Uint32Array(1_024);
  private last = new Uint32Array(1_024);
  private counts = new Uint32Array(1_024);
  /** Entries of all lists. */
  total = 0;

  get bytes(): number { return this.arena.length + this.head.length * 20; }

  /** How many documents the word stands in, removed ones included. */
  count(list: number): number { return this.counts[list] ?? 0; }

  add(list: number, document: number, times: number): void {
    this.makeRoom(list);
    const distance = document - (this.last[list] ?? 0);
    this.last[list] = document;
    this.counts[list] = (this.counts[list] ?? 0) + 1;
    this.total += 1;
    this.number(list, distance);
    this.number(list, times);
  }

  /** Adds to `sums[document]` how often the word stands there. */
  sum(list: number, sums: Uint32Array): void {
    let at = this.head[list] ?? 0;
    let left = this.counts[list] ?? 0;
    if (left === 0) return;
    const { arena } = this;
    let sliceEnd = at + firstSliceBytes;
    let size = firstSliceBytes;
    const next = (): number => {
      if (at === sliceEnd) {
        at = pointer(arena, sliceEnd);
        size = Math.min(size * 2, sliceBytesMax);
        sliceEnd = at + size;
      }
      return arena[at++] as number;
    };
    const number = (): number => {
      let byte = next();
      let value = byte & 0x7f;
      for (let shift = 7; byte >= 0x80; shift += 7) {
        byte = next();
        value |= (byte & 0x7f) << shift;
      }
      return value;
    };
    for (let document = 0; left > 0; left -= 1) {
      document += number();
      const times = number();
      sums[document] = (sums[document] as number) + times;
    }
  }

  private number(list: number, value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.byte(list, (rest & 0x7f) | 0x80);
    this.byte(list, rest);
  }

  private byte(list: number, byte: number): void {
    if (this.tail[list] === this.end[list]) this.extend(list);
    this.arena[this.tail[list] as number] = byte;
    this.tail[list] = (this.tail[list] as number) + 1;
  }

  /** A further slice, twice as large; the four bytes behind a slice say where the next one begins. */
  private extend(list: number): void {
    const first = this.head[list] === 0;
    const before = this.end[list] as number;
    const size = first ? firstSliceBytes : Math.min(this.sizeOf(list) * 2, sliceBytesMax);
    const start = this.take(size + 4);
    if (first) this.head[list] = start;
    else for (let place = 0; place < 4; place += 1) this.arena[before + place] = (start >>> (8 * place)) & 0xff;
    this.sizes[list] = Math.log2(size);
    this.tail[list] = start;
    this.end[list] = start + size;
  }

  private sizes = new Uint8Array(1_024);
  private sizeOf(list: number): number { return 2 ** (this.sizes[list] as number); }

  private take(bytes: number): number {
    if (this.used + bytes > this.arena.length) this.arena = grown(this.arena, Math.min(this.arena.length * 2, this.arena.length + (64 << 20)));
    const start = this.used;
    this.used += bytes;
    return start;
  }

  private makeRoom(list: number): void {
    if (list < this.head.length) return;
    const length = Math.max(list + 1, Math.ceil(this.head.length * 1.5));
    this.head = grown(this.head, length);
    this.tail = grown(this.tail, length);
    this.end = grown(this.end, length);
    this.last = grown(this.last, length);
    this.counts = grown(this.counts, length);
    this.sizes = grown(this.sizes, length);
  }
}

const firstSliceBytes = 4;
const sliceBytesMax = 4_096;

const pointer = (arena: Uint8Array, at: number): number =>
  ((arena[at] as number) | ((arena[at + 1] as number) << 8) | ((arena[at + 2] as number) << 16) | ((arena[at + 3] as number) << 24)) >>> 0;

function grown<A extends Uint8Array | Uint32Array>(old: A, length: number): A {
  const fresh = new (old.constructor as new (length: number) => A)(length);
  fresh.set(old);
  return fresh;
}
