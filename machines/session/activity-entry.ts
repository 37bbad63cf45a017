import type { Json } from '../outputs.js';

/**
 * A message that tells what an agent did in a turn: a tool that it used and what that said, what it thought or
 * said meanwhile, a file that it changed, a permission that it asked for.
 */
export type ActivityEntry = {
  readonly id: string;
  readonly content: string;
  readonly toolCall?: string;
  readonly toolId?: string;
  readonly media?: Json;
  readonly meta: { readonly kind: ActivityKind; readonly turnId: string } & Readonly<Record<string, Json>>;
  /** It goes on, and will be written again in the same place when it has ended. */
  readonly isOpen: boolean;
};

export type ActivityKind = (typeof activityKinds)[number];

const activityKinds = [
  'tool',
  'thinking',
  'remark',
  'file-change',
  'permission',
  'changes',
  'omitted',
] as const;

/** Rather than what was said to the agent or answered by it. */
export const isActivity = (row: { readonly meta?: unknown }): boolean =>
  activityKinds.some((kind) => kind === (row.meta as { readonly kind?: unknown } | null | undefined)?.kind);

/** As its row was written, where that tells what an agent did and still goes on. */
export function openEntryIn(row: unknown): ActivityEntry | undefined {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return undefined;
  const { role: _role, timestamp: _at, ...entry } = row as MessageWith<ActivityEntry>;
  const state = isActivity(entry) ? entry.meta['state'] : undefined;
  return state === 'running' || state === 'pending' ? { ...entry, isOpen: true } : undefined;
}

type MessageWith<Entry> = Omit<Entry, 'isOpen'> & { readonly role: Json; readonly timestamp: Json };

/** All words of a message, also those of tools: what a search looks through. */
export function wordsOf({ content, meta }: { readonly content: string; readonly meta?: unknown }): string {
  const { toolInput, toolOutput, diff } = (meta ?? {}) as Readonly<Record<string, unknown>>;
  return [content, toolInput, toolOutput, diff].filter((part) => typeof part === 'string').join('\n');
}

/** The place of a message that is still open. `at` in epoch milliseconds. */
export type OpenMessage = {
  readonly id: string;
  readonly turnId: string;
  readonly n: number;
  readonly at: number;
};

export const activityLimits = {
  /** Of messages that one event may bring. */
  entriesMax: 64,
  bytesMax: 512 * 1024,
  /** Of one turn. */
  openMax: 64,
} as const;
