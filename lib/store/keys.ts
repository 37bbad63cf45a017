/**
 * The keyspace: every key that the kernel writes is built here, so that one page shows what a store holds.
 * Numbers are zero-padded to a fixed width, so the byte order of keys is the order of the numbers; parts are
 * percent-encoded where they hold more than `[A-Za-z0-9._:~-]`, so a key never holds a stray `/`, a control
 * character or anything outside ASCII.
 */
export const keys = {
  /** Actor record: `a/<kind>/<id>`. */
  actor: (kind: string, id: string): string => `a/${part(kind)}/${part(id)}`,
  /** Entry of the ordered log: `l/<seq>`. */
  log: (seq: number): string => `l/${digits(seq)}`,
  /** Due-time index: `t/<due>/<kind>/<id>/<timer>`, due in epoch ms. */
  timer: (due: number, kind: string, id: string, timer: string): string =>
    `t/${digits(due)}/${part(kind)}/${part(id)}/${part(timer)}`,
  /**
   * Effect to be started or in flight: `o/<kind>/<id>/<rev>.<i>`; `key` is `<rev>.<i>`, as in the actor's
   * record.
   */
  outbox: (kind: string, id: string, key: string): string => `o/${part(kind)}/${part(id)}/${key}`,
  /** Outcome of a step of an effect in flight: `j/<kind>/<id>/<rev>.<i>/<name>`, by the effect's outbox row. */
  step: (outbox: string, name: string): string => `j${outbox.slice(1)}/${part(name)}`,
  /** Where the outcomes of steps of an actor's effects begin. */
  steps: (kind: string, id: string): string => `j/${part(kind)}/${part(id)}/`,
  /**
   * Event accepted and not yet stepped: `i/<kind>/<id>/<seq>.<i>`; a name instead of `i` where no log entry
   * sent it.
   */
  inbox: (kind: string, id: string, seq: number, index: number | string): string =>
    `i/${part(kind)}/${part(id)}/${digits(seq)}.${typeof index === 'number' ? digits(index, 4) : part(index)}`,
  /** Row of a collection: `c/<collection>/<kind>/<id>/<n>`. */
  row: (collection: string, kind: string, id: string, n: number | string): string =>
    `c/${part(collection)}/${part(kind)}/${part(id)}/${typeof n === 'number' ? digits(n) : part(n)}`,
  /** Place in a list: `x/<kind>/<index>/<key>/<id>`. */
  list: (kind: string, index: string, key: string, id: string): string =>
    `x/${part(kind)}/${part(index)}/${part(key)}/${part(id)}`,
  /** How many actors of a kind are counted under a name: `n/<kind>/<name>`. */
  count: (kind: string, name: string): string => `n/${part(kind)}/${part(name)}`,
  /** Where an actor stands: `s/<kind>/<state>/<since>/<id>`, since in epoch ms. */
  place: (kind: string, state: string, since: number, id: string): string =>
    `s/${part(kind)}/${part(state)}/${digits(since)}/${part(id)}`,
  /** Idempotency record: `k/<scope>/<key>`. */
  idempotency: (scope: string, key: string): string => `k/${part(scope)}/${part(key)}`,
  /** Row that names a key to be deleted at `due` (epoch ms): `e/<due>/<key>`. */
  expiry: (due: number, key: string): string => `e/${digits(due)}/${part(key)}`,
  /** Dead letter: `d/<id>`. */
  deadLetter: (id: string): string => `d/${part(id)}`,
  /** Place of a dead letter in their list, oldest first: `g/<when>/<id>`, when in epoch ms. */
  deadLetterPlace: (at: number, id: string): string => `g/${digits(at)}/${part(id)}`,
  /** Child of an actor: `p/<parentKind>/<parentId>/<kind>/<id>`. */
  child: (parentKind: string, parentId: string, kind: string, id: string): string =>
    `p/${part(parentKind)}/${part(parentId)}/${part(kind)}/${part(id)}`,
  /** Single values: `m/<name>`. */
  meta: (name: string): string => `m/${part(name)}`,
} as const;

/**
 * Where LevelDB keeps its own position: before every key a group may write, so no page or count ever meets
 * it.
 */
export const headKey = ' head';
export const firstKey = '!';

/**
 * Up to which position log entries were let go, and the chain of the last of them, which the first one kept
 * follows.
 */
export const logFloorKey = 'm/log-floor';
export const logFloorChainKey = 'm/log-floor-chain';

/**
 * Everything that begins with `key`: `prefix('c/messages/session/s1/')`. End it with `/` where a whole part
 * is meant. Works because no key holds a byte above `~`.
 */
export function prefix(key: string): { readonly gte: string; readonly lt: string } {
  return { gte: key, lt: `${key}\x7f` };
}

/** The decoded parts of a key: `partsOf('a/session/s%2F1')` is `['a', 'session', 's/1']`. */
export function partsOf(key: string): string[] {
  return key.split('/').map(decodePart);
}

/** Where the timers due at or after `due` begin. */
export const timersFrom = (due: number): string => `t/${digits(due)}`;
/** Where the expiring rows due at or after `due` begin. */
export const expiriesFrom = (due: number): string => `e/${digits(due)}`;

/** A number as it stands in a key. Refuses what would break the order: negative, fractional or too wide. */
export function digits(value: number, width = 16): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a position: ${value}`);
  const text = String(value);
  if (text.length > width) throw new RangeError(`${value} does not fit ${width} digits`);
  return zeros.slice(0, width - text.length) + text;
}

const zeros = '0'.repeat(16);
const plain = /^[A-Za-z0-9._:~-]*$/;
const path = /^[A-Za-z0-9._:~/-]*$/;
/**
 * One part of a key, encoded. A prefix of a text encodes to a prefix of its encoding, so lists can be
 * searched by prefix.
 */
export function part(text: string): string {
  if (plain.test(text)) return text;
  if (path.test(text)) return text.replaceAll('/', '%2F'); // what the keys of lists are made of
  if (typeof (text as unknown) !== 'string')
    throw new TypeError(`an id or a name must be a text, not ${typeof text}`);
  // Half of a surrogate pair is legal in a JavaScript string but not in UTF-8; `%u` keeps two such texts
  // apart.
  return text.replace(pieces, (piece) =>
    loneSurrogate.test(piece) ? `%u${piece.charCodeAt(0).toString(16)}` : encodeURIComponent(piece),
  );
}

const pieces = /\p{Surrogate}|[^\p{Surrogate}]+/gu;
const loneSurrogate = /^\p{Surrogate}$/u;

function decodePart(text: string): string {
  if (!text.includes('%')) return text;
  return text
    .split(/(%u[0-9a-f]{4})/)
    .map((piece) =>
      piece.startsWith('%u') ? String.fromCharCode(parseInt(piece.slice(2), 16)) : decodeURIComponent(piece),
    )
    .join('');
}

/** The `n` of a row, from the last part of its key: the number that it was written under, or the name. */
export const rowNumber = (part: string): number | string =>
  /^\d{16}$/.test(part) ? Number(part) : decodeURIComponent(part);

/** Entries of one page at most. */
export const pageMax = 1_000;

/** How many entries a page may hold of which so many are wanted. */
export const pageLimit = (wanted = pageMax): number => Math.max(0, Math.min(wanted, pageMax));
