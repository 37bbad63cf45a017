import { z } from 'zod';
import { placeOf } from '../store/postgres/connection.js';
import type { PositionKeeper } from '../store/postgres/known-position.js';
import { readPlainFile, writeAtomically } from './atomic-file.js';

/**
 * Keeps in a file of the home how far the log of `store`, the setting, was seen to reach. A copy that is promoted has
 * another address: the database and the home in it are what it is known by.
 */
export function keptPosition(path: string, store: string): PositionKeeper {
  const { url, home } = placeOf(store);
  const of = `${new URL(url).pathname}?home=${home}`;
  return {
    async read() {
      const bytes = await readPlainFile(path, bytesMax);
      if (bytes === undefined) return undefined;
      const kept = file.safeParse(parsed(bytes.toString('utf8')));
      // Of another database, or damaged: then nothing is known, as on a new machine
      return kept.success && kept.data.of === of ? kept.data : undefined;
    },
    write: ({ seq, chain, frame }) =>
      writeAtomically(path, `${JSON.stringify({ of, seq, chain, frame })}\n`, { mode: 0o600 }),
  };
}

const bytesMax = 16_384;
const file = z.object({ of: z.string(), seq: z.int(), chain: z.string(), frame: z.int().optional() });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
