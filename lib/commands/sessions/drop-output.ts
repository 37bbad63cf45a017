import { createHash } from 'node:crypto';
import { firstBytes } from '../../../actors/engines/process/output.js';
import { system } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal } from '../../../machines/refusals.js';
import { activityLimits } from '../../../machines/session/activity-entry.js';
import type { MessageRow } from '../../../machines/session/context.js';
import {
  holdsOutput,
  outputHeadBytes,
  type KeptOutput,
  type OutputMark,
  type ShortenedRow,
} from '../../../machines/session/kept-output.js';
import type { App } from '../app.js';
import { removeFile } from '../files.js';
import { ownRow } from '../iterate.js';
import type { ListPage } from '../../supervisor/contract.js';

/**
 * Results of tools that are older than `sessions.keepToolOutput` go: of each stay its beginning, size and hash, and the
 * date. Their age is time that has really passed (the clock of retention): a clock that leaps drops nothing, and what
 * passed while no gateway ran counts at most a day a day. Files go first; a crash in between leaves a message whose
 * file is gone, and the next look writes it. A session with which that fails keeps the others from nothing. What was
 * dropped leaves the disk, too: both copies of the store are rewritten, by the next look where this one does not come
 * so far. Answers how many results were dropped.
 * @example await dropOutput(app, (error) => log.error(error)) // 12
 */
export async function dropOutput(app: App, failed: (error: unknown) => void): Promise<number> {
  const days = app.settings.keepToolOutputDays;
  if (days === undefined) return 0;
  const keepMs = days * dayMs;
  const { now } = await app.supervisor.retention.status();
  const began = await firstSweep(app, now);
  let isOwed = (await ownRow(app.supervisor, rewriteOwedKey)) === true;
  const begins = async (): Promise<void> => {
    if (!isOwed) await keep(app, rewriteOwedKey, true);
    isOwed = true;
  };
  let count = 0;
  for (let after: string | null = ''; after !== null;) {
    const page: ToolOutputPage = await app.supervisor.list('session', {
      index: 'tool-output',
      limit: 100,
      ...(after === '' ? {} : { after }),
    });
    for (const { id, row } of page.items)
      count += await sweep(app, id, { kept: row, now, began, keepMs, begins }).catch((error: unknown) => {
        failed(error);
        return 0;
      });
    after = page.next;
  }
  if (!isOwed) return count;
  await app.erasure?.compact();
  await keep(app, rewriteOwedKey, null);
  return count;
}

type ToolOutputPage = ListPage<KeptOutput>;
const dayMs = 86_400_000;
/** So finely the age of a result is known. */
const marksPerPeriod = 32;

/** What lay here when results began to be dropped is as old as that, for all that is known. */
async function firstSweep(app: App, now: number): Promise<number> {
  const known = await ownRow(app.supervisor, firstSweepKey);
  if (typeof known === 'number') return known;
  await keep(app, firstSweepKey, now);
  return now;
}

async function keep({ supervisor }: App, key: string, value: number | true | null): Promise<void> {
  await supervisor.transact({
    name: 'tool-output',
    startsWork: false,
    actors: [],
    by: system('tool-output'),
    run(tx) {
      tx.put(key, value);
      return null;
    },
  });
}

const firstSweepKey = 'tool-output/first-sweep';
/** What was dropped may still be on the disk. */
const rewriteOwedKey = 'tool-output/rewrite-owed';

interface Sweep {
  readonly kept: KeptOutput;
  /** On the clock of retention, epoch milliseconds, as all here. */
  readonly now: number;
  readonly began: number;
  readonly keepMs: number;
  /** Before the first result leaves the store. */
  readonly begins: () => Promise<void>;
}

async function sweep(app: App, id: string, { kept, now, began, keepMs, begins }: Sweep): Promise<number> {
  const swept = { type: 'output.swept' as const, now, everyMs: keepMs / marksPerPeriod };
  const by = system('tool-output');
  const session = await app.supervisor.get('session', id);
  const isAtWork = session === undefined || ['running', 'waiting'].includes(session.view.status);
  const mark = isAtWork ? undefined : kept.marks.findLast(([, at]) => Math.max(at, began) < now - keepMs);
  let count = 0;
  for (let after = kept.dropped; mark !== undefined && after < mark[0];) {
    const dropped = await nextRows(app, id, { mark, after });
    if (dropped.rows.length > 0) await begins();
    const done = await app.supervisor.ask('session', id, { ...swept, dropped }, { by });
    if (isRefusal(done)) return count; // it was deleted meanwhile
    count += dropped.rows.length;
    after = dropped.upTo;
  }
  const isMarked = (kept.marks.at(-1)?.[0] ?? 0) >= kept.last;
  if (!isMarked) await app.supervisor.ask('session', id, swept, { by });
  return count;
}

/** What goes in one commit, its files removed. */
async function nextRows(
  app: App,
  id: string,
  { mark, after }: { readonly mark: OutputMark; readonly after: number },
): Promise<{ readonly mark: OutputMark; readonly upTo: number; readonly rows: readonly ShortenedRow[] }> {
  const limit = Math.min(activityLimits.entriesMax, mark[0] - after);
  const found = await app.supervisor.rows({ kind: 'session', id }, 'messages', { after, limit });
  const rows: ShortenedRow[] = [];
  for (const { n, row } of found)
    if (holdsOutput(row)) rows.push({ n: Number(n), row: await shortened(app, id, row) });
  return { mark, upTo: after + limit, rows };
}

/** The message without the result; its file, where it had one, is removed. */
async function shortened(app: App, sessionId: string, { media, ...row }: MessageRow): Promise<MessageRow> {
  const meta = row.meta as Readonly<Record<string, Json>>;
  const output = typeof meta['toolOutput'] === 'string' ? meta['toolOutput'] : '';
  const file = await dropFile(app, sessionId, media);
  return {
    ...row,
    meta: {
      ...meta,
      toolOutput: firstBytes(output, outputHeadBytes),
      toolOutputBytes: meta['toolOutputBytes'] ?? Buffer.byteLength(output),
      toolOutputSha256: file ?? createHash('sha256').update(output).digest('hex'),
    },
  };
}

/** Hash of what it held, also where it has gone before; undefined: the message had none. */
async function dropFile(app: App, sessionId: string, media: unknown): Promise<string | undefined> {
  const { records, supervisor } = app;
  const id = /"url":"\/api\/files\/([\w.:-]+)"/.exec(JSON.stringify(media ?? null))?.[1];
  if (id === undefined || records === undefined) return undefined;
  const file = await supervisor.get('file', id);
  // of a copy of another session the file is that one's
  if (file?.value === 'stored' && file.view.sessionId === sessionId)
    await removeFile({ app, caller: system('tool-output') }, records, id);
  return file?.view.sha256;
}
