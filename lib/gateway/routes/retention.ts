import { z } from 'zod';
import { route, type Route } from '../route.js';

/**
 * Limits by age go by time that has really passed. What only a wall clock claims is held back until a person
 * says whether it has.
 */
const status = z.object({
  now: z.int().describe('The time by which retention deletes, epoch ms.'),
  heldMs: z
    .int()
    .describe(
      'How far the wall clock is ahead of the time that has verifiably passed, ms. 0: the clocks ' +
        'agree. Nothing is deleted for it.',
    ),
  wouldForget: z
    .object({ entries: z.int(), others: z.int() })
    .describe('What would be deleted at once if that time were allowed: log entries, and other records.'),
});

const decision = z.object({
  decision: z
    .enum(['allow', 'dismiss'])
    .describe('allow: that much time has passed. dismiss: it has not, the clock was set.'),
});

export const retentionRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/retention',
    'retention.read',
    { about: 'Retention by age, and the time that is held back.', answer: status },
    async ({ app }) => ({ body: await app.supervisor.retention.status() }),
  ),
  route(
    'POST',
    '/api/retention',
    'retention.decide',
    { about: 'Release the time that retention holds back, or dismiss it.', body: decision, answer: status },
    async ({ app, body }) => ({ body: await app.supervisor.retention[body.decision]() }),
  ),
];
