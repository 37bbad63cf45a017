/**
 * Lists of numbers in an arena of bytes that grows by pages, so that nothing is ever copied: for each word,
 * in which documents it stands and how often. A list is a chain of slices, each larger than the one before,
 * so that the many words that stand in one document cost a few bytes and the few that stand everywhere cost
 * little more than their content. Numbers are varints; documents are written as distances, so they must come
 * in rising order.
 */
export class Postings {
  private readonly pages: Uint8Array[] = [new Uint8Array(pageBytes)];
  private used = 1; // 0 means "no slice"
  private head = new Uint32Array(1_024);
  /** Where the next byte of a list goes, and where its slice ends. */
  private tail = new Uint32Array(1_024);
  private end = new Uint32Array(1_024);
  private last = new Uint32Array(1_024);
  private counts = new Uint32Array(1_024);
  /** Entries of all lists. */
  total = 0;

  get bytes(): number {
    return this.pages.length * pageBytes + this.head.length * 21;
  }

  /** How many documents the word stands in, removed ones included. */
  count(list: number): number {
    return this.counts[list] ?? 0;
  }

  add(list: number, document: number, times: number): void {
    this.makeRoom(list);
    const distance = document - (this.last[list] ?? 0);
    this.last[list] = document;
    this.counts[list] = (this.counts[list] ?? 0) + 1;
    this.total += 1;
    const few = times <= 3 ? times : 0; // nearly always: then one number says both
    this.number(list, distance * 4 + few);
    if (few === 0) this.number(list, times);
  }

  /**
   * Adds to `sums[document]` how often the word stands there. The hot loop of every question: plain locals,
   * and no call within a slice.
   */
  sum(list: number, sums: Uint32Array): void {
    let left = this.begin(list);
    let document = 0;
    while (left > 0) {
      const arena = this.page; // a slice lies in one page
      let at = this.at;
      for (const safe = this.sliceEnd - entryBytesMax; left > 0 && at <= safe; left -= 1) {
        let byte = arena[at++] as number;
        let both = byte & 0x7f;
        for (let shift = 7; byte >= 0x80; shift += 7) {
          byte = arena[at++] as number;
          both |= (byte & 0x7f) << shift;
        }
        let times = both & 3;
        if (times === 0) {
          byte = arena[at++] as number;
          times = byte & 0x7f;
          for (let shift = 7; byte >= 0x80; shift += 7) {
            byte = arena[at++] as number;
            times |= (byte & 0x7f) << shift;
          }
        }
        document += both >>> 2;
        sums[document] = (sums[document] as number) + times;
      }
      this.at = at;
      if (left === 0) return;
      const both = this.next(); // this entry may lie on both sides of a border
      document += both >>> 2;
      sums[document] = (sums[document] as number) + (both & 3 || this.next());
      left -= 1;
    }
  }

  /** Every entry of a list, in rising order of documents. */
  each(list: number, visit: (document: number, times: number) => void): void {
    let document = 0;
    for (let left = this.begin(list); left > 0; left -= 1) {
      const both = this.next();
      document += both >>> 2;
      visit(document, both & 3 || this.next());
    }
  }

  private page = this.pages[0] as Uint8Array;
  /** Within the page. */
  private at = 0;
  private sliceEnd = 0;
  private sliceBytes = 0;

  /** To the beginning of a list; how many entries it has. */
  private begin(list: number): number {
    this.goTo(this.head[list] ?? 0, firstSliceBytes);
    return this.counts[list] ?? 0;
  }

  private goTo(slice: number, bytes: number): void {
    this.page = this.pages[slice >>> pageBits] as Uint8Array;
    this.at = slice & pageMask;
    this.sliceBytes = bytes;
    this.sliceEnd = this.at + bytes;
  }

  private next(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      if (this.at === this.sliceEnd)
        this.goTo(pointer(this.page, this.sliceEnd), Math.min(this.sliceBytes * 2, sliceBytesMax));
      const byte = this.page[this.at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  private number(list: number, value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.byte(list, (rest & 0x7f) | 0x80);
    this.byte(list, rest);
  }

  private byte(list: number, byte: number): void {
    if (this.tail[list] === this.end[list]) this.extend(list);
    const at = this.tail[list] as number;
    (this.pages[at >>> pageBits] as Uint8Array)[at & pageMask] = byte;
    this.tail[list] = at + 1;
  }

  /** A further slice, twice as large; the four bytes behind a slice say where the next one begins. */
  private extend(list: number): void {
    const first = this.head[list] === 0;
    const before = this.end[list] as number;
    const size = first ? firstSliceBytes : Math.min(this.sizeOf(list) * 2, sliceBytesMax);
    const start = this.take(size + 4);
    if (first) this.head[list] = start;
    else
      for (let place = 0; place < 4; place += 1)
        (this.pages[before >>> pageBits] as Uint8Array)[(before & pageMask) + place] =
          (start >>> (8 * place)) & 0xff;
    this.sizes[list] = Math.log2(size);
    this.tail[list] = start;
    this.end[list] = start + size;
  }

  private sizes = new Uint8Array(1_024);
  private sizeOf(list: number): number {
    return 2 ** (this.sizes[list] as number);
  }

  private take(bytes: number): number {
    if ((this.used & pageMask) + bytes > pageBytes || this.used >= this.pages.length * pageBytes) {
      this.used = this.pages.length * pageBytes;
      this.pages.push(new Uint8Array(pageBytes));
    }
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

const pageBits = 20;
const pageBytes = 1 << pageBits;
const pageMask = pageBytes - 1;
const firstSliceBytes = 4;
const sliceBytesMax = 4_096;
/** Two varints of 32 bits. */
const entryBytesMax = 10;

const pointer = (arena: Uint8Array, at: number): number =>
  ((arena[at] as number) |
    ((arena[at + 1] as number) << 8) |
    ((arena[at + 2] as number) << 16) |
    ((arena[at + 3] as number) << 24)) >>>
  0;

function grown<A extends Uint8Array | Uint32Array>(old: A, length: number): A {
  const fresh = new (old.constructor as new (length: number) => A)(length);
  fresh.set(old);
  return fresh;
}
