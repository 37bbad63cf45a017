import { Postings } from './postings.js';

/**
 * Which documents hold all of some fragments of words. Compact and in memory: a vocabulary as one long string, in which
 * fragments are looked for, and for every word the documents it stands in. A changed document is a new one, and the old
 * one is struck out; when too many are, the owner builds a new index.
 */
export class WordIndex {
  private readonly words = new Map<string, number>();
  private vocabulary = '\n';
  /** Where each word begins in the vocabulary, in rising order. */
  private starts = new Uint32Array(1_024);
  private readonly postings = new Postings();
  private readonly paths: (string | undefined)[] = [];
  private readonly numbers = new Map<string, number>();

  /** Documents that can be found. */
  get size(): number { return this.numbers.size; }
  /** Documents that were struck out. */
  get struck(): number { return this.paths.length - this.numbers.size; }
  /** Entries of word and document, the measure of how large the index is. */
  get entries(): number { return this.postings.total; }

  /** A document as it is now; what was known of the path before is forgotten. */
  put(path: string, counts: ReadonlyMap<string, number>): void {
    this.remove(path);
    const document = this.paths.push(path) - 1;
    this.numbers.set(path, document);
    for (const [word, times] of counts) this.postings.add(this.numberOf(word), document, times);
  }

  remove(path: string): void {
    const document = this.numbers.get(path);
    if (document === undefined) return;
    this.paths[document] = undefined;
    this.numbers.delete(path);
  }

  /** The documents with all fragments, most matches first, then by path. */
  find(fragments: readonly string[], limit: number): readonly Hit[] {
    if (fragments.length === 0 || this.paths.length === 0) return [];
    const wanted = fragments.map((fragment) => this.matching(fragment)).sort((one, other) => one.entries - other.entries);
    if (wanted[0]?.entries === 0) return [];
    const sums = new Uint32Array(this.paths.length);
    const totals = new Uint32Array(this.paths.length);
    wanted.forEach(({ words }, place) => {
      sums.fill(0);
      for (const word of words) this.postings.sum(word, sums);
      for (let document = 0; document < sums.length; document += 1) {
        const found = sums[document] as number;
        totals[document] = found > 0 && (place === 0 || (totals[document] as number) > 0) ? (totals[document] as number) + found : 0;
      }
    });
    return this.best(totals, limit);
  }

  /**
   * The words that a fragment stands in: the word itself first, then those that begin with it, then the others, up to
   * a bound on the work. One letter is looked for as a word, two as a beginning: they stand nearly everywhere.
   */
  private matching(fragment: string): { readonly words: readonly number[]; readonly entries: number } {
    const exact = this.words.get(fragment);
    const words = exact === undefined ? [] : [exact];
    let entries = exact === undefined ? 0 : this.postings.count(exact);
    const needles = fragment.length === 1 ? [] : fragment.length === 2 ? [`\n${fragment}`] : [`\n${fragment}`, fragment];
    const seen = new Set(words);
    for (const needle of needles) {
      for (let at = this.vocabulary.indexOf(needle); at !== -1 && entries < entriesMax; at = this.vocabulary.indexOf(needle, at + 1)) {
        const word = this.wordAt(needle.startsWith('\n') ? at + 1 : at);
        if (seen.has(word)) continue;
        seen.add(word);
        words.push(word);
        entries += this.postings.count(word);
      }
    }
    return { words, entries };
  }

  private best(totals: Uint32Array, limit: number): readonly Hit[] {
    const hits: Hit[] = [];
    for (let document = 0; document < totals.length; document += 1) {
      const matchCount = totals[document] as number;
      const path = this.paths[document];
      if (matchCount === 0 || path === undefined) continue;
      const last = hits[limit - 1];
      if (last && !before({ path, matchCount }, last)) continue;
      let place = Math.min(hits.length, limit - 1);
      while (place > 0 && before({ path, matchCount }, hits[place - 1] as Hit)) place -= 1;
      hits.splice(place, 0, { path, matchCount });
      if (hits.length > limit) hits.pop();
    }
    return hits;
  }

  private numberOf(word: string): number {
    const known = this.words.get(word);
    if (known !== undefined) return known;
    const number = this.words.size;
    this.words.set(word, number);
    if (number >= this.starts.length) {
      const more = new Uint32Array(Math.ceil(this.starts.length * 1.5));
      more.set(this.starts);
      this.starts = more;
    }
    this.starts[number] = this.vocabulary.length;
    this.vocabulary += `${word}\n`;
    return number;
  }

  /** The word within which that place of the vocabulary lies. */
  private wordAt(place: number): number {
    let low = 0;
    let high = this.words.size - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.starts[middle] as number) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

export interface Hit { readonly path: string; readonly matchCount: number }

/** Entries that one fragment may cost: some milliseconds. Only fragments of which nearly every word has one come near. */
const entriesMax = 300_000;

const before = (one: Hit, other: Hit): boolean => one.matchCount > other.matchCount || (one.matchCount === other.matchCount && one.path < other.path);
