import type { Json } from '../../machines/outputs.js';
import type { EffectContext } from '../contracts.js';
import type { TurnResult } from '../engines/engine.js';
import type { SpawnNote } from '../engines/process.js';
import { firstBytes } from '../engines/process/output.js';

/**
 * The half of an answer is worth keeping. A session that left the turn is told at once. A supervisor that
 * stops may not hear the outcome any more, so it stands in the note, where `recover` finds it. With the store
 * gone no one can be told.
 */
export async function reportPartial(
  result: TurnResult,
  turnId: string,
  context: EffectContext,
  spawnNote: SpawnNote | undefined,
): Promise<void> {
  if (result.text === '' && result.usage === undefined) return;
  const usage = result.usage === undefined ? {} : { usage: { ...result.usage } };
  const reported =
    context.reason() === 'stopping'
      ? context.checkpoint({ ...spawnNote, partial: firstBytes(result.text, partialBytesMax) })
      : context.send({ type: 'turn.partial', turnId, text: result.text, ...usage });
  await reported.catch(() => undefined);
}

const partialBytesMax = 64 * 1024;

/** What an earlier process of ours noted of an answer before it stopped. */
export function partialOf(note: Json | undefined): string {
  const partial =
    typeof note === 'object' && note !== null && !Array.isArray(note)
      ? (note as { readonly partial?: Json }).partial
      : undefined;
  return typeof partial === 'string' ? partial : '';
}
