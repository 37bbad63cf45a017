import type { Bundle } from '../../records/bundles/bundle.js';
import { printBundle, bundleBytesMax } from '../../records/bundles/bundle.js';
import {
  messageCharsMax,
  type BundledFile,
  type BundledMessage,
} from '../../records/bundles/session-shape.js';
import type { Records } from '../../records/records.js';
import type { MessageRow } from '../../../machines/session/context.js';
import { isActivity } from '../../../machines/session/activity-entry.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { storedFile } from '../files.js';
import { presentSession } from '../sessions/read-session.js';
import type { Request } from '../request.js';
import { withoutSecrets } from './without-secrets.js';

type BundledSession = NonNullable<Bundle['sessions']>[number];

/**
 * What was said and done in a session, as far as it fits into a file: the newest messages, and the newest attachments
 * in which nothing looks like a key. All that is text has its keys taken out.
 * @example await sessionBundle(request, records, id) // { bundle: { title: 'Plan', … }, secretsRemoved: 0 }
 */
export async function sessionBundle(
  request: Request,
  records: Records,
  id: string,
): Promise<{ readonly bundle: Bundle; readonly secretsRemoved: number } | Refusal> {
  const session = await presentSession(request.app, id);
  if (isRefusal(session)) return session;
  const { view } = session;
  for (let charsMax = messagesCharsMax; ; charsMax = Math.floor(charsMax / 2)) {
    const { rows, omitted } = await newestRows(request, id, charsMax);
    const files = await filesOf(request, records, rows);
    const about: BundledSession = {
      id,
      createdAt: view.createdAt,
      lastActivity: view.lastActivity,
      title: view.title.trim() || 'Session',
      ...named({ employee: view.employee, engine: view.engine, model: view.model, effort: view.effort }),
      ...named({ parent: view.parentSessionId, workItem: view.workItemId, status: view.status }),
      ...(view.archivedAt !== null && { archived: true }),
      costUsd: view.totalCost,
      turns: view.totalTurns,
      tokens: {
        input: view.usage.inputTokens,
        output: view.usage.outputTokens,
        cached: view.usage.cachedTokens,
      },
      ...(omitted > 0 && { omitted }),
      messages: rows.map((row) => asBundled(row, files)),
    };
    const { value, removed } = withoutSecrets(about);
    const masked = (request.app.redact ?? same)(value);
    const attachments = [...new Map([...files.values()].map((file) => [file.sha256, file])).values()];
    const bundle: Bundle = {
      troupe: 1,
      title: masked.title,
      about: '',
      files: {},
      workflows: [],
      sessions: [{ ...masked, ...(attachments.length > 0 && { attachments }) }],
    };
    if (Buffer.byteLength(printBundle(bundle)) <= bundleBytesMax || charsMax === 0)
      return { bundle, secretsRemoved: removed };
  }
}

/** Of messages, and of the bytes of attachments: together less than a bundle holds, with its marks and escapes. */
const messagesCharsMax = 2_400_000;
const filesBytesMax = 700_000;

const same = <Value>(value: Value): Value => value;

const named = <Name extends string>(members: Readonly<Record<Name, string | null>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== '')) as {
    readonly [Member in Name]?: string; // those that are left
  };

/** The newest that fit, oldest first, and how many there are before them. */
async function newestRows(
  { app }: Request,
  id: string,
  charsMax: number,
): Promise<{ readonly rows: readonly MessageRow[]; readonly omitted: number }> {
  const kept: MessageRow[] = [];
  let chars = 0;
  for (let before: number | undefined; ;) {
    const page = await app.supervisor.rows({ kind: 'session', id }, 'messages', {
      last: pageSize,
      ...(before !== undefined && { before }),
    });
    for (const { n, row } of [...page].reverse()) {
      chars += JSON.stringify(row).length;
      if (chars > charsMax) return { rows: kept.reverse(), omitted: Number(n) };
      kept.push(row);
    }
    if (page.length < pageSize) return { rows: kept.reverse(), omitted: 0 };
    before = Number(page[0]?.n);
  }
}

const pageSize = 100;

/** What messages show, by the id of the file. */
async function filesOf(
  { app }: Request,
  records: Records,
  rows: readonly MessageRow[],
): Promise<ReadonlyMap<string, BundledFile>> {
  const files = new Map<string, BundledFile>();
  let left = filesBytesMax;
  for (const id of rows.flatMap(filesIn).reverse()) {
    if (files.has(id)) continue;
    const file = await storedFile(app, id);
    if (isRefusal(file)) continue; // removed since
    const known = { sha256: String(file['sha256']), name: String(file['filename']) };
    const size = Number(file['size']);
    const bytes = size > left ? undefined : await bytesOf(records, String(file['path']));
    const isSent = bytes !== undefined && !holdsSecret(bytes, app.redact ?? same);
    if (isSent) left -= size;
    files.set(id, isSent ? { ...known, content: bytes.toString('base64') } : known);
  }
  return files;
}

const filesIn = ({ media }: MessageRow): readonly string[] =>
  Array.isArray(media)
    ? media.flatMap(
        (one) => /^\/api\/files\/([\w.:-]+)$/.exec(String((one as { url?: unknown }).url))?.[1] ?? [],
      )
    : [];

async function bytesOf(records: Records, path: string): Promise<Buffer | undefined> {
  const opened = await records.files.open(path);
  if (typeof opened === 'string') return undefined;
  try {
    return await opened.handle.readFile();
  } finally {
    await opened.handle.close();
  }
}

/** Bytes cannot be masked: what holds a key stays here. */
function holdsSecret(bytes: Buffer, redact: <Value>(value: Value) => Value): boolean {
  const text = bytes.toString('latin1');
  return withoutSecrets(text).removed > 0 || redact(text) !== text;
}

/** Places of this home (turns, questions, cards, ids of files) mean nothing in another one. */
function asBundled(row: MessageRow, files: ReadonlyMap<string, BundledFile>): BundledMessage {
  const { id, role, content, timestamp, toolCall, toolId, partial } = row;
  const attachments = filesIn(row).flatMap((file) => files.get(file)?.sha256 ?? []);
  const meta = plainMeta(row.meta);
  const message: BundledMessage = {
    id,
    role: role === 'user' || role === 'assistant' ? role : 'notification',
    content,
    timestamp: Math.max(0, Math.floor(timestamp)),
    ...(toolCall !== undefined && { toolCall: toolCall.slice(0, 200) }),
    ...(toolId !== undefined && { toolId: toolId.slice(0, 200) }),
    ...(partial === true && { partial }),
    ...(meta && { meta }),
    ...(attachments.length > 0 && { attachments: attachments.slice(0, 50) }),
  };
  return JSON.stringify(message).length <= messageCharsMax
    ? message
    : {
        id,
        role: message.role,
        timestamp: message.timestamp,
        content: content.slice(0, messageCharsMax / 8),
      };
}

function plainMeta(meta: unknown): BundledMessage['meta'] {
  if (!isActivity({ meta })) return undefined;
  const { kind, turnId: _turn, permissionId: _asked, ...rest } = meta as Readonly<Record<string, unknown>>;
  const plain = Object.entries(rest).filter((entry): entry is [string, string | number | boolean] =>
    ['string', 'number', 'boolean'].includes(typeof entry[1]),
  );
  return { ...Object.fromEntries(plain), kind: importableKind(kind) };
}

/** What was asked for and what was changed can be decided where it happened, and are words elsewhere. */
export const importableKind = (kind: unknown): string =>
  typeof kind === 'string' && ['tool', 'thinking', 'remark', 'file-change', 'omitted'].includes(kind)
    ? kind
    : 'remark';
