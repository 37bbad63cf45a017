import type { App, GatewayTransaction } from './app.js';
import { answeredBefore, optionsOf, replyWith, type Request, type Reply, inTurn } from './request.js';
import { spendBytes } from './authority/quotas.js';
import { ownRow } from './iterate.js';
import { reachOf, type AgentReach } from './sessions/agent-reach.js';
import type { FileFacts, FileSource } from '../records/files/file-room.js';
import type { Records } from '../records/records.js';
import type { Json } from '../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/** What a caller wants kept: exactly one source, and how it is to be called. */
export interface FileInput {
  readonly upload?: { readonly path: string; readonly filename: string } | undefined;
  /** Base64. */
  readonly content?: string | undefined;
  readonly url?: string | undefined;
  readonly path?: string | undefined;
  readonly filename?: string | undefined;
}

/** What else happens in the commit in which the file is created. */
export interface WithFile<Value extends Json> {
  readonly name: string;
  readonly actors: readonly { readonly kind: string; readonly id: string }[];
  readonly sessionId: string | null;
  /** Where a relative `path` begins, and the folders in which a path may lie. */
  readonly places: { readonly base: string; readonly folders: readonly string[] };
  /** Of the agent in whose folder a path lies, or who names an address. */
  readonly reach?: AgentReach;
  decide(turns: GatewayTransaction, file: { readonly id: string } & FileFacts): Value | Refusal;
}

/**
 * Keep a file: the bytes first, then the row, in one commit with whatever belongs to it. When the commit is
 * refused the bytes are removed; what a crash leaves between the two is swept an hour later.
 */
export async function keepFile<Value extends Json>(
  request: Request,
  records: Records,
  input: FileInput,
  within: WithFile<Value>,
): Promise<Reply<Value> | Refusal> {
  const source = sourceOf(input, within, records.allow.customPaths && request.caller.type !== 'session');
  if (isRefusal(source)) return source;
  if (request.app.supervisor.status.diskLow) return refuse('DISK_LOW'); // before any bytes are written
  const before = await answeredBefore<Value>(request); // nothing is fetched or written again for that
  if (before) return isRefusal(before) ? before : replyWith(before, before.result);
  const full = quota(await usageOf(request.app), records, 0);
  if (full) return full;
  const staged = await records.files.stage(source);
  if (isRefusal(staged)) return staged;
  const id = request.app.supervisor.environment.ids.next();
  let path: string | undefined;
  let kept = false;
  try {
    const facts = await records.files.settle(staged, {
      id,
      filename: input.filename,
      sessionId: within.sessionId,
    });
    path = facts.path;
    // What came in the body was counted with it
    const { caller } = request;
    const isCounted = caller.type === 'session' && input.content === undefined;
    const spent = isCounted ? await spendBytes({ ...request, caller }, facts.size) : undefined;
    if (spent) return spent;
    const committed = await inTurn(request.app.supervisor, usageKey, () =>
      request.app.supervisor.transact<Value>({
        name: within.name,
        actors: within.actors,
        reads: [usageKey],
        ...optionsOf(request),
        run(turns) {
          const usage = asUsage(turns.get(usageKey));
          const over = quota(usage, records, facts.size);
          if (over) return over;
          turns.put(usageKey, { files: usage.files + 1, bytes: usage.bytes + facts.size });
          turns.create('file', id, { input: { ...facts, sessionId: within.sessionId } });
          return within.decide(turns, { id, ...facts });
        },
      }),
    );
    if (isRefusal(committed)) return committed;
    kept = !committed.replayed;
    return replyWith(committed, committed.result);
  } finally {
    if (path === undefined) await records.files.staging.discard(staged);
    else if (!kept) await records.files.remove(path);
  }
}

/** Remove a file: the row first, then the bytes. NOT_FOUND when there is none. */
export async function removeFile(
  request: Request,
  records: Records,
  id: string,
): Promise<Reply<Json> | Refusal> {
  const file = await storedFile(request.app, id);
  if (isRefusal(file)) return file;
  const committed = await inTurn(request.app.supervisor, usageKey, () =>
    request.app.supervisor.transact<Json>({
      name: 'remove-file',
      startsWork: false, // it makes room
      actors: [{ kind: 'file', id }],
      reads: [usageKey],
      ...optionsOf(request),
      run(turns) {
        if (turns.read({ kind: 'file', id })?.value !== 'stored')
          return refuse('NOT_FOUND', { kind: 'file', id }, 'Not found');
        const usage = asUsage(turns.get(usageKey));
        turns.put(usageKey, {
          files: Math.max(0, usage.files - 1),
          bytes: Math.max(0, usage.bytes - Number(file['size'])),
        });
        turns.send({ kind: 'file', id }, { type: 'file.remove' });
        return { id };
      },
    }),
  );
  if (isRefusal(committed)) return committed;
  await records.files.remove(String(file['path']));
  return replyWith(committed, committed.result);
}

/** What is known of a file that has not been removed. */
export async function storedFile(
  app: App,
  id: string,
): Promise<Readonly<Record<string, Json | undefined>> | Refusal> {
  const view = idShape.test(id) ? await app.supervisor.get('file', id) : undefined;
  return view?.value === 'stored' ? view.view : refuse('NOT_FOUND', { kind: 'file', id }, 'Not found');
}

const idShape = /^[A-Za-z0-9._:-]{1,200}$/;
const usageKey = 'files/usage';

interface Usage {
  readonly files: number;
  readonly bytes: number;
}

const asUsage = (row: Json | undefined): Usage => (row as Usage | null | undefined) ?? { files: 0, bytes: 0 };

const usageOf = async (app: App): Promise<Usage> => asUsage(await ownRow(app.supervisor, usageKey));

function quota({ files, bytes }: Usage, { files: { limits } }: Records, more: number): Refusal | undefined {
  if (files >= limits.filesMax) return refuse('QUOTA_EXCEEDED', { filesMax: limits.filesMax });
  return bytes + more > limits.totalBytesMax
    ? refuse('QUOTA_EXCEEDED', { bytesMax: limits.totalBytesMax, bytesUsed: bytes })
    : undefined;
}

function sourceOf(
  { upload, content, url, path }: FileInput,
  { places, reach }: Pick<WithFile<Json>, 'places' | 'reach'>,
  anywhere: boolean,
): FileSource | Refusal {
  const given = [upload, content, url, path].filter((one) => one !== undefined).length;
  if (given !== 1)
    return refuse(
      'BAD_REQUEST',
      { path: 'content' },
      given === 0
        ? 'one of file, content (base64), url or path is required'
        : 'file, content, url and path are mutually exclusive',
    );
  if (upload) return { type: 'upload', ...upload };
  if (content !== undefined) return { type: 'content', base64: content };
  if (url !== undefined) return { type: 'url', url, hosts: reach?.hosts };
  return { type: 'path', path: path ?? '', ...places, anywhere, readAs: reach?.readAs };
}

/**
 * Attach a file to a session: the bytes go below the session's upload folder, and one commit makes the file
 * known and writes the assistant message that shows it. A `path` may lie in the session's working folder.
 */
export async function attachFile(
  request: Request,
  records: Records,
  sessionId: string,
  input: FileInput & { readonly text?: string | undefined },
): Promise<Reply<Attached> | Refusal> {
  const key = { kind: 'session', id: sessionId };
  const session = await request.app.supervisor.get('session', sessionId);
  if (!session) return refuse('NOT_FOUND', key, 'Not found');
  const { cwd, worker, workerLabels } = session.view;
  const isAgent = request.caller.type === 'session';
  // No folder of this machine, though one may be called so
  const isElsewhere = worker !== null || workerLabels.length > 0;
  if (isElsewhere && isAgent && input.path !== undefined)
    return refuse(
      'BAD_REQUEST',
      { path: 'path' },
      'The folder of this session is on another machine: send the file itself (upload or content).',
    );
  const { home, files, uploads } = records.folders;
  const base = isElsewhere ? home : String(cwd);
  const own = isElsewhere ? [] : [base];
  const folders = isAgent ? own : [...own, files, uploads];
  return keepFile<Attached>(request, records, input, {
    name: 'attach-file',
    actors: [key],
    sessionId,
    places: { base, folders },
    reach: await reachOf(request, session, isElsewhere),
    decide(turns, file) {
      const media = mediaOf(file);
      const message = {
        id: request.app.supervisor.environment.ids.next(),
        content: input.text ?? file.filename,
        media: [media],
      };
      turns.send(key, { type: 'media.insert', message });
      return {
        id: file.id,
        filename: file.filename,
        size: file.size,
        mimetype: file.mimetype,
        path: file.path,
        media,
        message: { ...message, role: 'assistant', timestamp: turns.at },
      };
    },
  });
}

export type Attached = {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly mimetype: string;
  readonly path: string;
  readonly media: Media;
  readonly message: { readonly [member: string]: Json };
};

export type Media = {
  readonly type: 'image' | 'audio' | 'file';
  readonly url: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
};

/**
 * The files that a message names, as its media. UNKNOWN_ATTACHMENT names all that are not there, and those that
 * an agent may not read: all but what was attached to its own session.
 */
export async function attachedMedia(
  { app, caller }: Pick<Request, 'app' | 'caller'>,
  ids: readonly string[] | undefined,
): Promise<readonly Media[] | Refusal> {
  const media: Media[] = [];
  const unresolvedAttachments: string[] = [];
  for (const id of ids ?? []) {
    const file = app.records ? await storedFile(app, id) : refuse('NOT_FOUND');
    if (isRefusal(file) || (caller.type === 'session' && file['sessionId'] !== caller.id))
      unresolvedAttachments.push(id);
    else
      media.push(
        mediaOf({
          id,
          filename: String(file['filename']),
          mimetype: String(file['mimetype']),
          size: Number(file['size']),
        }),
      );
  }
  return unresolvedAttachments.length > 0 ? refuse('UNKNOWN_ATTACHMENT', { unresolvedAttachments }) : media;
}

/** A file as a message shows it. */
export const mediaOf = ({
  id,
  filename,
  mimetype,
  size,
}: {
  id: string;
  filename: string;
  mimetype: string;
  size: number;
}): Media => ({
  type: /^(image|audio)\//.test(mimetype) ? (mimetype.split('/')[0] as 'image' | 'audio') : 'file',
  url: `/api/files/${id}`,
  name: filename,
  mimeType: mimetype,
  size,
});
