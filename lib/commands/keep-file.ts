import { answeredBefore } from './answered-before.js';
import { asked, doneWith, recordOf, type Asking, type Desk, type Done } from './desk.js';
import { inTurn } from './in-turn.js';
import { ownRow } from './own-row.js';
import type { Turns } from '../supervisor/contract.js';
import type { FileFacts, FileSource } from '../records/files/file-room.js';
import type { Records } from '../records/records.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/** What a caller wants kept: exactly one source, and how it is to be called. */
export interface FileWish {
  readonly upload?: { readonly path: string; readonly filename: string } | undefined;
  /** Base64. */
  readonly content?: string | undefined;
  readonly url?: string | undefined;
  readonly path?: string | undefined;
  readonly filename?: string | undefined;
}

/** What else happens in the commit in which the file is born. */
export interface WithFile<Value extends Json> {
  readonly name: string;
  readonly actors: readonly { readonly kind: string; readonly id: string }[];
  readonly sessionId: string | null;
  /** Where a relative `path` begins, and the folders in which a path may lie. */
  readonly places: { readonly base: string; readonly folders: readonly string[] };
  decide(turns: Turns, file: { readonly id: string } & FileFacts): Value | Refusal;
}

/**
 * Keep a file: the bytes first, then the row, in one commit with whatever belongs to it. When the commit is refused
 * the bytes are removed; what a crash leaves between the two is swept an hour later.
 */
export async function keepFile<Value extends Json>(desk: Desk, records: Records, wish: FileWish, within: WithFile<Value>, asking: Asking): Promise<Done<Value> | Refusal> {
  const source = sourceOf(wish, within.places, records.allow.customPaths && asking.by.type !== 'session');
  if (isRefusal(source)) return source;
  if (desk.supervisor.status.diskLow) return refuse('DISK_LOW'); // before any bytes are written
  const before = await answeredBefore<Value>(desk, asking); // nothing is fetched or written again for that
  if (before) return isRefusal(before) ? before : doneWith(before, before.result);
  const full = quota(await usageOf(desk), records, 0);
  if (full) return full;
  const staged = await records.files.stage(source);
  if (isRefusal(staged)) return staged;
  const id = desk.supervisor.world.id();
  let path: string | undefined;
  let kept = false;
  try {
    const facts = await records.files.settle(staged, { id, filename: wish.filename, sessionId: within.sessionId });
    path = facts.path;
    const committed = await inTurn(desk.supervisor, usageKey, () => desk.supervisor.transact<Value>({
      name: within.name,
      actors: within.actors,
      reads: [usageKey],
      ...asked(asking),
      decide(turns) {
        const usage = asUsage(turns.peek(usageKey));
        const over = quota(usage, records, facts.size);
        if (over) return over;
        turns.put(usageKey, { files: usage.files + 1, bytes: usage.bytes + facts.size });
        turns.create('file', id, { input: { ...facts, sessionId: within.sessionId } });
        return within.decide(turns, { id, ...facts });
      },
    }));
    if (isRefusal(committed)) return committed;
    kept = !committed.replayed;
    return doneWith(committed, committed.result);
  } finally {
    if (path === undefined) await records.files.staging.discard(staged);
    else if (!kept) await records.files.remove(path);
  }
}

/** Remove a file: the row first, then the bytes. NOT_FOUND when there is none. */
export async function removeFile(desk: Desk, records: Records, id: string, asking: Asking): Promise<Done<Json> | Refusal> {
  const file = await storedFile(desk, id);
  if (isRefusal(file)) return file;
  const committed = await inTurn(desk.supervisor, usageKey, () => desk.supervisor.transact<Json>({
    name: 'remove-file', newWork: false, // it makes room
    actors: [{ kind: 'file', id }],
    reads: [usageKey],
    ...asked(asking),
    decide(turns) {
      if (turns.read({ kind: 'file', id })?.value !== 'stored') return refuse('NOT_FOUND', { kind: 'file', id }, 'Not found');
      const usage = asUsage(turns.peek(usageKey));
      turns.put(usageKey, { files: Math.max(0, usage.files - 1), bytes: Math.max(0, usage.bytes - Number(file['size'])) });
      turns.send({ kind: 'file', id }, { type: 'file.remove' });
      return { id };
    },
  }));
  if (isRefusal(committed)) return committed;
  await records.files.remove(String(file['path']));
  return doneWith(committed, committed.result);
}

/** What is known of a file that has not been removed. */
export async function storedFile(desk: Desk, id: string): Promise<Readonly<Record<string, Json | undefined>> | Refusal> {
  const view = idShape.test(id) ? await desk.supervisor.get('file', id) : undefined;
  return view?.value === 'stored' ? recordOf(view) : refuse('NOT_FOUND', { kind: 'file', id }, 'Not found');
}

const idShape = /^[A-Za-z0-9._:-]{1,200}$/;
const usageKey = 'files/usage';

interface Usage { readonly files: number; readonly bytes: number }

const asUsage = (row: Json | undefined): Usage => (row as Usage | null | undefined) ?? { files: 0, bytes: 0 };

const usageOf = async (desk: Desk): Promise<Usage> => asUsage(await ownRow(desk.supervisor, usageKey));

function quota({ files, bytes }: Usage, { files: { limits } }: Records, more: number): Refusal | undefined {
  if (files >= limits.filesMax) return refuse('QUOTA_EXCEEDED', { filesMax: limits.filesMax });
  return bytes + more > limits.totalBytesMax ? refuse('QUOTA_EXCEEDED', { bytesMax: limits.totalBytesMax, bytesUsed: bytes }) : undefined;
}

function sourceOf({ upload, content, url, path }: FileWish, places: WithFile<Json>['places'], anywhere: boolean): FileSource | Refusal {
  const given = [upload, content, url, path].filter((one) => one !== undefined).length;
  if (given !== 1) return refuse('BAD_REQUEST', { path: 'content' }, given === 0 ? 'one of file, content (base64), url or path is required' : 'file, content, url and path are mutually exclusive');
  if (upload) return { type: 'upload', ...upload };
  if (content !== undefined) return { type: 'content', base64: content };
  if (url !== undefined) return { type: 'url', url };
  return { type: 'path', path: path ?? '', ...places, anywhere };
}
