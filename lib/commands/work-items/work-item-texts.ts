import { inTurn } from '../request.js';
import { inOrder, type Place } from './merge-lists.js';
import type { Facets, Row, Window } from './work-item-ranges.js';
import type { Json } from '../../../machines/outputs.js';
import { workItemOrder } from '../../../machines/work-item/view.js';
import type { Supervisor } from '../../supervisor/contract.js';

/**
 * Search in the text of work items (id, title, body). A substring has no place in an ordered store, so while
 * someone searches the texts stand in memory: bounded in items and characters, kept up to date from the log,
 * gone with the first change after a minute without a search. A ledger that does not fit is searched in its
 * records, as slowly as that is.
 */
export interface Texts {
  /**
   * Items whose text holds `wanted`, within the facets and the window, in the order of lists; undefined where
   * the ledger is too large.
   */
  search(
    wanted: string,
    facets: Facets,
    window: Window | undefined,
    places: number,
  ): Promise<Found | undefined>;
}

export interface Found {
  /** By status, the facet `status` aside. */
  readonly totals: Readonly<Record<string, number>>;
  /** The first `places` in order. */
  readonly places: readonly Place[];
}

/** One per supervisor. */
export function textsOf(supervisor: Supervisor): Texts {
  const known = all.get(supervisor) ?? openTexts(supervisor);
  all.set(supervisor, known);
  return known;
}

const all = new WeakMap<object, Texts>();
const itemsMax = 250_000;
const charsMax = 64 * 1024 * 1024;
const idleMsMax = 60_000;
const sliceItems = 2_000;
const recordsAtOnce = 300;

interface Entry {
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly source: string;
  readonly assignee: string | null;
  readonly department: string | null;
  readonly text: string;
}

interface Book {
  readonly entries: Map<string, Entry>;
  readonly dirty: Set<string>;
  chars: number;
  /** Position in the log up to which `dirty` is told. */
  position: number;
  askedAt: number;
  readonly following: AbortController;
  readonly waiting: Set<() => void>;
}

function openTexts(supervisor: Supervisor): Texts {
  let current: Promise<Book | undefined> | undefined;
  let tooLargeAt = -Infinity;

  async function begin(): Promise<Book | undefined> {
    const book: Book = {
      entries: new Map(),
      dirty: new Set(),
      chars: 0,
      position: supervisor.status.position,
      askedAt: performance.now(),
      following: new AbortController(),
      waiting: new Set(),
    };
    void follow(book)
      .catch(() => undefined)
      .finally(() => {
        current = undefined;
        book.position = Infinity;
        for (const wake of [...book.waiting]) wake();
      });
    try {
      for (let after: string | undefined; ;) {
        const page = await supervisor.iterate('work-item', {
          limit: recordsAtOnce,
          ...(after !== undefined && { after }),
        });
        for (const { id, view } of page) put(book, id, view);
        if (book.entries.size > itemsMax || book.chars > charsMax) break;
        if (page.length < recordsAtOnce) return book;
        after = page.at(-1)?.id;
      }
    } catch (error) {
      book.following.abort(); // the next search begins again
      throw error;
    }
    book.following.abort();
    tooLargeAt = performance.now();
    return undefined;
  }

  /**
   * Which items changed: they are read again by the next search. Ends when no one has searched for a while.
   */
  async function follow(book: Book): Promise<void> {
    for await (const { position: seq, kind, id } of supervisor.watch({
      since: book.position,
      signal: book.following.signal,
    })) {
      if (kind === 'work-item') book.dirty.add(id);
      book.position = seq;
      for (const wake of [...book.waiting]) wake();
      if (performance.now() - book.askedAt > idleMsMax || book.dirty.size > itemsMax) return;
    }
  }

  return {
    async search(wanted, facets, window, places) {
      if (performance.now() - tooLargeAt < idleMsMax) return undefined; // it will not have shrunk
      const book = await (current ??= begin());
      if (book === undefined) return undefined;
      book.askedAt = performance.now();
      await reached(book, supervisor.status.position);
      // Who comes second must see what the first is still reading
      await inTurn(book, 'refresh', () => refresh(supervisor, book));
      return searchIn(book, wanted, facets, window, places);
    },
  };
}

function reached(book: Book, seq: number): Promise<void> {
  if (book.position >= seq) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      if (book.position < seq) return;
      book.waiting.delete(wake);
      resolve();
    };
    book.waiting.add(wake);
  });
}

async function refresh(supervisor: Supervisor, book: Book): Promise<void> {
  const ids = [...book.dirty];
  book.dirty.clear();
  for (const id of ids) {
    const item = await supervisor.get('work-item', id);
    if (item !== undefined) put(book, id, item.view);
  }
}

function put(book: Book, id: string, view: Json): void {
  const row = view as Row;
  const text = `${id}\n${String(row['title'] ?? '')}\n${String(row['body'] ?? '')}`.toLowerCase();
  book.chars += text.length - (book.entries.get(id)?.text.length ?? 0);
  const word = (member: string): string | null => (typeof row[member] === 'string' ? row[member] : null);
  book.entries.set(id, {
    id,
    key: workItemOrder(
      typeof row['rank'] === 'number' ? row['rank'] : null,
      Date.parse(String(row['updatedAt'])),
    ),
    status: String(row['status']),
    source: String(row['source']),
    assignee: word('assignee'),
    department: word('department'),
    text,
  });
}

async function searchIn(
  book: Book,
  wanted: string,
  facets: Facets,
  window: Window | undefined,
  places: number,
): Promise<Found> {
  const totals: Record<string, number> = {};
  const found: Place[] = [];
  let scanned = 0;
  let worst: Place | undefined;
  for (const entry of book.entries.values()) {
    if (++scanned % sliceItems === 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    if (!entry.text.includes(wanted) || !within(entry, facets, window)) continue;
    totals[entry.status] = (totals[entry.status] ?? 0) + 1;
    if (facets.status !== undefined && facets.status !== entry.status) continue;
    if (worst !== undefined && inOrder(entry, worst) > 0) continue;
    found.push({ key: entry.key, id: entry.id });
    if (found.length < 2 * places + sliceItems) continue;
    found.sort(inOrder).length = places;
    worst = found.at(-1);
  }
  return { totals, places: found.sort(inOrder).slice(0, places) };
}

function within(entry: Entry, { source, assignee, department }: Facets, window: Window | undefined): boolean {
  if (source !== undefined && entry.source !== source) return false;
  if (assignee !== undefined && entry.assignee !== assignee) return false;
  if (department !== undefined && entry.department !== department) return false;
  const changed = entry.key.slice(-16);
  return window === undefined || (changed >= window.from && changed <= window.to);
}
