import { system } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { Records } from '../../records/records.js';
import type { App } from '../app.js';
import { keepFile, mediaOf, type Media } from '../files.js';

/**
 * What a tool of a session said, as a managed file below the session's uploads; undefined where there is no room
 * for it. Nothing in it is the operator's token.
 */
export async function keepOutput(
  app: App,
  records: Records,
  sessionId: string,
  { filename, text }: { readonly filename: string; readonly text: string },
): Promise<Media | undefined> {
  const clean = app.redact?.(text) ?? text;
  const kept = await keepFile<Media>(
    { app, caller: system('tool-output') },
    records,
    { content: Buffer.from(clean).toString('base64'), filename },
    {
      name: 'keep-output',
      actors: [],
      sessionId,
      places: { base: '', folders: [] },
      decide: (_turns, file) => mediaOf(file),
    },
  );
  return isRefusal(kept) ? undefined : kept.body;
}
