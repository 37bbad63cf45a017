import { constants } from 'node:fs';
import { open, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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
  const conversations = await ownConversations(cwd, folder);
  if (conversations === undefined) return [];
  const text = await tailOf(join(conversations, `${nativeId}.jsonl`));
  return text.split('\n').flatMap(entryOf);
}

/** The file, and the folder of its helpers beside it. */
export async function eraseClaudeTranscript(
  nativeId: string,
  cwd: string,
  { folder }: ClaudeRecords = {},
): Promise<void> {
  const conversations = await ownConversations(cwd, folder);
  if (conversations === undefined) return;
  await rm(join(conversations, `${nativeId}.jsonl`), { force: true });
  await rm(join(conversations, nativeId), { recursive: true, force: true });
}

/**
 * Agents write there, and the gateway reads: a link could lead to what is hidden from them. Undefined where one has
 * taken the folder's place.
 */
async function ownConversations(cwd: string, folder: string | undefined): Promise<string | undefined> {
  const wanted = await conversationFolder(folder ?? configurationFolder({}), cwd);
  const around = await realpath(dirname(wanted)).catch(() => undefined);
  const found = await realpath(wanted).catch(() => undefined);
  return around !== undefined && found === join(around, basename(wanted)) ? found : undefined;
}

/** No pipe is waited for: a few of them would stop every file of the gateway. */
async function tailOf(path: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.nlink !== 1) return '';
    const { size } = facts;
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
