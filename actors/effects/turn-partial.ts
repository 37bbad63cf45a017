import type { Json } from '../../machines/outputs.js';
import type { EffectContext } from '../contracts.js';
import type { TurnResult } from '../engines/engine.js';
import type { SpawnNote } from '../engines/process.js';
import { firstBytes } from '../engines/process/output.js';

/**
 * The half of an answer is worth keeping. A session that left the turn is told at once. A supervisor that
 * stops may not hear the outcome any more, so it stands in the note, where `recover` finds it. With the store
 * gone nobody can be told.
 */
export async function tellPartial(
  told: TurnResult,
  turnId: string,
  context: EffectContext,
  spawnNote: SpawnNote | undefined,
): Promise<void> {
  if (told.text === '' && told.usage === undefined) return;
  const usage = told.usage === undefined ? {} : { usage: { ...told.usage } };
  const telling =
    context.reason() === 'stopping'
      ? context.checkpoint({ ...spawnNote, partial: firstBytes(told.text, partialBytesMax) })
      : context.send({ type: 'turn.partial', turnId, text: told.text, ...usage });
  await telling.catch(() => undefined);
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
