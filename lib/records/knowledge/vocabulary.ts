/**
 * All words, each with a number, in pages of text in which fragments are looked for: the search within a page
 * is the engine's own and faster than any tree of ours. A full page never changes again, so that a new word
 * copies no more than the last page.
 */
export class Vocabulary {
  /** In shards, because a large map that grows holds everybody up. */
  private readonly shards = Array.from({ length: 64 }, () => new Map<string, number>());
  private count = 0;
  private readonly pages: Page[] = [];
  /** Where each word begins in its page. */
  private starts = new Uint32Array(1_024);

  get size(): number {
    return this.count;
  }

  numberOf(word: string): number | undefined {
    return this.shardOf(word).get(word);
  }

  /** The number of a word, new or known. */
  add(word: string): number {
    const shard = this.shardOf(word);
    const known = shard.get(word);
    if (known !== undefined) return known;
    const number = this.count;
    this.count += 1;
    shard.set(word, number);
    if (number >= this.starts.length) {
      const more = new Uint32Array(Math.ceil(this.starts.length * 1.5));
      more.set(this.starts);
      this.starts = more;
    }
    let page = this.pages.at(-1);
    if (page === undefined || page.text.length >= pageChars)
      this.pages.push((page = { text: '\n', first: number }));
    this.starts[number] = page.text.length;
    page.text += `${word}\n`;
    return number;
  }

  /**
   * Every word that holds the fragment, and whether it begins with it; a step per page. `beginning`: only
   * those that begin with it.
   */
  *matching(
    fragment: string,
    beginning: boolean,
    visit: (word: number, begins: boolean) => boolean,
  ): Generator<void, void> {
    const needle = beginning ? `\n${fragment}` : fragment;
    for (let place = 0; place < this.pages.length; place += 1) {
      const { text, first } = this.pages[place] as Page;
      const end = this.pages[place + 1]?.first ?? this.count;
      for (let at = text.indexOf(needle); at !== -1;) {
        const word = this.wordAt(first, end, beginning ? at + 1 : at);
        if (!visit(word, beginning || this.starts[word] === at)) return;
        // The word counts once, however often it holds the fragment
        at = text.indexOf(needle, text.indexOf('\n', at + 1));
      }
      yield;
    }
  }

  textOf(word: number): string {
    let low = 0;
    for (let high = this.pages.length - 1; low < high;) {
      const middle = (low + high + 1) >>> 1;
      if ((this.pages[middle] as Page).first <= word) low = middle;
      else high = middle - 1;
    }
    const { text } = this.pages[low] as Page;
    const start = this.starts[word] as number;
    return text.slice(start, text.indexOf('\n', start));
  }

  private shardOf(word: string): Map<string, number> {
    const sum =
      word.charCodeAt(0) +
      7 * word.charCodeAt(word.length - 1) +
      31 * word.charCodeAt(word.length >>> 1) +
      word.length;
    return this.shards[sum & 63] as Map<string, number>;
  }

  /** The word of a page within which that place lies. */
  private wordAt(first: number, end: number, place: number): number {
    let low = first;
    let high = end - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.starts[middle] as number) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

interface Page {
  text: string;
  readonly first: number;
}

const pageChars = 1 << 20;
