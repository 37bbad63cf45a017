import type { Bundle } from '../../records/bundles/bundle.js';
import type { BundledFile, BundledMessage } from '../../records/bundles/session-shape.js';
import type { Records } from '../../records/records.js';
import { contentHash } from '../../home/atomic-file.js';
import type { Json } from '../../../machines/outputs.js';
import type { MessageRow } from '../../../machines/session/context.js';
import { historyLimits, importedSource } from '../../../machines/session/transcript.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { employeeNamed, type App, type Selection } from '../app.js';
import { ownRow } from '../iterate.js';
import { optionsOf, type Request } from '../request.js';
import { workingFolder } from '../sessions/working-folder.js';
import { importableKind } from './bundled-session.js';
import { takeFile } from './file-change.js';
import { originKey } from './item-change.js';

/** A session of a bundle, or a part of one. It gets a new id here, and the home remembers of which it is. */
export type BundledSession = NonNullable<Bundle['sessions']>[number];

/** How far this home has a session of a bundle. */
export interface SessionHere {
  readonly id: string;
  /** The first message of the bundle that is not here; behind the last one: nothing is to be done. */
  readonly next: number | Refusal;
}

/** What the home remembers of an imported session. Places count the messages of the other home from its first one. */
type Origin = {
  readonly id: string;
  /** So many stand before the first one that was taken. */
  readonly first: number;
  /** Up to here they are taken. */
  readonly known: number;
  /** Id of the last one; null: none was taken yet. */
  readonly last: string | null;
  /** False: parts were still to come. */
  readonly isWhole: boolean;
};

/** Where a session of a bundle is in this home already; undefined: nowhere. */
export async function sessionHere(
  request: Request,
  session: BundledSession,
): Promise<SessionHere | undefined> {
  const { supervisor } = request.app;
  const nothing = session.messages.length;
  const own = await supervisor.get('session', session.id);
  if (own?.view.createdAt === session.createdAt) return { id: session.id, next: nothing };
  const origin = await originOf(request, session);
  if (origin === undefined) return undefined;
  const { id, isWhole } = origin;
  const here = await supervisor.get('session', id);
  if (here === undefined || here.value === 'deleted') return { id, next: nothing }; // erased, it stays so
  if (here.view.status === 'idle' && here.view.attemptToken === null)
    return { id, next: await nextOf(request, session, origin) };
  const half = `Its import was cut before its end, and it has gone on here (session ${id}): it stays half.`;
  return { id, next: isWhole ? nothing : refuse('CONFLICT', { id, known: origin.known }, half) };
}

const originOf = async ({ app }: Request, session: BundledSession): Promise<Origin | undefined> =>
  (await ownRow(app.supervisor, originKey('session', session))) as Origin | undefined;

/** Found by the id of the last message that was taken: a session grows, and a file of it may begin at any place. */
async function nextOf(
  { app }: Request,
  { from = 0, omitted = 0, messages }: BundledSession,
  { id, first, known, last }: Origin,
): Promise<number | Refusal> {
  if (last === null) return from === 0 ? 0 : missing(from);
  const taken = messages.findIndex((message) => message.id === last);
  if (taken >= 0) return taken + 1;
  const begin = omitted + from;
  if (begin === known) return 0;
  if (begin > known) return missing(begin - known);
  // An earlier part, or an older file: then its last message is here, behind no more than a few that were put between
  const place = noticesMade + begin + messages.length - first;
  const rows =
    place > noticesMade
      ? await app.supervisor.rows({ kind: 'session', id }, 'messages', { after: place - 1, limit: 20 })
      : [];
  return rows.some(({ row }) => row.id === messages.at(-1)?.id)
    ? messages.length
    : refuse(
        'CONFLICT',
        { id, known },
        `It does not go on where session ${id} ends: there it was begun again, or changed. Nothing was taken.`,
      );
}

const missing = (count: number): Refusal =>
  refuse('CONFLICT', { missing: count }, `The ${count} messages before this part are missing.`);

/** The one that says whence it came stands first. */
const noticesMade = 1;

/** What of it must still be done; a refusal where a part before it is missing, or it cannot go on. */
export function judgeSession(
  session: BundledSession,
  here: SessionHere | undefined,
): 'same' | 'create' | Refusal {
  const { from = 0, messages } = session;
  const next = here?.next ?? (from === 0 ? 0 : missing(from));
  if (isRefusal(next)) return next;
  if (here !== undefined && next >= messages.length) return 'same';
  const claimed = (session.attachments ?? []).find(
    ({ sha256, content }) => content !== undefined && contentHash(Buffer.from(content, 'base64')) !== sha256,
  );
  return claimed === undefined
    ? 'create'
    : refuse('BAD_REQUEST', { path: 'attachments' }, `${claimed.name} is not what its hash says.`);
}

/** Makes the session at rest, or goes on where an import was cut: each commit leaves a whole part of it. */
export async function takeSession(
  request: Request,
  records: Records,
  session: BundledSession,
): Promise<string | Refusal> {
  const before = await sessionHere(request, session);
  const made = before === undefined ? await makeSession(request, session) : before.id;
  if (isRefusal(made)) return made;
  const id = made;
  const { from = 0, omitted = 0, messages, more = false } = session;
  let next = before?.next ?? 0;
  if (isRefusal(next)) return next;
  const media = await mediaOf(request, records, id, session.attachments ?? []);
  if (isRefusal(media)) return media;
  const { supervisor } = request.app;
  const [lastRow] = await supervisor.rows({ kind: 'session', id }, 'messages', { last: 1 });
  let after = Number(lastRow?.n ?? 0);
  const origin = await originOf(request, session);
  const first = origin === undefined || origin.last === null ? omitted : origin.first;
  for (const entries of inBatches(messages.slice(next).map((one) => rowOf(one, session, media)))) {
    next += entries.length;
    const known = omitted + from + next;
    const isWhole = next === messages.length && !more;
    const reached: Origin = { id, first, known, last: messages[next - 1]?.id ?? null, isWhole };
    const event = { type: 'history.imported', after, entries } as const;
    const done = await supervisor.transact({
      name: 'import-messages',
      startsWork: false,
      actors: [{ kind: 'session', id }],
      ...optionsOf(request),
      run(tx) {
        const taken = tx.send({ kind: 'session', id }, event);
        if (isRefusal(taken)) return taken;
        tx.put(originKey('session', session), reached);
        return null;
      },
    });
    if (isRefusal(done)) return done;
    after += entries.length;
  }
  return id;
}

async function makeSession(request: Request, session: BundledSession): Promise<string | Refusal> {
  const { app } = request;
  const id = app.supervisor.environment.ids.next();
  const selection = await selectionFor(app, session);
  if (isRefusal(selection)) return selection;
  const named = employeeNamed(app, session.employee);
  const employee = isRefusal(named) ? null : (named?.name ?? null);
  const cwd = await workingFolder(app, id, null, { rehearsal: false });
  if (isRefusal(cwd)) return cwd;
  const { costUsd = 0, turns = 0, tokens = { input: 0, output: 0, cached: 0 } } = session;
  const committed = await app.supervisor.transact<{ id: string }>({
    name: 'import-session',
    startsWork: false,
    actors: [],
    ...optionsOf(request),
    run(tx) {
      tx.create('session', id, {
        input: {
          engine: selection.engine,
          model: selection.model,
          effort: selection.effort,
          employee,
          parentSessionId: null,
          ancestors: [],
          workItemId: null,
          title: session.title,
          cwd,
          source: importedSource,
          sourceRef: null,
          interruptOnNewMessage: app.settings.interruptOnNewMessage,
          turnDeadlineMs: app.settings.turnDeadlineMs,
          past: {
            lastActivity: Date.parse(session.lastActivity ?? session.createdAt),
            totalCost: costUsd,
            totalTurns: turns,
            usage: { inputTokens: tokens.input, outputTokens: tokens.output, cachedTokens: tokens.cached },
          },
          transcript: [notice(session, app.supervisor.environment.ids.next())],
        },
      });
      const put = session.archived === true && tx.send({ kind: 'session', id }, { type: 'session.archive' });
      if (isRefusal(put)) return put;
      const { omitted: first = 0, messages, more = false } = session;
      const isWhole = messages.length === 0 && !more;
      const origin: Origin = { id, first, known: first, last: null, isWhole };
      tx.put(originKey('session', session), origin);
      return { id };
    },
  });
  return isRefusal(committed) ? committed : committed.result.id;
}

/** What it ran on, as far as that is known here; else what sessions run on that name nothing. */
async function selectionFor(
  app: App,
  { engine, model, effort }: BundledSession,
): Promise<Selection | Refusal> {
  const asked = await app.engines.select(engine, model, effort);
  if (!isRefusal(asked)) return asked;
  const alone = await app.engines.select(engine);
  return isRefusal(alone) ? app.engines.select() : alone;
}

/** What it was there: the one who asks where it came from finds it in the session itself, until that is erased. */
function notice(session: BundledSession, id: string): MessageRow {
  const { employee, engine, model, parent, workItem, status, turns = 0, costUsd = 0, omitted = 0 } = session;
  const words = [
    `Imported: in another home this was session ${session.id}, opened ${session.createdAt}`,
    ...(employee === undefined ? [] : [`by employee ${employee}`]),
    ...(engine === undefined ? [] : [`on ${engine}${model === undefined ? '' : ` (${model})`}`]),
    `with ${turns} turns for ${costUsd.toFixed(2)} USD`,
    ...(status === undefined ? [] : [`and then ${status}`]),
  ].join(', ');
  const more = [
    ...(parent === undefined ? [] : [`Session ${parent} had opened it.`]),
    ...(workItem === undefined ? [] : [`It worked on ${workItem}.`]),
    ...(omitted === 0 ? [] : [`${omitted} older messages were left out.`]),
  ];
  return {
    id,
    role: 'notification',
    content: [`${words}.`, ...more].join(' '),
    timestamp: Date.parse(session.createdAt),
    meta: { kind: 'import', session: session.id },
  };
}

/** Attachments that came along are managed files of the session, by hash. */
async function mediaOf(
  request: Request,
  records: Records,
  sessionId: string,
  files: readonly BundledFile[],
): Promise<ReadonlyMap<string, Json> | Refusal> {
  const media = new Map<string, Json>();
  for (const { sha256, name, content } of files) {
    if (content === undefined) continue;
    const origin = { id: `${sessionId}/${sha256}`, createdAt: name };
    const taken = await takeFile(request, records, { sha256, name, content }, { sessionId, origin });
    if (isRefusal(taken)) return taken;
    media.set(sha256, taken);
  }
  return media;
}

function rowOf(
  message: BundledMessage,
  session: BundledSession,
  media: ReadonlyMap<string, Json>,
): MessageRow {
  const { id, role, content, timestamp, toolCall, toolId, meta, partial, attachments = [] } = message;
  const shown = attachments.flatMap((sha256) => media.get(sha256) ?? []);
  const missing = attachments
    .filter((sha256) => !media.has(sha256))
    .map((sha256) => {
      const name = session.attachments?.find((file) => file.sha256 === sha256)?.name ?? 'a file';
      return `\n\n[Not imported: ${name}, SHA-256 ${sha256}]`;
    });
  return {
    id,
    role,
    content: `${content}${missing.join('')}`,
    timestamp,
    ...(toolCall !== undefined && { toolCall }),
    ...(toolId !== undefined && { toolId }),
    ...(partial === true && { partial }),
    ...(shown.length > 0 && { media: shown }),
    ...(meta && { meta: safeMeta(meta) }),
  };
}

/** Whatever a file says: nothing in it waits, runs or belongs to a turn of this home. */
function safeMeta({
  turnId: _turn,
  permissionId: _asked,
  ...meta
}: NonNullable<BundledMessage['meta']>): Json {
  const isOpen = meta['state'] === 'running' || meta['state'] === 'pending';
  return { ...meta, kind: importableKind(meta['kind']), ...(isOpen && { state: 'interrupted' }) };
}

function* inBatches(rows: readonly MessageRow[]): Iterable<readonly MessageRow[]> {
  let batch: MessageRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = Buffer.byteLength(JSON.stringify(row));
    if (batch.length > 0 && (batch.length >= historyLimits.entriesMax || bytes + size > batchBytesMax)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

const batchBytesMax = 1_000_000;
