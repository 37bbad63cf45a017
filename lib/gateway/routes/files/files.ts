import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { attachFile, keepFile, removeFile, storedFile } from '../../../commands/files.js';
import type { Reply } from '../../../commands/request.js';
import { pageAfter } from '../../../commands/page-after.js';
import { openRefusal } from '../../../records/files/file-room.js';
import { mimetypeOf } from '../../../records/files/names.js';
import { readStart } from '../../../records/jailed-file.js';
import type { Records } from '../../../records/records.js';
import { startProgram } from '../../../../actors/start-program.js';
import type { Json } from '../../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import { cursor, idOf } from '../../parse.js';
import { attached, iso, sources, wholeNumber } from '../../schemas.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { sendFile } from './send-file.js';

const listQuery = z.object({
  limit: wholeNumber(1, 1_000).optional().describe('Default 1000.'),
  offset: wholeNumber(0, 1_000_000).optional(),
  cursor,
});
const readQuery = z.object({
  path: z.string().min(1).max(1_024).describe('`files/<id>/<name>` or `uploads/<date>/<session>/<name>`'),
});
const jsonBytesMax = 72 * 2 ** 20; // the largest file as base64, and a little
const sourceRefusals = [
  'PAYLOAD_TOO_LARGE',
  'QUOTA_EXCEEDED',
  'URL_REFUSED',
  'FETCH_FAILED',
  'NOT_FOUND',
  'FORBIDDEN',
  'BUSY',
  'STORE_UNAVAILABLE',
  'OWNER_ELSEWHERE',
  'OUTCOME_UNKNOWN',
] as const;

/** Managed files: people's. Agents have the attachments of their own session. */
export function fileRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  return [
    route(
      'GET',
      '/api/files',
      'file.list',
      {
        about: 'Metadata of the managed files, newest first.',
        query: listQuery,
        answer: z.union([
          z.array(fileMeta),
          z
            .object({ files: z.array(fileMeta), nextCursor: z.string().nullable() })
            .describe('With `cursor`.'),
        ]),
      },
      list,
    ),
    route(
      'POST',
      '/api/files',
      'file.create',
      {
        about:
          'Store a file: a multipart body with the part `file`, or JSON with exactly one of content, url and path.',
        body: fileBody,
        upload: true,
        bodyBytesMax: jsonBytesMax,
        answer: fileMeta,
        status: 201,
        refusals: sourceRefusals,
      },
      (request) => create(request, records),
    ),
    route(
      'GET',
      '/api/files/read',
      'file.read',
      {
        about: 'A managed file as text; for binary and large files only the metadata.',
        query: readQuery,
        answer: readFileAnswer,
        refusals: ['NOT_FOUND', 'FORBIDDEN'],
      },
      (request) => read(request, records),
    ),
    route(
      'GET',
      '/api/files/:id/meta',
      'file.read',
      { about: 'Metadata of a file.', answer: fileMeta, refusals: ['NOT_FOUND'] },
      meta,
    ),
    route(
      'GET',
      '/api/files/:id',
      'file.read',
      {
        about: 'Download the file. Supports ranges and If-None-Match.',
        answer: z.string(),
        contentType: 'application/octet-stream',
        refusals: ['NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
      },
      (request) => download(request, records),
    ),
    route(
      'DELETE',
      '/api/files/:id',
      'file.delete',
      {
        about: 'Delete a file and its contents.',
        answer: z.object({ status: z.literal('deleted'), id: z.string() }),
        refusals: ['NOT_FOUND'],
      },
      (request) => remove(request, records),
    ),
    route(
      'POST',
      '/api/files/:id/open',
      'file.open',
      {
        about:
          "Open a file with the default program of the gateway's machine; only with gateway.allowFileOpen.",
        body: z.object({}),
        answer: z.object({ status: z.literal('opened') }),
        refusals: ['NOT_FOUND', 'FORBIDDEN'],
      },
      (request) => open(request, records),
    ),
    route(
      'POST',
      '/api/sessions/:id/attachments',
      'session.attach',
      {
        about: 'Attach a file to a session: the file is stored, and a message of the assistant shows it.',
        body: attachmentBody,
        upload: true,
        bodyBytesMax: jsonBytesMax,
        answer: attached,
        status: 201,
        target: 'session',
        refusals: [...sourceRefusals, 'CONFLICT'],
      },
      (request) => attach(request, records),
    ),
  ];
}

async function list({ app, query }: HttpRequest<unknown, z.output<typeof listQuery>>): Promise<Reply> {
  if (query.cursor !== undefined) {
    const { rows, nextCursor } = await pageAfter(
      app.supervisor,
      'file',
      { index: 'all', prefix: '' },
      { after: query.cursor.place, limit: query.limit ?? 100 },
    );
    return {
      body: { files: rows.map((row) => shown(row as Readonly<Record<string, unknown>>)), nextCursor },
    };
  }
  const page = await app.supervisor.list('file', {
    index: 'all',
    limit: query.limit ?? 1_000,
    offset: query.offset ?? 0,
  });
  return { body: page.items.map(({ row }) => row) };
}

async function create(
  request: HttpRequest<z.output<typeof fileBody>>,
  records: Records,
): Promise<Reply | Refusal> {
  const { body, upload } = request;
  const done = await keepFile<Json>(
    request,
    records,
    { ...body, ...(upload && { upload }) },
    {
      name: 'keep-file',
      actors: [],
      sessionId: null,
      places: { base: records.folders.home, folders: [records.folders.files, records.folders.uploads] },
      decide: (_turns, { id }) => ({ id }),
    },
  );
  if (isRefusal(done)) return done;
  const file = await storedFile(request.app, (done.body as { id: string }).id);
  return isRefusal(file) ? file : { ...done, body: shown(file) };
}

async function attach(
  request: HttpRequest<z.output<typeof attachmentBody>>,
  records: Records,
): Promise<Reply | Refusal> {
  const { body, upload } = request;
  const done = await attachFile(request, records, idOf(request), {
    ...body,
    ...(upload && { upload }),
  });
  return isRefusal(done) ? done : { ...done, body: done.body };
}

async function meta({ app, ...call }: HttpRequest): Promise<Reply | Refusal> {
  const file = await storedFile(app, idOf(call));
  return isRefusal(file) ? file : { body: shown(file) };
}

async function download(request: HttpRequest, { files }: Records): Promise<Reply | Refusal> {
  const file = await storedFile(request.app, idOf(request));
  if (isRefusal(file)) return file;
  const opened = await files.open(String(file['path']));
  if (typeof opened === 'string')
    return refuse('NOT_FOUND', { kind: 'file', id: idOf(request) }, 'The contents of this file are missing.');
  return sendFile(opened, {
    filename: String(file['filename']),
    mimetype: String(file['mimetype']),
    etag: `"${idOf(request)}-${opened.size}"`,
    header: request.header,
  });
}

async function read(
  { query: { path } }: HttpRequest<unknown, z.output<typeof readQuery>>,
  { files }: Records,
): Promise<Reply | Refusal> {
  const opened = await files.open(path);
  if (typeof opened === 'string') return openRefusal(path.startsWith('/') ? 'outside' : opened, 'path');
  const { handle, size, path: resolvedPath } = opened;
  try {
    const known = { path, resolvedPath, mime: mimetypeOf(path), size };
    if (size > readBytesMax) return { body: { ...known, tooLarge: true, binary: false } };
    const bytes = await readStart(handle, size);
    const binary = bytes.includes(0) || !isUtf8(bytes);
    return {
      body: { ...known, tooLarge: false, binary, ...(!binary && { content: bytes.toString('utf8') }) },
    };
  } finally {
    await handle.close();
  }
}

const readBytesMax = 5 * 2 ** 20;

async function remove(request: HttpRequest, records: Records): Promise<Reply | Refusal> {
  const done = await removeFile(request, records, idOf(request));
  return isRefusal(done) ? done : { body: { status: 'deleted', id: idOf(request) } };
}

/** The program gets the path of a file that was just opened and judged; no shell sees it. */
async function open(request: HttpRequest<unknown>, { files, allow }: Records): Promise<Reply | Refusal> {
  if (!allow.open)
    return refuse('FORBIDDEN', {}, 'Opening files is disabled; enable it with gateway.allowFileOpen.');
  const file = await storedFile(request.app, idOf(request));
  if (isRefusal(file)) return file;
  const opened = await files.open(String(file['path']));
  if (typeof opened === 'string')
    return refuse('NOT_FOUND', { kind: 'file', id: idOf(request) }, 'The contents of this file are missing.');
  await opened.handle.close();
  const child = startProgram(process.platform === 'darwin' ? 'open' : 'xdg-open', [opened.path], {
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  });
  child.on('error', () => undefined); // a machine without a desktop
  child.unref();
  return { body: { status: 'opened' } };
}

const shown = ({
  id,
  filename,
  size,
  mimetype,
  path,
  sessionId,
  createdAt,
}: Readonly<Record<string, unknown>>) => ({ id, filename, size, mimetype, path, sessionId, createdAt });

/** What the routes of files read and show. */
const fileMeta = z
  .object({
    id: z.string(),
    filename: z.string(),
    size: z.int().describe('bytes'),
    mimetype: z.string().describe("From the file name's extension; never trusted."),
    path: z.string().describe('Relative to the home; for GET /api/files/read.'),
    sessionId: z.string().nullable(),
    createdAt: iso,
  })
  .meta({ id: 'File' });

/** Exactly one of content, url, path; or a multipart body with the part `file`. */
const fileBody = z.object({
  ...sources,
  mimetype: z.string().max(200).optional().describe('Ignored: the extension of the file name decides.'),
});

const attachmentBody = z.object({
  ...sources,
  text: z.string().max(20_000).optional().describe("Text of the message; default: the file's name."),
});

const readFileAnswer = z.object({
  path: z.string(),
  resolvedPath: z.string(),
  mime: z.string(),
  size: z.int(),
  tooLarge: z.boolean(),
  binary: z.boolean(),
  content: z.string().optional().describe('Only for text files below the size limit.'),
});
