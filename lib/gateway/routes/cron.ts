import { z } from 'zod';
import { createJob, deleteJob, editJob, triggerJob, type JobInput } from '../../commands/cron.js';
import { recordsOf, idsOf } from '../../commands/iterate.js';
import type { RunBook } from '../../records/cron-runs.js';
import { isRefusal, refuse } from '../../../machines/refusals.js';
import { limits } from '../../../machines/schedule/context.js';
import { nextCursor, idOf } from '../parse.js';
import { route, type Route } from '../route.js';
import { idempotencyKey, iso, text } from '../schemas.js';

const delivery = z
  .object({ connector: z.string().min(1).max(64), channel: z.string().min(1).max(128) })
  .describe('Where the result is sent.');
const fields = {
  name: text(limits.nameCharsMax).optional().describe('Default "untitled".'),
  enabled: z.boolean().optional().describe('Default true.'),
  schedule: z
    .string()
    .max(200)
    .optional()
    .describe('Five fields: minute, hour, day of the month, month, day of the week. Default `0 * * * *`.'),
  timezone: z
    .string()
    .min(1)
    .max(64)
    .nullish()
    .describe('IANA name. Default: `portal.timeZone`, else that of the machine.'),
  engine: z.string().max(64).nullish(),
  model: z.string().max(200).nullish(),
  effortLevel: z.string().max(64).nullish(),
  employee: z.string().max(64).nullish(),
  delivery: delivery.nullish(),
  missed: z
    .enum(['skip', 'once', 'all'])
    .optional()
    .describe(
      'How many runs missed while the gateway was down are caught up: none (default), one, or all (the newest 24).',
    ),
};
const createBody = z.object({
  id: z.string().max(256).optional(),
  prompt: text(limits.promptBytesMax),
  ...fields,
  idempotencyKey,
});
const patchBody = z.object({ prompt: text(limits.promptBytesMax).optional(), ...fields, idempotencyKey });
const triggerBody = z.object({ idempotencyKey });

const lastRun = z.object({
  timestamp: iso,
  sessionKey: z.string(),
  status: z.string(),
  durationMs: z.number(),
});
const row = z
  .object({
    id: z.string(),
    name: z.string(),
    schedule: z.string(),
    enabled: z.boolean(),
    employee: z.string().nullable(),
    engine: z.string().nullable(),
    timezone: z.string().nullable(),
    managedBy: z.string().nullable(),
    workflowId: z.string().nullable(),
    nextRunAt: iso.nullable(),
    running: z.int(),
    lastRun: lastRun.nullable(),
  })
  .meta({ id: 'CronJobRow' });
const job = z
  .looseObject({
    ...row.shape,
    model: z.string().nullable(),
    effortLevel: z.string().nullable(),
    prompt: z.string(),
    delivery: delivery.nullable(),
    missed: z.enum(['skip', 'once', 'all']),
    fires: z.int(),
    missedFires: z.int(),
    createdAt: iso,
    updatedAt: iso,
  })
  .meta({ id: 'CronJob' });
const run = z
  .looseObject({
    timestamp: iso,
    sessionKey: z.string(),
    status: z.enum(['started', 'success', 'error', 'interrupted', 'missed']),
    durationMs: z.number(),
  })
  .meta({ id: 'CronRun' });

const authorityMembers = ['managedBy', 'workflowId'];

/** Scheduled prompts. Everybody reads them, people change them. */
export function cronRoutes(runs: RunBook | undefined): readonly Route[] {
  if (runs === undefined) return [];
  return [
    route(
      'GET',
      '/api/cron',
      'cron.read',
      { about: 'The cron jobs with their latest runs.', answer: z.array(row) },
      async ({ app }) => {
        const jobs = await recordsOf(
          app.supervisor,
          'schedule',
          await idsOf(app.supervisor, 'schedule', { index: 'all' }),
        );
        return { body: jobs.map((one) => row.parse(one)) };
      },
    ),
    route(
      'GET',
      '/api/cron/:id',
      'cron.read',
      { about: 'A cron job with all its settings.', answer: job, refusals: ['NOT_FOUND'] },
      async (request) => {
        const known = await request.app.supervisor.get('schedule', idOf(request));
        return known === undefined || known.value === 'deleted'
          ? refuse('NOT_FOUND', { kind: 'cron job', id: idOf(request) }, 'Not found')
          : { body: known.view };
      },
    ),
    route(
      'POST',
      '/api/cron',
      'cron.edit',
      {
        about: 'Create a cron job.',
        body: createBody,
        answer: job,
        status: 201,
        plan: true,
        forbidden: authorityMembers,
        refusals: [
          'UNKNOWN_EMPLOYEE',
          'UNKNOWN_ENGINE',
          'UNKNOWN_MODEL',
          'UNKNOWN_EFFORT',
          'PAYLOAD_TOO_LARGE',
        ],
      },
      async (request) => {
        const done = await createJob(request, request.body as JobInput);
        return isRefusal(done) ? done : { ...done, body: done.body.view };
      },
    ),
    route(
      'PUT',
      '/api/cron/:id',
      'cron.edit',
      {
        about: 'Update the given members of a cron job.',
        body: patchBody,
        answer: job,
        plan: true,
        forbidden: authorityMembers,
        refusals: [
          'NOT_FOUND',
          'CONFLICT',
          'UNKNOWN_EMPLOYEE',
          'UNKNOWN_ENGINE',
          'UNKNOWN_MODEL',
          'UNKNOWN_EFFORT',
          'PAYLOAD_TOO_LARGE',
        ],
      },
      async (request) => {
        const done = await editJob(request, idOf(request), request.body as JobInput);
        return isRefusal(done) ? done : { ...done, body: done.body.view };
      },
    ),
    route(
      'DELETE',
      '/api/cron/:id',
      'cron.edit',
      {
        about: 'Delete a cron job. The file of its runs is kept.',
        body: z.object({}),
        plan: true,
        answer: z.object({ deleted: z.string(), name: z.string() }),
        refusals: ['NOT_FOUND', 'CONFLICT'],
      },
      async (request) => {
        const done = await deleteJob(request, idOf(request));
        return isRefusal(done)
          ? done
          : { ...done, body: { deleted: idOf(request), name: (done.body.view as { name: string }).name } };
      },
    ),
    route(
      'POST',
      '/api/cron/:id/trigger',
      'cron.edit',
      {
        about: 'Run a cron job now, even if it is disabled. Returns when the run is stored.',
        body: triggerBody,
        plan: true,
        refusals: ['NOT_FOUND', 'QUEUE_FULL', 'DISK_LOW'],
        answer: z.object({
          triggered: z.literal(true),
          jobId: z.string(),
          name: z.string(),
          employee: z.string().optional(),
          message: z.string(),
        }),
      },
      async (request) => {
        const done = await triggerJob(request, idOf(request));
        if (isRefusal(done)) return done;
        const { name, employee } = done.body.view as { name: string; employee: string | null };
        return {
          ...done,
          body: {
            triggered: true,
            jobId: idOf(request),
            name,
            ...(employee === null ? {} : { employee }),
            message: `${name} was started; GET /api/cron/${idOf(request)}/runs shows the outcome.`,
          },
        };
      },
    ),
    route(
      'GET',
      '/api/cron/:id/runs',
      'cron.read',
      {
        about: 'Completed runs, newest first.',
        answer: z.union([
          z.array(run),
          z.object({ runs: z.array(run), nextCursor }).describe('With `cursor`.'),
        ]),
        query: z.object({
          limit: z.string().max(20).optional().describe('1 to 500; default 50.'),
          cursor: text(400)
            .optional()
            .describe('`nextCursor` of the page before; empty for the first of several pages.'),
        }),
      },
      async (request) => {
        const wanted = Math.trunc(Number(request.query.limit));
        const limit = Number.isFinite(wanted) && wanted !== 0 ? Math.min(500, Math.max(1, wanted)) : 50;
        const { cursor } = request.query;
        const isJob = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(idOf(request));
        if (cursor === undefined) return { body: isJob ? await runs.newest(idOf(request), limit) : [] };
        const page = isJob ? await runs.newest(idOf(request), limit + 1, cursor || undefined) : [];
        const shown = page.slice(0, limit);
        return {
          body: { runs: shown, nextCursor: page.length > limit ? (shown.at(-1)?.sessionKey ?? null) : null },
        };
      },
    ),
  ];
}
