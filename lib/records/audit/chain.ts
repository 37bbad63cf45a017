import { hash as digest } from 'node:crypto';

/**
 * Lines that hold on to each other: each carries its number, the hash of the line before and its own. Who
 * changes, removes, inserts or reorders one breaks the chain there.
 */
export interface AuditLine {
  /** From 1, without a gap, across all files. */
  readonly n: number;
  readonly at: string;
  readonly [member: string]: unknown;
}

export interface Link {
  readonly n: number;
  readonly hash: string;
}

export const beginning: Link = { n: 0, hash: '0'.repeat(64) };

/** The line as it is written, without its line end, and the link to which the next one holds. */
export function chained(
  members: Readonly<Record<string, unknown>>,
  before: Link,
): { readonly text: string; readonly link: Link } {
  const n = before.n + 1;
  const body = JSON.stringify({ n, ...members, prev: before.hash });
  const hash = digest('sha256', body, 'hex');
  return { text: `${body.slice(0, -1)},"hash":"${hash}"}`, link: { n, hash } };
}

/** The link that a line makes, or what is wrong with it. With `before` it must follow upon that. */
export function linkOf(text: string, before?: Link): Link | string {
  const cut = text.lastIndexOf(',"hash":"');
  const own = cut === -1 ? undefined : /^,"hash":"([0-9a-f]{64})"\}$/.exec(text.slice(cut))?.[1];
  if (own === undefined) return 'not a line of this log';
  const body = `${text.slice(0, cut)}}`;
  if (digest('sha256', body, 'hex') !== own) return 'it was changed';
  const { n, prev } = JSON.parse(body) as { n?: unknown; prev?: unknown };
  if (typeof n !== 'number' || typeof prev !== 'string') return 'not a line of this log';
  if (before !== undefined && n !== before.n + 1)
    return `line ${n} follows upon ${before.n}: lines were removed, inserted or reordered`;
  if (before !== undefined && prev !== before.hash) return 'the line before it was changed or removed';
  return { n, hash: own };
}
