import { z } from 'zod';
import { decideTrust, readTrust } from '../../commands/trust.js';
import { isRefusal } from '../../../machines/refusals.js';
import { route, type Route } from '../route.js';
import { text } from '../schemas.js';

/** Which projects' settings agents may take over: those that a person has trusted as they are. */
const folder = text(4_096).describe('Absolute path of the project, or of a folder in it.');
const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('Of the files as they were read; others by now: 409.');

const trust = z.object({
  folder: z.string().describe('Root of the project.'),
  state: z
    .enum(['plain', 'trusted', 'untrusted'])
    .describe('`plain`: it sets nothing that runs programs or permits tools.'),
  sha256: z.string().nullable(),
  files: z.array(z.string()).describe('Each with what it sets: `.claude/settings.json (hooks)`.'),
});

export const trustRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/trust',
    'trust.read',
    {
      about: 'What a project sets for agents, and whether it is trusted.',
      query: z.object({ folder }),
      answer: trust,
    },
    async (request) => {
      const found = await readTrust(request, request.query.folder);
      return isRefusal(found) ? found : { body: found };
    },
  ),
  route(
    'POST',
    '/api/trust',
    'trust.decide',
    {
      about: 'Trust the settings of a project as they are, withdraw that, or dismiss what waits for it.',
      body: z.object({
        folder,
        decision: z.enum(['trust', 'withdraw', 'dismiss']),
        sha256: sha256.optional(),
      }),
      answer: trust,
    },
    (request) => decideTrust(request, request.body),
  ),
];
