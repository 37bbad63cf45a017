import postgres from 'postgres';

/** What the log and the journal of effects must show when all is over. */
export interface StoredEntry {
  readonly seq: number;
  readonly kind: string;
  readonly id: string;
  readonly rev: number;
  /** Place of the actor's entry before it; 0: none. */
  readonly prev: number;
  readonly event: { readonly type: string; readonly epoch?: number };
}

/** Each actor's revisions rise by one and name the one before; the epochs of those who took things in never fall. */
export function faultsInLog(log: Iterable<StoredEntry>): readonly string[] {
  const faults: string[] = [];
  const last = new Map<string, StoredEntry>();
  let epoch = 0;
  for (const entry of log) {
    const actor = `${entry.kind}/${entry.id}`;
    const before = last.get(actor);
    if (before !== undefined && entry.rev !== before.rev + 1)
      faults.push(`${actor}: revision ${entry.rev} follows ${before.rev} at ${entry.seq}`);
    else if (entry.prev !== (before?.seq ?? 0))
      faults.push(`${actor}: entry ${entry.seq} names ${entry.prev}, and ${before?.seq ?? 0} was before it`);
    last.set(actor, entry);
    const { epoch: of = epoch } = entry.event;
    if (of < epoch) faults.push(`epoch ${of} follows ${epoch} at ${entry.seq}`);
    epoch = of;
  }
  return faults;
}

/** Every entry that is kept, in order. */
export async function* logOf(url: string): AsyncGenerator<StoredEntry> {
  const sql = postgres(url.replace(/\?.*/, ''), { max: 1 });
  try {
    const rows = sql`select value from troupe_row where key like 'l/%' order by key`.cursor(1_000);
    for await (const page of rows)
      for (const { value } of page) yield JSON.parse(String(value)) as StoredEntry;
  } finally {
    await sql.end();
  }
}

export interface Act {
  readonly what: 'began' | 'ended' | 'recovered';
  readonly key: string;
}

/** No effect begins again, unless it was recovered in between. */
export function begunTwice(journal: readonly Act[]): readonly string[] {
  const begun = new Set<string>();
  return journal.flatMap(({ what, key }) => {
    if (what === 'recovered') begun.delete(key);
    if (what !== 'began') return [];
    if (begun.has(key)) return [`effect ${key} began twice`];
    begun.add(key);
    return [];
  });
}

/** Who owned the home, and since when at the latest; epoch milliseconds of the campaign's clock. */
export interface Ownership {
  readonly epoch: number;
  readonly node: string;
  readonly at: number;
}

/** What an agent did on a node while another one owned the home. */
export function actsOfFormerOwners(
  acts: readonly { readonly node: string; readonly at: number }[],
  owners: readonly Ownership[],
): readonly string[] {
  return acts.flatMap(({ node, at }) => {
    const owner = owners.findLast((each) => each.at <= at);
    if (owner === undefined || owner.node === node) return [];
    return [`an agent of ${node} acted ${Math.round(at - owner.at)} ms after ${owner.node} had taken over`];
  });
}
