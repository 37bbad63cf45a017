import { z } from 'zod';
import { refuse } from '../../../machines/refusals.js';
import { route, type Route } from '../route.js';

/** Copies the live instance to a folder of this machine. Rejects with an error whose message is for the operator. */
export type BackUp = (target: string) => Promise<{ readonly target: string; readonly files: number; readonly bytes: number; readonly seq: number }>;

/** `POST /api/backup`: only where whoever opened the gateway gave it the means. */
export function backupRoutes(backUp: BackUp | undefined): readonly Route[] {
  if (backUp === undefined) return [];
  return [
    route('POST', '/api/backup', 'backup.create', {
      about: 'Copy the whole instance, as of one moment, to a new folder on the gateway\'s machine. Answers when it is complete.',
      body: z.object({ target: z.string().min(1).max(4_096).startsWith('/', 'must be an absolute path').regex(/^[^\p{Cc}]*$/u, 'must not hold control characters').describe('Must not exist, or be an empty folder outside the home.') }),
      answer: z.object({ target: z.string(), files: z.int(), bytes: z.int(), seq: z.int().describe('Log position of the copy.') }),
      status: 201,
      refusals: ['CONFLICT'],
    }, async ({ body }) => {
      try {
        return { body: await backUp(body.target), status: 201 };
      } catch (error) {
        // Another process's folder, a full disk, a place within the home: the operator must choose another target.
        return refuse('CONFLICT', {}, error instanceof Error ? error.message : String(error));
      }
    }),
  ];
}
