import { z } from 'zod';
import { presentSession } from '../../../commands/sessions/read-session.js';
import type { Reply } from '../../../commands/request.js';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import { isoTimeOrNull } from '../../../../machines/sortable.js';
import { idOf } from '../../parse.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { iso } from '../../schemas.js';

/** The answer that a running turn has begun, for who comes in the middle of it. */
const words = z.object({
  messageId: z.string().nullable().describe('Of the message that the answer will be; null: none is begun.'),
  text: z.string().describe('Its first 262,144 characters.'),
  end: z.int().describe('Where `text` ends, as `offset` of `session:delta` counts it.'),
  at: iso.nullable().describe('When the last of it came.'),
});

export const sessionWordsRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/sessions/:id/words',
    'session.words',
    {
      about: 'What the running turn has said so far; `session:delta` goes on from there.',
      answer: words,
      target: 'session',
      refusals: ['NOT_FOUND'],
    },
    readWords,
  ),
];

const none: z.output<typeof words> = { messageId: null, text: '', end: 0, at: null };

async function readWords(request: HttpRequest): Promise<Reply | Refusal> {
  const { app } = request;
  const found = await presentSession(app, idOf(request));
  if (isRefusal(found)) return found;
  const said = app.words?.of(idOf(request));
  if (said === undefined) return { body: none };
  const { redact = (text: string) => text } = app;
  return { body: { ...said, text: redact(said.text), at: isoTimeOrNull(said.at) } };
}
