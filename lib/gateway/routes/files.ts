import { isUtf8 } from 'node:buffer';
import { spawn } from 'node:child_process';
import { z } from 'zod';
import { attachFile } from '../../commands/attachments.js';
import { asked } from '../../commands/desk.js';
import { keepFile, removeFile, storedFile } from '../../commands/keep-file.js';
import { barred } from '../../records/files/file-room.js';
import { mimetypeOf } from '../../records/files/names.js';
import { readStart } from '../../records/jailed-file.js';
import type { Records } from '../../records/records.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { attached, attachmentBody, fileBody, fileMeta, readFileAnswer } from '../file-shapes.js';
import { idOf, route, type Call, type Reply, type Route } from '../route.js';
import { sendFile } from '../send-file.js';
import { wholeNumber } from '../shapes.js';

const listQuery = z.object({ limit: wholeNumber(1, 1_000).optional().describe('Default 1000.'), offset: wholeNumber(0, 1_000_000).optional() });
const readQuery = z.object({ path: z.string().min(1).max(1_024).describe('`files/<id>/<name>` or `uploads/<date>/<session>/<name>`') });
const jsonBytesMax = 72 * 2 ** 20; // the largest file as base64, and a little
const sourceRefusals = ['PAYLOAD_TOO_LARGE', 'QUOTA_EXCEEDED', 'URL_REFUSED', 'FETCH_FAILED', 'NOT_FOUND', 'FORBIDDEN', 'BUSY', 'STORE_UNAVAILABLE'] as const;

/** Managed files: people's. Agents have the attachments of their own session. */
export function fileRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  return [
    route('GET', '/api/files', 'file.list', { about: 'What is known of the managed files, newest first.', query: listQuery, answer: z.array(fileMeta) }, list),
    route('POST', '/api/files', 'file.create', { about: 'Keep a file: a multipart body with the part `file`, or JSON with exactly one of content, url and path.', body: fileBody, upload: true, bodyBytesMax: jsonBytesMax, answer: fileMeta, status: 201, refusals: sourceRefusals }, (call) => create(call, records)),
    route('GET', '/api/files/read', 'file.read', { about: 'A managed file as text; of binary and large ones only what is known.', query: readQuery, answer: readFileAnswer, refusals: ['NOT_FOUND', 'FORBIDDEN'] }, (call) => read(call, records)),
    route('GET', '/api/files/:id/meta', 'file.read', { about: 'What is known of one file.', answer: fileMeta, refusals: ['NOT_FOUND'] }, meta),
    route('GET', '/api/files/:id', 'file.read', { about: 'The bytes, to be saved. Ranges and If-None-Match are understood.', answer: z.string(), contentType: 'application/octet-stream', refusals: ['NOT_FOUND', 'RANGE_NOT_SATISFIABLE'] }, (call) => download(call, records)),
    route('DELETE', '/api/files/:id', 'file.delete', { about: 'Remove a file and its bytes.', answer: z.object({ status: z.literal('deleted'), id: z.string() }), refusals: ['NOT_FOUND'] }, (call) => remove(call, records)),
    route('POST', '/api/files/:id/open', 'file.open', { about: 'Open a file with this machine\'s own program; only with gateway.allowFileOpen.', body: z.object({}), answer: z.object({ status: z.literal('opened') }), refusals: ['NOT_FOUND', 'FORBIDDEN'] }, (call) => open(call, records)),
    route('POST', '/api/sessions/:id/attachments', 'session.attach', { about: 'Attach a file to a session: it is kept, and a message of the assistant shows it.', body: attachmentBody, upload: true, bodyBytesMax: jsonBytesMax, answer: attached, status: 201, target: 'session', refusals: [...sourceRefusals, 'CONFLICT'] }, (call) => attach(call, records)),
  ];
}

async function list({ desk, query }: Call<unknown, z.output<typeof listQuery>>): Promise<Reply> {
  const page = await desk.supervisor.list('file', { index: 'all', limit: query.limit ?? 1_000, offset: query.offset ?? 0 });
  return { body: page.items.map(({ row }) => row) };
}

async function create(call: Call<z.output<typeof fileBody>>, records: Records): Promise<Reply | Refusal> {
  const { desk, body, upload, asking } = call;
  const done = await keepFile<Json>(desk, records, { ...body, ...(upload && { upload }) }, {
    name: 'keep-file', actors: [], sessionId: null, places: { base: records.folders.home, folders: [records.folders.files, records.folders.uploads] },
    decide: (_turns, { id }) => ({ id }),
  }, asking);
  if (isRefusal(done)) return done;
  const file = await storedFile(desk, (done.value as { id: string }).id);
  return isRefusal(file) ? file : { ...done, body: shown(file) };
}

async function attach(call: Call<z.output<typeof attachmentBody>>, records: Records): Promise<Reply | Refusal> {
  const { desk, body, upload, asking } = call;
  const done = await attachFile(desk, records, idOf(call), { ...body, ...(upload && { upload }) }, asking);
  return isRefusal(done) ? done : { ...done, body: done.value };
}

async function meta({ desk, ...call }: Call): Promise<Reply | Refusal> {
  const file = await storedFile(desk, idOf(call));
  return isRefusal(file) ? file : { body: shown(file) };
}

async function download(call: Call, { files }: Records): Promise<Reply | Refusal> {
  const file = await storedFile(call.desk, idOf(call));
  if (isRefusal(file)) return file;
  const opened = await files.open(String(file['path']));
  if (typeof opened === 'string') return refuse('NOT_FOUND', { kind: 'file', id: idOf(call) }, 'The bytes of this file are not there any more.');
  return sendFile(opened, { filename: String(file['filename']), mimetype: String(file['mimetype']), etag: `"${idOf(call)}-${opened.size}"`, header: call.header });
}

async function read({ query: { path } }: Call<unknown, z.output<typeof readQuery>>, { files }: Records): Promise<Reply | Refusal> {
  const opened = await files.open(path);
  if (typeof opened === 'string') return barred(path.startsWith('/') ? 'outside' : opened, 'path');
  const { handle, size, path: resolvedPath } = opened;
  try {
    const known = { path, resolvedPath, mime: mimetypeOf(path), size };
    if (size > readBytesMax) return { body: { ...known, tooLarge: true, binary: false } };
    const bytes = await readStart(handle, size);
    const binary = bytes.includes(0) || !isUtf8(bytes);
    return { body: { ...known, tooLarge: false, binary, ...(!binary && { content: bytes.toString('utf8') }) } };
  } finally {
    await handle.close();
  }
}

const readBytesMax = 5 * 2 ** 20;

async function remove(call: Call, records: Records): Promise<Reply | Refusal> {
  const done = await removeFile(call.desk, records, idOf(call), asked(call.asking));
  return isRefusal(done) ? done : { body: { status: 'deleted', id: idOf(call) } };
}

/** The program gets the path of a file that was just opened and judged; no shell sees it. */
async function open(call: Call<unknown>, { files, allow }: Records): Promise<Reply | Refusal> {
  if (!allow.open) return refuse('FORBIDDEN', {}, 'Opening files is switched off; gateway.allowFileOpen switches it on.');
  const file = await storedFile(call.desk, idOf(call));
  if (isRefusal(file)) return file;
  const opened = await files.open(String(file['path']));
  if (typeof opened === 'string') return refuse('NOT_FOUND', { kind: 'file', id: idOf(call) }, 'The bytes of this file are not there any more.');
  await opened.handle.close();
  const child = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [opened.path], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined); // a machine without a desktop
  child.unref();
  return { body: { status: 'opened' } };
}

const shown = ({ id, filename, size, mimetype, path, sessionId, createdAt }: Readonly<Record<string, unknown>>) => ({ id, filename, size, mimetype, path, sessionId, createdAt });
