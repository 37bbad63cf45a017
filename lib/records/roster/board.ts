import { join } from 'node:path';
import { readPlainFile, writeAtomically } from '../../home/atomic-file.js';
import { HomeError } from '../../home/home-error.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * The legacy board of a department: a JSON file beside its people, kept for clients that draw it. It is not
 * the ledger of work items, and nothing is decided by it.
 */
export async function readBoard(org: string, department: string): Promise<Json | Refusal> {
  const bytes = await readPlainFile(join(org, department, fileName), boardBytesMax).catch(
    (error: unknown) => {
      if (error instanceof HomeError)
        return refuse(
          'CONFLICT',
          {},
          `org/${department}/${fileName} cannot be read: it is too large, or not a regular file. Write ` +
            'the board again.',
        );
      throw error;
    },
  );
  if (isRefusal(bytes)) return bytes;
  if (bytes === undefined) return [];
  try {
    return JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    return refuse(
      'CONFLICT',
      {},
      `org/${department}/${fileName} is not JSON. Fix it, or write the board again.`,
    );
  }
}

/**
 * Replaces the file whole, if it can be read again: indentation makes many short members several times as
 * long. The department must exist: the caller has looked.
 */
export async function writeBoard(org: string, department: string, board: Json): Promise<Refusal | undefined> {
  const text = `${JSON.stringify(board, null, 2)}\n`;
  if (Buffer.byteLength(text) > boardBytesMax)
    return refuse(
      'PAYLOAD_TOO_LARGE',
      { bytesMax: boardBytesMax },
      'The file of the board would be longer than 1 MiB.',
    );
  await writeAtomically(join(org, department, fileName), text, { mode: 0o600 });
  return undefined;
}

const fileName = 'board.json';
export const boardBytesMax = 1_048_576;
