import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { importConversation } from '../../commands/sessions/import-transcript.js';
import { refuse } from '../../../machines/refusals.js';
import { perMinute } from '../limiter.js';
import { route, type Route } from '../route.js';
import { text } from '../schemas.js';

const body = z.looseObject({
  session_id: text(200)
    .min(1)
    .describe("The conversation's id in the agent's own program, as Claude Code gives it to its hooks."),
});

/**
 * `POST /api/internal/hook`: an agent's program that a person started says that a conversation went on. Only the hook
 * secret of gateway.json opens it, and it opens nothing else. What was said is read where the engine keeps it; paths
 * that the request names are not looked at.
 */
export function hookRoutes(secret: string | undefined): readonly Route[] {
  if (secret === undefined) return [];
  const expected = hash(secret);
  let limiter: ReturnType<typeof perMinute> | undefined;
  return [
    route(
      'POST',
      '/api/internal/hook',
      'hook.receive',
      {
        about:
          'For hooks of agents that people run themselves: the session that holds the conversation takes over what ' +
          'was said there. With the hook secret of gateway.json; at most 60 per minute.',
        headers: { 'x-svc-hook-secret': '`secret` of gateway.json.' },
        credential: async ({ header }) =>
          timingSafeEqual(hash(header('x-svc-hook-secret') ?? ''), expected)
            ? undefined
            : refuse('UNAUTHENTICATED', {}, 'The hook secret is missing or wrong.'),
        body,
        bodyBytesMax: 256 * 1024,
        answer: z.object({ sessionId: z.string().nullable().describe('The session; null: none holds it.') }),
        refusals: ['UNAUTHENTICATED', 'TOO_MANY'],
      },
      async ({ app, body: { session_id: nativeId } }) => {
        limiter ??= perMinute(hooksPerMinute, () => app.supervisor.environment.clock.monotonic());
        const resetAt = limiter.take();
        if (resetAt !== undefined) return refuse('TOO_MANY', { resetAt }, 'Too many hooks in a minute.');
        return { body: { sessionId: (await importConversation(app, nativeId)) ?? null } };
      },
    ),
  ];
}

/** Of one length, whatever was shown. */
const hash = (shown: string): Buffer => createHash('sha256').update(shown).digest();
const hooksPerMinute = 60;
