import { callerName } from '../../machines/caller.js';
import { isRefusal, type Refusal } from '../../machines/refusals.js';
import { isoTime } from '../../machines/sortable.js';
import { contentHash } from '../home/atomic-file.js';
import { stampOf } from '../records/knowledge/tree.js';
import type { Records } from '../records/records.js';
import { ownRow } from './iterate.js';
import { cursorOf } from './page-after.js';
import type { Request } from './request.js';
import type { Place } from './work-items/merge-lists.js';

/** A document as a list shows it. */
export interface KnownDocument {
  readonly path: string;
  readonly title: string;
  readonly bytes: number;
  readonly changedAt: string;
  /** Who wrote it here, `operator` or `device:<id>`; null where it was changed in the folder of the home. */
  readonly changedBy: string | null;
}

/** What is known, last changed first. `await listKnowledge(request, records, { limit: 50 })` */
export async function listKnowledge(
  { app }: Request,
  { knowledge }: Records,
  { limit, after }: { readonly limit: number; readonly after?: Place | undefined },
): Promise<
  | {
      readonly documents: readonly KnownDocument[];
      readonly nextCursor: string | null;
      readonly complete: boolean;
    }
  | Refusal
> {
  const page = await knowledge.list({
    limit,
    ...(after && { after: { path: after.id, changedAt: Number(after.key) } }),
  });
  if (isRefusal(page)) return page;
  const last = page.documents.at(-1);
  return {
    documents: await Promise.all(
      page.documents.map(async ({ path, title, bytes, changedAt, stamp }) => {
        const written = (await ownRow(app.supervisor, writerKey(path))) as Written | undefined;
        const changedBy = written?.stamp === stamp ? written.by : null;
        return { path, title, bytes, changedAt: isoTime(changedAt), changedBy };
      }),
    ),
    nextCursor:
      page.hasMore && last !== undefined ? cursorOf({ key: String(last.changedAt), id: last.path }) : null,
    complete: page.complete,
  };
}

/** A file says when it was changed, not by whom: noted beside it, for as long as it stays as it was written. */
export async function noteWriter(
  request: Request,
  { folders, knowledge }: Records,
  path: string,
): Promise<void> {
  const { app, caller } = request;
  const stamp = await stampOf(folders.home, path);
  if (stamp === undefined) return;
  const written: Written = { by: callerName(caller), stamp };
  await app.supervisor.transact({
    name: 'note-writer',
    actors: [],
    by: caller,
    run(tx) {
      tx.put(writerKey(path), written);
      return null;
    },
  });
  await knowledge.library.changed(path);
}

type Written = { readonly by: string; readonly stamp: string };

const writerKey = (path: string): string => `knowledge/writer/${contentHash(path).slice(0, 32)}`;
