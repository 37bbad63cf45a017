import { hash } from 'node:crypto';

/**
 * The hash chain of the log. Each entry's value ends in `,"chain":"<43 characters>"}`: the SHA-256 of the
 * entry before it and of its own text. So a hole, a swap or an edit anywhere shows at the next entry, and one
 * hash names the whole history.
 */

/** `chainOf(previousChain, '{"seq":1}')`: 43 characters base64url. `previous` is `''` for the first entry. */
export function chainOf(previous: string, body: string): string {
  return hash('sha256', previous + body, 'base64url');
}

/** Close a log entry: `body` is a non-empty JSON object without `chain`; `value` is what the store keeps. */
export function sealEntry(
  previous: string,
  body: string,
): { readonly value: string; readonly chain: string } {
  const chain = chainOf(previous, body);
  return { value: `${body.slice(0, -1)},"chain":"${chain}"}`, chain };
}

const chainLength = 43;
const memberLength = ',"chain":""}'.length + chainLength;

/** The chain a stored entry carries, or undefined where it carries none. */
export function chainIn(value: string): string | undefined {
  const member = value.slice(-memberLength);
  return member.startsWith(',"chain":"') && member.endsWith('"}') ? member.slice(10, -2) : undefined;
}

/** Does this stored entry follow `previous`? Returns its chain, or undefined where it does not fit. */
export function checkEntry(previous: string, value: string): string | undefined {
  const chain = chainIn(value);
  if (chain === undefined) return undefined;
  return chainOf(previous, `${value.slice(0, -memberLength)}}`) === chain ? chain : undefined;
}

const blankMark = ',"erased":true';

/** Was this stored entry blanked? Any other entry ends in the brace of its snapshot. */
export const isBlanked = (value: string): boolean =>
  value.endsWith(blankMark, value.length - memberLength) && chainIn(value) !== undefined;

/**
 * An entry whose contents were erased: where it stands, of what, when and by whom, with the chain that it had. So
 * the next entry still follows from it, though what it said can no longer be checked.
 */
export function blankedEntry(value: string): string {
  const { seq, tx, last, prev, base, at, kind, id, rev, machine, version, cause, by } = JSON.parse(
    value,
  ) as Readonly<Record<string, unknown>>;
  const kept = { seq, tx, last, prev, base, at, kind, id, rev, machine, version };
  const gone = { event: { type: 'kernel.blank' }, from: null, to: null, effects: [], frames: [] };
  const body = JSON.stringify({ ...kept, ...gone, cause, by, snapshot: {} });
  return `${body.slice(0, -1)}${blankMark},"chain":"${chainIn(value) ?? ''}"}`;
}
