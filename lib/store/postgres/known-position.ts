import { StoreError } from '../contract.js';

/** A place in the log of a home that is known to have been reached. */
export interface Position {
  readonly seq: number;
  readonly chain: string;
  /** Of all commits, those without an entry of the log too. Absent where an older version kept it. */
  readonly frame?: number | undefined;
}

/** Where a node keeps how far it has seen a home's log reach: also after a restart of its own. */
export interface PositionKeeper {
  read(): Promise<Position | undefined>;
  write(position: Position): Promise<void>;
}

/**
 * A database can go back: it fails over to a standby that lacks its last commits, or is restored from a backup. Nothing
 * in it says so. Who has seen more of the log refuses to go on, for what was acknowledged would be gone without a word.
 */
export interface KnownPosition {
  /** The furthest that was seen. */
  readonly seen: Position | undefined;
  /**
   * The database says that the log reaches so far, and which chain its entry at `seen` carries, where it still has
   * that. Throws REFUSED where it was seen to reach further, or to go on differently.
   */
  see(position: Position, chainAtSeen?: string): void;
  /** The database has acknowledged a commit of this node. */
  reached(position: Position): void;
  /**
   * Keep what was seen, where that is more than what is kept. Nodes that share a folder keep it in one place: what
   * another has kept there since is not taken back. `isRefused`: nor is that given up which a person has let go.
   */
  keep(how?: { readonly isRefused?: boolean }): Promise<void>;
}

/** `const known = await knownPosition(options.positions, place.home); known.see(claimed); await known.keep()` */
export async function knownPosition(
  keeper: PositionKeeper | undefined,
  home: string,
): Promise<KnownPosition> {
  let seen = await keeper?.read();
  let kept = seen;
  return {
    get seen() {
      return seen;
    },
    see(position, chainAtSeen = seen?.chain) {
      const there = position.seq === seen?.seq ? position.chain : chainAtSeen;
      const isOther =
        seen !== undefined &&
        (position.seq < seen.seq || there !== seen.chain || (position.frame ?? 0) < (seen.frame ?? 0));
      if (isOther) throw new StoreError('REFUSED', lossSentence(home, seen as Position, position));
      seen = position;
    },
    reached(position) {
      const { seq = -1, frame = 0 } = seen ?? {};
      if (position.seq > seq || (position.frame ?? 0) > frame) seen = position;
    },
    async keep({ isRefused = false } = {}) {
      if (keeper === undefined || seen === undefined || isSame(seen, kept)) return;
      const there = await keeper.read();
      if (!isSame(there, kept) && (isRefused || (there !== undefined && there.seq >= seen.seq))) return;
      await keeper.write(seen);
      kept = seen;
    },
  };
}

const isSame = (one: Position | undefined, other: Position | undefined): boolean =>
  one?.chain === other?.chain && one?.frame === other?.frame;

function lossSentence(home: string, seen: Position, now: Position): string {
  const of = `of the home "${home}"`;
  const [gap, unseen] = [seen.seq - now.seq, (seen.frame ?? 0) - (now.frame ?? 0)];
  const ends =
    gap > 0
      ? `it ends at ${now.seq}, and ${seen.seq} was reached`
      : `of ${seen.frame} it holds ${now.frame}, though none with an entry of the log is missing`;
  const count = gap > 0 ? gap : unseen;
  // At least: what a node knows from its file may be a second old
  const lost =
    count > 0
      ? `has lost at least ${count} commit${count === 1 ? '' : 's'} ${of}: ${ends}`
      : `holds another history ${of} than the one that was seen at ${seen.seq}`;
  return (
    `The database ${lost}. It was restored, or failed over to a copy that lacked them. Bring back the copy that has ` +
    'them, or start with "--accept-loss" on each node to go on without them.'
  );
}
