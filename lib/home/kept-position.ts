import { z } from 'zod';
import type { PositionKeeper } from '../store/postgres/known-position.js';
import { readPlainFile, writeAtomically } from './atomic-file.js';

/** Keeps in a file of the home how far the log of `store`, the setting, was seen to reach. */
export function keptPosition(path: string, store: string): PositionKeeper {
  return {
    async read() {
      const bytes = await readPlainFile(path, bytesMax);
      if (bytes === undefined) return undefined;
      const kept = file.safeParse(parsed(bytes.toString('utf8')));
      // Of another database, or damaged: then nothing is known, as on a new machine
      return kept.success && kept.data.store === store ? kept.data : undefined;
    },
    write: ({ seq, chain }) =>
      writeAtomically(path, `${JSON.stringify({ store, seq, chain })}\n`, { mode: 0o600 }),
  };
}

const bytesMax = 16_384;
const file = z.object({ store: z.string(), seq: z.int(), chain: z.string() });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
