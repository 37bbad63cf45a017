import { z } from 'zod';
import { askActor } from '../../../commands/request.js';
import { recordsOf } from '../../../commands/iterate.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import type { HttpRequest } from '../../route.js';
import { idOf } from '../../parse.js';
import type { Reply } from '../../../commands/request.js';
import { limits } from '../../../../machines/work-item/context.js';
import { idempotencyKey, iso, text } from '../../schemas.js';
import { rowsOf, type pageQuery } from './rows.js';

export const handoffBody = z.object({
  summary: text(8_000).optional(),
  changedFiles: z.array(text(1_000)).max(limits.changedFilesMax).optional(),
  verification: text(8_000).optional(),
  retryNotes: text(8_000).optional(),
  sessionId: text(200).optional().describe('Default: the calling session.'),
  idempotencyKey,
});

interface AttemptRow {
  readonly n: number;
  readonly sessionId: string;
  readonly costUsd: number | null;
  readonly changedFiles: unknown;
}

export const attempt = z
  .looseObject({
    sessionId: z.string(),
    employee: z.string().nullable(),
    startedAt: iso.nullable(),
    endedAt: iso.nullable(),
    outcome: z.enum(['succeeded', 'failed', 'interrupted']).nullable().describe('null while it is running'),
    summary: z.string().nullable(),
    changedFiles: z.array(z.string()).nullable(),
    costUsd: z.number().nullable(),
    handoff: z.looseObject({}).nullable().describe("The attempt's own report."),
  })
  .meta({ id: 'Attempt' });

/**
 * The ledger's rows, with what each attempt said itself and, for the latest of a session, what that session
 * has cost.
 */
export async function attempts(
  request: HttpRequest<unknown, z.output<typeof pageQuery>>,
): Promise<Reply | Refusal> {
  const page = await rowsOf(request, 'attempts');
  if (isRefusal(page)) return page;
  const { attempts: rows, ...more } = page.body as {
    attempts: readonly AttemptRow[];
    hasOlder: boolean;
    nextCursor: string | null;
  };
  const key = { kind: 'work-item', id: idOf(request) };
  const said = new Map(
    (await request.app.supervisor.rows(key, 'handoffs', { last: 1_000 })).map(({ n, row }) => [
      n,
      row as { changedFiles?: unknown },
    ]),
  );
  const latest = new Map(rows.map((row) => [row.sessionId, row.n]));
  const sessions = await recordsOf(request.app.supervisor, 'session', [...latest.keys()]);
  const costs = new Map(
    sessions.map((each) => [(each as { id?: unknown }).id, (each as { totalCost?: unknown }).totalCost]),
  );
  return {
    body: {
      ...more,
      attempts: rows.map((row) => ({
        ...row,
        costUsd:
          row.costUsd ?? (latest.get(row.sessionId) === row.n ? (costs.get(row.sessionId) ?? null) : null),
        changedFiles: row.changedFiles ?? said.get(row.n)?.changedFiles ?? null,
        handoff: said.get(row.n) ?? null,
      })),
    },
  };
}

export async function handOff(request: HttpRequest<z.output<typeof handoffBody>>): Promise<Reply | Refusal> {
  const { sessionId, idempotencyKey: _key, ...said } = request.body;
  const session = sessionId ?? (request.caller.type === 'session' ? request.caller.id : undefined);
  if (session === undefined)
    return refuse('BAD_REQUEST', { path: 'sessionId' }, 'sessionId is required: the session of the attempt.');
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  const done = await askActor(request, 'work-item', idOf(request), {
    type: 'attempt.reported',
    sessionId: session,
    ...given,
  });
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view } };
}
