import { z } from 'zod';
import { refuse, type Refusal } from '../../../../machines/refusals.js';
import { quotasOf, usages } from '../../../commands/authority/quotas.js';
import { causes } from '../../../inspector/causes.js';
import { machineOf, machines, pictureOf } from '../../../inspector/machines.js';
import { pulseOf } from '../../../inspector/pulse.js';
import { stuck } from '../../../inspector/stuck.js';
import { supervision } from '../../../inspector/supervision.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import type { Reply } from '../../../commands/request.js';
import { text, wholeNumber } from '../../schemas.js';

/**
 * The system laid open: who supervises whom, the machines and their pictures, and how one thing led to
 * another. Shapes: lib/inspector/answers.ts.
 */
const pictureQuery = z.object({
  state: text(1000).optional().describe('States to highlight in the picture, as comma-separated paths.'),
  format: z.enum(['json', 'svg']).optional(),
});

const cause = z.looseObject({
  seq: z.int(),
  root: z.int(),
  entries: z.array(z.looseObject({ seq: z.int() })),
  links: z.array(z.object({ from: z.int(), to: z.int(), how: z.string() })),
  titles: z.record(z.string(), z.string()).describe('By `kind/id`.'),
  truncated: z.boolean(),
});
const supervisedKind = z.looseObject({
  kind: z.string(),
  strategy: z.string(),
  intensity: z.number(),
  periodSeconds: z.number(),
  restarts: z.int(),
});
const circuit = z.object({
  type: z.enum(['engine', 'connector']),
  name: z.string(),
  state: z.enum(['closed', 'half-open', 'open']),
  status: z.enum(['works', 'starting', 'failing', 'stopped', 'unavailable']),
  reason: z.string().nullable(),
  since: z.number().nullable().describe('Epoch ms.'),
  nextTry: z.number().nullable().describe('Epoch ms; when it is tried again.'),
});
const machine = z.looseObject({ kind: z.string(), version: z.int(), hash: z.string() });

const stuckQuery = z.object({
  quietSeconds: wholeNumber(0, 86_400)
    .optional()
    .describe('A turn without output for so long is `quiet`. Default 60.'),
  longSeconds: wholeNumber(0, 86_400)
    .optional()
    .describe('What has been at work for so long is `long`. Default 900.'),
});

export const inspectSystemRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/inspect/supervision',
    'inspect.list',
    {
      about:
        'The supervision tree: strategies, restart intensity, failing and halted actors, degraded parts, and why.',
      answer: z.looseObject({
        root: z.looseObject({ state: z.string() }),
        kinds: z.array(supervisedKind),
        circuits: z.array(circuit),
      }),
    },
    async ({ app }) => ({ body: await supervision(app.supervisor, app.engines) }),
  ),
  route(
    'GET',
    '/api/inspect/stuck',
    'inspect.list',
    {
      about:
        'What has stopped or perhaps does not go on, longest first, and the newest hundred dead letters. Of each ' +
        'state the 50 longest are read; `more` names those that hold more. What waits for a decision is ' +
        '`GET /api/attention`.',
      query: stuckQuery,
      answer: z.object({
        stopped: z
          .array(z.looseObject({ kind: z.string(), id: z.string() }))
          .describe('Halted, failed, blocked.'),
        slow: z.array(
          z.looseObject({
            kind: z.string(),
            id: z.string(),
            why: z.enum(['queued', 'quiet', 'long']),
            slowSince: z.number().describe('Epoch ms.'),
            behind: z
              .object({
                workflow: z.string(),
                runs: z.array(z.object({ id: z.string(), title: z.string().nullable() })),
              })
              .nullish()
              .describe('Of a run that is queued: the runs of its workflow one of which has to end first.'),
          }),
        ),
        engines: z
          .array(z.looseObject({ name: z.string(), reason: z.string().nullable(), sessions: z.int() }))
          .describe('Engines that cannot run and for which sessions wait.'),
        deadLetters: z.array(z.looseObject({ id: z.string(), at: z.number(), error: z.string() })),
        deadLettersCount: z.int().describe('Of all dead letters.'),
        more: z
          .array(z.object({ kind: z.string(), state: z.string(), read: z.int(), count: z.int() }))
          .describe('States that hold more actors than were read, with the number of all.'),
        isCut: z.boolean().describe('There are more of one of them.'),
      }),
    },
    async ({
      app,
      query: { quietSeconds = 60, longSeconds = 900 },
    }: HttpRequest<unknown, z.output<typeof stuckQuery>>) => ({
      body: await stuck(app.supervisor, app.engines, { quietSeconds, longSeconds }),
    }),
  ),
  route(
    'GET',
    '/api/inspect/pulse',
    'inspect.list',
    {
      about: 'Rates of the last minute and the last refusals, from memory.',
      answer: z.object({
        since: z.number().describe('Epoch ms; what happened before is not known.'),
        perSecond: z
          .array(z.int())
          .describe('Events in each of the last sixty seconds, the present one last.'),
        perKind: z.record(z.string(), z.number()).describe('Events a second, over the last five.'),
        refused: z.int(),
        refusals: z.array(z.looseObject({ kind: z.string(), id: z.string(), at: z.number() })),
      }),
    },
    ({ app }) => ({ body: pulseOf(app.supervisor).read() }),
  ),
  route(
    'GET',
    '/api/inspect/quotas',
    'inspect.list',
    {
      about: 'What each agent has begun, in this hour and in all, and how much it may.',
      answer: z.object({
        limits: z.record(z.string(), z.object({ hour: z.int(), total: z.int() })),
        agents: z.array(
          z.looseObject({
            agent: z.string().describe('`employee:<name>`, or `session:<id>` of the top of its tree.'),
            inHour: z.record(z.string(), z.int()),
            total: z.record(z.string(), z.int()),
            resetAt: z.number().describe('When the hour ends, epoch ms.'),
            met: z
              .object({ quota: z.string(), per: z.enum(['hour', 'total']), at: z.number() })
              .optional()
              .describe('The quota that it met last: from then on it was refused. Epoch ms.'),
          }),
        ),
      }),
    },
    async ({ app }) => ({ body: { limits: quotasOf(app), agents: await usages(app) } }),
  ),
  route(
    'GET',
    '/api/inspect/causes/:seq',
    'inspect.causes',
    {
      about: 'The causes and the consequences of a log entry, across actors.',
      answer: cause,
      refusals: ['NOT_FOUND', 'BAD_REQUEST'],
    },
    readCauses,
  ),
  route(
    'GET',
    '/api/inspect/machines',
    'inspect.list',
    { about: 'The machines with version and hash.', answer: z.object({ machines: z.array(machine) }) },
    ({ app }) => ({ body: machines(app.supervisor.inspection) }),
  ),
  route(
    'GET',
    '/api/inspect/machines/:kind',
    'inspect.list',
    {
      about:
        'The statechart of a kind: as data, or as a picture (`:kind.svg`, `?format=svg` or `Accept: image/svg+xml`).',
      query: pictureQuery,
      answer: machine,
      refusals: ['NOT_FOUND'],
    },
    readMachine,
  ),
];

async function readCauses({ app, params }: HttpRequest): Promise<Reply | Refusal> {
  const seq = params['seq'] ?? '';
  if (!/^\d{1,15}$/.test(seq)) return refuse('BAD_REQUEST', { path: 'seq' }, 'seq: must be a log position');
  const found = await causes(app.supervisor.inspection, Number(seq));
  return found ? { body: found } : refuse('NOT_FOUND', { seq: Number(seq) }, `The log has no entry ${seq}.`);
}

async function readMachine({
  app,
  params,
  query,
  header,
}: HttpRequest<unknown, z.output<typeof pictureQuery>>): Promise<Reply | Refusal> {
  const { inspection } = app.supervisor;
  const asked = params['kind'] ?? '';
  const kind = asked.endsWith('.svg') ? asked.slice(0, -4) : asked;
  const picture =
    asked.endsWith('.svg') ||
    query.format === 'svg' ||
    (query.format === undefined && header('accept')?.startsWith('image/svg+xml') === true);
  const unknown = refuse('NOT_FOUND', { kind }, `Unknown kind "${kind}".`);
  if (!picture) {
    const answer = machineOf(inspection, kind);
    return answer ? { body: answer } : unknown;
  }
  const svg = await pictureOf(
    inspection,
    kind,
    (query.state ?? '')
      .split(',')
      .filter((path) => path !== '')
      .slice(0, 50),
  );
  return svg === undefined ? unknown : { body: svg, headers: pictureHeaders };
}

/** The standing policy of answers, and the styles that the picture itself carries. */
const pictureHeaders = {
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
  Vary: 'Accept',
};
