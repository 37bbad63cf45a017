import type { Json } from '../../machines/outputs.js';

/** What an entry of the log says of the snapshot: all of it, or what changed in the context. */
export interface Change {
  readonly whole?: {
    readonly value: Json;
    readonly context: Readonly<Record<string, Json>>;
    readonly status?: 'done' | 'error';
  };
  readonly value?: Json;
  readonly set?: Readonly<Record<string, Json>>;
  readonly unset?: readonly string[];
  readonly status?: 'done' | 'error';
}

/** A host's Dates and Maps are kept in superjson's envelope: for people its plain part is enough. */
export function decodeChange(snapshot: Json): Change {
  const change = plain(snapshot) as Change;
  return change.whole === undefined
    ? change
    : { ...change, whole: plain(change.whole) as NonNullable<Change['whole']> };
}

const plain = (value: Json): unknown =>
  (value as { readonly '~'?: { readonly json?: unknown } } | null)?.['~']?.json ?? value;
