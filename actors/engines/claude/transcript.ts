import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TranscriptEntry } from '../engine.js';
import { configurationFolder, conversationFolder } from './folders.js';

/**
 * The record that Claude Code keeps of a conversation: a file of JSON lines, below a folder that is named for
 * where it worked. Anyone who goes on in it from a terminal writes there as well. Only words are read: what
 * tools did, what helpers of the agent said among themselves and what the program noted for itself is passed
 * over.
 */
export interface ClaudeRecords {
  /** Where the program keeps its things. Default: CLAUDE_CONFIG_DIR, else `~/.claude`. */
  readonly folder?: string | undefined;
}

/**
 * `await readClaudeTranscript('5f0c…', '/home/me/garden')`. Empty where there is none; the newest 4 MiB of a
 * longer one.
 */
export async function readClaudeTranscript(
  nativeId: string,
  cwd: string,
  { folder }: ClaudeRecords = {},
): Promise<readonly TranscriptEntry[]> {
  const home = folder ?? configurationFolder({});
  const text = await tailOf(join(await conversationFolder(home, cwd), `${nativeId}.jsonl`));
  return text.split('\n').flatMap(entryOf);
}

/** The file, and the folder of its helpers beside it. */
export async function eraseClaudeTranscript(
  nativeId: string,
  cwd: string,
  { folder }: ClaudeRecords = {},
): Promise<void> {
  const conversations = await conversationFolder(folder ?? configurationFolder({}), cwd);
  await rm(join(conversations, `${nativeId}.jsonl`), { force: true });
  await rm(join(conversations, nativeId), { recursive: true, force: true });
}

async function tailOf(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - bytesMax);
    const bytes = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

const bytesMax = 4 * 2 ** 20;

interface Line {
  readonly type?: unknown;
  readonly uuid?: unknown;
  readonly timestamp?: unknown;
  readonly isSidechain?: unknown;
  readonly isMeta?: unknown;
  readonly isCompactSummary?: unknown;
  readonly message?: { readonly content?: unknown };
}

/** A line that is none, or was cut, is passed over: the program may be writing it now. */
function entryOf(line: string): readonly TranscriptEntry[] {
  let read: Line | null;
  try {
    read = JSON.parse(line) as Line | null;
  } catch {
    return [];
  }
  if (read === null || typeof read !== 'object' || (read.type !== 'user' && read.type !== 'assistant'))
    return [];
  if (read.isSidechain === true || read.isMeta === true || read.isCompactSummary === true) return [];
  const timestamp = Date.parse(String(read.timestamp));
  const content = wordsOf(read.message?.content).trim();
  if (
    Number.isNaN(timestamp) ||
    typeof read.uuid !== 'string' ||
    !/^[\w-]{1,64}$/.test(read.uuid) ||
    content === '' ||
    /^<(?:command|local-command)-/.test(content)
  )
    return [];
  return [{ id: read.uuid, role: read.type, content, timestamp }];
}

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((block: unknown) => {
      const { type, text } = (block ?? {}) as { readonly type?: unknown; readonly text?: unknown };
      return type === 'text' && typeof text === 'string' ? [text] : [];
    })
    .join('\n\n');
}
