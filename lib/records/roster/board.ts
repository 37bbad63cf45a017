import { join } from 'node:path';
import { readPlainFile, writeAtomically } from '../../home/atomic-file.js';
import type { Json } from '../../../machines/ground.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * The legacy board of a department: a JSON file beside its people, kept for clients that draw it. It is not the
 * ledger of work items, and nothing is decided by it.
 */
export async function readBoard(org: string, department: string): Promise<Json | Refusal> {
  const bytes = await readPlainFile(join(org, department, fileName), boardBytesMax);
  if (bytes === undefined) return [];
  try {
    return JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    return refuse('CONFLICT', {}, `org/${department}/${fileName} is not JSON. Mend it, or write the board anew.`);
  }
}

/** Replaces the file whole. The department must exist: the caller has looked. */
export async function writeBoard(org: string, department: string, board: Json): Promise<void> {
  await writeAtomically(join(org, department, fileName), `${JSON.stringify(board, null, 2)}\n`, { mode: 0o600 });
}

const fileName = 'board.json';
export const boardBytesMax = 1_048_576;
