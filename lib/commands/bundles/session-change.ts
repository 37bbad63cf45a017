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
  /** How many of its messages are here; undefined: it is left as it is, for it goes on by itself, or was erased. */
  readonly messages: number | undefined;
}

/** Where a session of a bundle is in this home already; undefined: nowhere. */
export async function sessionHere(
  { app }: Request,
  session: BundledSession,
): Promise<SessionHere | undefined> {
  const own = await app.supervisor.get('session', session.id);
  if (own?.view.createdAt === session.createdAt) return { id: session.id, messages: undefined };
  const id = await ownRow(app.supervisor, originKey('session', session));
  if (typeof id !== 'string') return undefined;
  const here = await app.supervisor.get('session', id);
  const isAsItCame = here?.view.status === 'idle' && here.view.attemptToken === null;
  const [last] = await app.supervisor.rows({ kind: 'session', id }, 'messages', { last: 1 });
  return { id, messages: isAsItCame && last !== undefined ? Number(last.n) - noticesMade : undefined };
}

/** The one that says whence it came stands first. */
const noticesMade = 1;

/** What of it must still be done; a refusal where a part before it is missing. */
export function judgeSession(
  session: BundledSession,
  here: SessionHere | undefined,
): 'same' | 'create' | Refusal {
  const { from = 0, messages } = session;
  if (here !== undefined && (here.messages === undefined || here.messages >= from + messages.length))
    return 'same';
  const known = here?.messages ?? 0;
  if (known < from)
    return refuse('CONFLICT', { from, known }, `The ${from - known} messages before this part are missing.`);
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
  const id = before?.id ?? (await makeSession(request, session));
  if (isRefusal(id)) return id;
  const media = await mediaOf(request, records, id, session.attachments ?? []);
  if (isRefusal(media)) return media;
  const { from = 0 } = session;
  let known = before?.messages ?? 0;
  for (const entries of inBatches(
    session.messages.slice(known - from).map((one) => rowOf(one, session, media)),
  )) {
    const done = await request.app.supervisor.ask(
      'session',
      id,
      { type: 'history.imported', after: known + noticesMade, entries },
      optionsOf(request),
    );
    if (isRefusal(done)) return done;
    known += entries.length;
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
      tx.put(originKey('session', session), id);
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
