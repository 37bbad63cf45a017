import { Postings } from './postings.js';
import { Vocabulary } from './vocabulary.js';

/**
 * Which documents hold all of some fragments of words. Compact and in memory: a vocabulary, in which
 * fragments are looked for, and for every word the documents it stands in. A changed document is a new one,
 * and the old one is struck out; when many are, `compacted` makes an index without them. What can take long
 * is a generator of small steps.
 */
export class WordIndex {
  private readonly vocabulary = new Vocabulary();
  private readonly postings = new Postings();
  private readonly paths: (string | undefined)[] = [];
  private readonly numbers = new Map<string, number>();
  private spare: Sums | undefined;

  /** Documents that can be found. */
  get size(): number {
    return this.numbers.size;
  }
  /** Documents that were struck out. */
  get struck(): number {
    return this.paths.length - this.numbers.size;
  }
  /** Entries of word and document, the measure of how large the index is. */
  get entries(): number {
    return this.postings.total;
  }
  get words(): number {
    return this.vocabulary.size;
  }

  /** A document as it is now; what was known of the path before is forgotten. */
  put(path: string, counts: ReadonlyMap<string, number>): void {
    atOnce(this.putting(path, counts));
  }

  /**
   * The same in steps. One at a time: lists hold documents in rising order. Words beyond `wordsMax` are left
   * out; answers how many.
   */
  *putting(path: string, counts: ReadonlyMap<string, number>, wordsMax = Infinity): Generator<void, number> {
    this.remove(path);
    const document = this.paths.push(undefined) - 1;
    let leftOut = 0;
    let done = 0;
    for (const [word, times] of counts) {
      const number =
        this.vocabulary.size < wordsMax ? this.vocabulary.add(word) : this.vocabulary.numberOf(word);
      if (number === undefined) leftOut += 1;
      else this.postings.add(number, document, times);
      if ((done += 1) % 2_000 === 0) yield;
    }
    this.paths[document] = path; // not before it is whole
    this.numbers.set(path, document);
    return leftOut;
  }

  remove(path: string): void {
    const document = this.numbers.get(path);
    if (document === undefined) return;
    this.paths[document] = undefined;
    this.numbers.delete(path);
  }

  /** The documents with all fragments, most matches first, then by path. */
  find(fragments: readonly string[], limit: number): readonly Hit[] {
    return atOnce(this.finding(fragments, limit));
  }

  /** The same in steps. What is put meanwhile may or may not be found. */
  *finding(fragments: readonly string[], limit: number): Generator<void, readonly Hit[]> {
    if (fragments.length === 0 || this.paths.length === 0) return [];
    const wanted: Wanted[] = [];
    for (const fragment of fragments) {
      const one = yield* this.matching(fragment, Math.ceil(entriesMax / fragments.length));
      if (one.entries === 0) return [];
      wanted.push(one);
    }
    wanted.sort((one, other) => one.entries - other.entries);
    const { sums, totals } = this.borrow();
    for (const [place, { words }] of wanted.entries()) {
      sums.fill(0);
      for (const word of words) {
        this.postings.sum(word, sums);
        yield;
      }
      for (let document = 0; document < totals.length; document += 1) {
        const found = sums[document] as number;
        totals[document] =
          found > 0 && (place === 0 || (totals[document] as number) > 0)
            ? (totals[document] as number) + found
            : 0;
      }
      yield;
    }
    const best = this.best(totals, limit);
    this.spare = { sums, totals };
    return best;
  }

  /**
   * The same documents without those that were struck out, and without words that no document holds any more.
   * Nothing may be put or removed before it is done.
   */
  *compacted(): Generator<void, WordIndex> {
    const fresh = new WordIndex();
    const places = new Uint32Array(this.paths.length); // from one on; 0 = struck out
    for (const [document, path] of this.paths.entries()) {
      if (path === undefined) continue;
      places[document] = fresh.paths.push(path);
      fresh.numbers.set(path, fresh.paths.length - 1);
      if (document % 2_000 === 0) yield;
    }
    for (let list = 0; list < this.vocabulary.size; list += 1) {
      let number: number | undefined;
      this.postings.each(list, (document, times) => {
        const place = places[document] as number;
        if (place === 0) return;
        number ??= fresh.vocabulary.add(this.vocabulary.textOf(list));
        fresh.postings.add(number, place - 1, times);
      });
      yield;
    }
    return fresh;
  }

  /**
   * The words that a fragment stands in, up to a bound on the work. One letter is looked for as a word, two
   * as a beginning: they stand nearly everywhere. When it is too much, the word itself comes first, then
   * those that begin with the fragment, then the others, each in order of their letters.
   */
  private *matching(fragment: string, share: number): Generator<void, Wanted> {
    const exact = this.vocabulary.numberOf(fragment);
    const own = exact === undefined ? 0 : this.postings.count(exact);
    const words: number[] = exact === undefined ? [] : [exact];
    if (fragment.length === 1) return { words, entries: own };
    const beginnings: number[] = [];
    const others: number[] = [];
    let entries = own;
    yield* this.vocabulary.matching(fragment, fragment.length === 2, (word, begins) => {
      if (word === exact) return true;
      (begins ? beginnings : others).push(word);
      entries += this.postings.count(word);
      return beginnings.length + others.length < wordsPerFragmentMax;
    });
    if (entries <= share) return { words: [...words, ...beginnings, ...others], entries };
    entries = own;
    for (const group of [beginnings, others]) {
      const sorted = group
        .map((word) => ({ word, text: this.vocabulary.textOf(word) }))
        .sort((one, other) => (one.text < other.text ? -1 : 1));
      yield;
      for (const { word } of sorted) {
        const count = this.postings.count(word);
        if (entries + count > share && words.length > 0) return { words, entries };
        words.push(word);
        entries += count;
      }
    }
    return { words, entries };
  }

  /** Two arrays with a place for every document, zeroed; the last question's where they still fit. */
  private borrow(): Sums {
    const { spare } = this;
    this.spare = undefined;
    if (spare && spare.sums.length > this.paths.length) {
      spare.totals.fill(0);
      return spare;
    }
    const room = Math.ceil(this.paths.length * 1.1) + 1_000;
    return { sums: new Uint32Array(room), totals: new Uint32Array(room) };
  }

  private best(totals: Uint32Array, limit: number): readonly Hit[] {
    const hits: Hit[] = [];
    const documents = Math.min(totals.length, this.paths.length);
    for (let document = 0; document < documents; document += 1) {
      const matchCount = totals[document] as number;
      if (matchCount === 0) continue;
      const path = this.paths[document];
      if (path === undefined) continue;
      const last = hits[limit - 1];
      if (last && !before({ path, matchCount }, last)) continue;
      let place = Math.min(hits.length, limit - 1);
      while (place > 0 && before({ path, matchCount }, hits[place - 1] as Hit)) place -= 1;
      hits.splice(place, 0, { path, matchCount });
      if (hits.length > limit) hits.pop();
    }
    return hits;
  }
}

export interface Hit {
  readonly path: string;
  readonly matchCount: number;
}

interface Wanted {
  readonly words: readonly number[];
  readonly entries: number;
}
interface Sums {
  readonly sums: Uint32Array;
  readonly totals: Uint32Array;
}

/**
 * Entries that one question may cost beside its own words: some milliseconds. Only fragments of which nearly
 * every word has one come near.
 */
const entriesMax = 300_000;
const wordsPerFragmentMax = 5_000;

const before = (one: Hit, other: Hit): boolean =>
  one.matchCount > other.matchCount || (one.matchCount === other.matchCount && one.path < other.path);

/**
 * Long work as a generator that yields between small steps. Who must have the result at once runs it through;
 * who shares the process with others lets them on after every few milliseconds.
 */
export function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** `await unhurried(index.finding(fragments, 20))` */
export async function unhurried<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (let began = performance.now(); ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - began < sliceMs) continue;
    await breath();
    began = performance.now();
  }
}

/** Let everything that waits go first. */
export const breath = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

const sliceMs = 4;
