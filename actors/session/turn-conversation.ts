import type { Json } from '../../machines/outputs.js';
import { isActivity } from '../../machines/session/activity-entry.js';
import type { EffectContext } from '../contracts.js';
import type { TurnImage, TurnMessage } from '../engines/engine.js';
import { attachedFiles, picturesIn, type AttachmentPath } from './turn-attachments.js';

/** What an agent is told: the new messages as one prompt, and what was said before. */
export interface Conversation {
  readonly prompt: string;
  readonly transcript: readonly TurnMessage[];
  /** Of the files that came with the new messages. */
  readonly images: readonly TurnImage[];
}

/** Engines that cannot resume get this much of the past; their own bound on bytes comes on top. */
const messagesMax = 500;

/**
 * Read the rows of `messages`: those named are the prompt, the others the past. `isElsewhere`: the agent is on another
 * machine, where no attached file lies.
 */
export async function readConversation(
  messageIds: readonly string[],
  context: Pick<EffectContext, 'rows'>,
  path?: AttachmentPath,
  { isElsewhere = false }: { readonly isElsewhere?: boolean } = {},
): Promise<Conversation> {
  const all = await context.rows('messages', {
    last: messagesMax,
    where: (row) => !isActivity(row as { readonly meta?: Json }), // thousands of tools must not hide what was said
  });
  const rows = all.slice(all.findLastIndex(isNewBeginning) + 1).flatMap(readMessage);
  const asked = rows.filter(({ id }) => messageIds.includes(id));
  const missing = messageIds.filter((id) => !asked.some((row) => row.id === id));
  if (missing.length > 0) throw new Error(`message ${missing[0]} is not stored`);
  const places: string[] = [];
  const placed: AttachmentPath = async (id) => {
    const place = await path?.(id);
    if (place !== undefined) places.push(place);
    return isElsewhere ? undefined : place;
  };
  const said = await Promise.all(
    asked.map(
      async ({ role, content, media }) =>
        (role === 'notification' ? quoted(content) : content) + (await attachedFiles(media, placed)),
    ),
  );
  return {
    prompt: said.join('\n\n'),
    images: await picturesIn(places),
    transcript: rows
      .filter(({ id, isAside }) => !isAside && !messageIds.includes(id))
      .map(({ role, content }) => ({ role, content })),
  };
}

/**
 * What other sessions tell is news, not a person's word: each line is quoted, so that no text of theirs can
 * pass for an instruction, whatever it holds.
 */
const quoted = (content: string): string =>
  ['[notification]', ...content.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `> ${line}`)].join('\n');

interface MessageRow extends TurnMessage {
  readonly id: string;
  readonly isAside: boolean;
  readonly media: Json;
}

function readMessage(row: Json): readonly MessageRow[] {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return [];
  const { id, role, content, toolCall, meta, media } = row as { readonly [member: string]: Json | undefined };
  if (typeof id !== 'string' || typeof content !== 'string') return [];
  if (role !== 'user' && role !== 'assistant' && role !== 'notification') return [];
  return [{ id, role, content, isAside: isGiven(toolCall) || isErrorNote(meta), media: media ?? null }];
}

const isGiven = (value: Json | undefined): boolean => value !== undefined && value !== null;

/** A person began the conversation again: what was said before is no longer told. */
const isNewBeginning = (row: Json): boolean =>
  (row as { readonly meta?: { readonly kind?: Json } | null } | null)?.meta?.kind === 'reset';

/** "Error: …" is what a person reads when a turn failed; the agent never said it. */
const isErrorNote = (meta: Json | undefined): boolean =>
  typeof meta === 'object' && meta !== null && (meta as { readonly kind?: Json }).kind === 'error';
