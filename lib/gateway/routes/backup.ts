import { z } from 'zod';
import { route, type Route } from '../route.js';
import { refuse } from '../../../machines/refusals.js';

/**
 * Copies the live instance to a folder of this machine; without one, to where backups by schedule go. Rejects with an
 * error whose message is for the operator.
 */
export type BackUp = (target?: string) => Promise<{
  readonly target: string;
  readonly files: number;
  readonly bytes: number;
  readonly seq: number;
}>;

/** `POST /api/backup`: only where the one who opened the gateway gave it the means. */
export function backupRoutes(backUp: BackUp | undefined): readonly Route[] {
  if (backUp === undefined) return [];
  return [
    route(
      'POST',
      '/api/backup',
      'backup.create',
      {
        about:
          "Back up the whole instance, as of one moment, to a new folder on the gateway's " +
          'machine, or to `backup.to` of config.yaml. Returns when it is complete.',
        body: z.object({
          target: z
            .string()
            .min(1)
            .max(4_096)
            .startsWith('/', 'must be an absolute path')
            .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters')
            .optional()
            .describe(
              'Must not exist, or be an empty folder outside the home. Absent: one backup of the schedule, now.',
            ),
        }),
        answer: z.object({
          target: z.string(),
          files: z.int(),
          bytes: z.int(),
          seq: z.int().describe('Log position of the copy.'),
        }),
        status: 201,
        refusals: ['CONFLICT'],
      },
      async ({ body }) => {
        try {
          const { target, files, bytes, seq } = await backUp(body.target);
          return { body: { target, files, bytes, seq }, status: 201 };
        } catch (error) {
          // Another process's folder, a full disk, a place within the home: the operator must choose another
          // target.
          return refuse('CONFLICT', {}, error instanceof Error ? error.message : String(error));
        }
      },
    ),
  ];
}
