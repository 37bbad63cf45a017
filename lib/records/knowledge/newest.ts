/** Where a document stands among all, last changed first. */
export interface Dated {
  readonly path: string;
  /** Epoch milliseconds. */
  readonly changedAt: number;
}

export interface Document extends Dated {
  readonly bytes: number;
  /** Changes with the content (`stampOf`). */
  readonly stamp: string;
}

/**
 * The `limit` documents that were changed last, of those behind `after`, in small steps: no list of all is made, nor
 * sorted. `known`: folder → name → stamp; what could not be read has none.
 */
export function* newestOf(
  known: ReadonlyMap<string, ReadonlyMap<string, string>>,
  limit: number,
  after?: Dated,
): Generator<void, readonly Document[]> {
  const newest: Document[] = [];
  let met = 0;
  for (const [folder, stamps] of known)
    for (const [name, stamp] of stamps) {
      if ((met += 1) % 2_000 === 0) yield;
      if (stamp === '') continue;
      const [changedAt = 0, bytes = 0] = stamp.split(':').map(Number);
      const document = { path: `${folder}/${name}`, changedAt, bytes, stamp };
      if (after !== undefined && !isBefore(after, document)) continue;
      const last = newest[limit - 1];
      if (last !== undefined && !isBefore(document, last)) continue;
      const place = newest.findLastIndex((one) => isBefore(one, document)) + 1;
      newest.splice(place, 0, document);
      if (newest.length > limit) newest.pop();
    }
  return newest;
}

const isBefore = (one: Dated, other: Dated): boolean =>
  one.changedAt > other.changedAt || (one.changedAt === other.changedAt && one.path < other.path);
