import { createHash } from 'node:crypto';
import type { BundledFile, BundledMessage, BundledSession } from '../../records/bundles/session-shape.js';
import { charsMax, type Database, type Row } from './database.js';
import type { HomeFiles } from './home-files.js';
import type { ImportLedger } from './report.js';
import { gathering, send, type SendOptions, type Unit } from './send.js';
import { jsonOf, numberOf, rowsInOrder, textOf, timeOf, type KnownTables } from './tables.js';

/**
 * Sessions with their messages, one after the other: a long one in parts, so that none of any length stands in memory.
 * They come at rest; queues, native conversations of engines and cards of delegations stay where they are.
 */
export async function importSessions(
  database: Database,
  { sessions, messages }: KnownTables,
  files: HomeFiles,
  options: SendOptions,
): Promise<void> {
  const { ledger, apply } = options;
  if (sessions === undefined)
    return ledger.leave('session', 'all', 'No table of the database has their columns.');
  if (messages === undefined)
    ledger.leave('session', 'messages', 'No table of the database has their columns.');
  else database.index(messages, 'sessionid');
  const whole = gathering(options);
  const came = (units: readonly Unit[]): void => {
    for (const { part } of units)
      for (const { attachments = [] } of part.sessions ?? [])
        for (const file of attachments) files.cameWithSession(file);
  };
  for (const row of rowsInOrder(database, sessions, 'createdat')) {
    const about = aboutSession(row);
    if (about === undefined) {
      ledger.leave('session', String(row['id']), 'It has no id.');
      continue;
    }
    let parts = 0;
    const said =
      messages === undefined
        ? []
        : database.rows(messages, {
            where: { column: 'sessionid', is: String(row['id']) },
            order: ['timestamp', 'createdat', 'id'],
          });
    for await (const part of inParts(about, pastMessages(said, files, ledger))) {
      const unit: Unit = { area: 'session', name: `session ${about.id}`, part: { sessions: [part.session] } };
      parts += 1;
      if (parts === 1 && part.isLast) {
        came(await whole.add(unit));
        continue;
      }
      // Of the same session: neither another one that was taken, nor another one that is here
      const ledgerOf = parts === 1 ? ledger : ledger.without();
      // The first part would be taken, so a preview sends no other one
      const taken = parts === 1 || apply ? await send([unit], { ...options, ledger: ledgerOf }) : [unit];
      came(taken);
      if (taken.length > 0) continue;
      if (parts > 1) ledger.leave('session', about.id, 'A part of its messages was refused.');
      break;
    }
  }
  came(await whole.flush());
}

type About = Omit<BundledSession, 'messages' | 'attachments' | 'from' | 'more'>;

function aboutSession(row: Row): About | undefined {
  const id = textOf(row, 'id', 400);
  if (id === undefined) return undefined;
  const createdAt = timeOf(row, 'createdat') ?? timeOf(row, 'lastactivity') ?? 0;
  const lastActivity = timeOf(row, 'lastactivity') ?? createdAt;
  const words = {
    employee: textOf(row, 'employee', 64),
    engine: textOf(row, 'engine', 64),
    model: textOf(row, 'model'),
    effort: textOf(row, 'effortlevel', 64),
    parent: textOf(row, 'parentsessionid'),
    workItem: textOf(row, 'workitemid'),
    status: textOf(row, 'status', 32),
  };
  return {
    id: fitId(id, /^[A-Za-z0-9._:-]{1,200}$/),
    createdAt: new Date(createdAt).toISOString(),
    lastActivity: new Date(lastActivity).toISOString(),
    title: textOf(row, 'title') ?? textOf(row, 'promptexcerpt') ?? 'Session',
    ...(Object.fromEntries(
      Object.entries(words).filter(([, value]) => value !== undefined),
    ) as Partial<About>),
    ...(row['archivedat'] != null && { archived: true }),
    costUsd: numberOf(row, 'totalcost', 1_000_000) ?? 0,
    turns: Math.floor(numberOf(row, 'totalturns', 10_000_000) ?? 0),
  };
}

/** Ids of another shape get one of ours, the same each time. */
const fitId = (id: string, shape: RegExp): string =>
  shape.test(id) ? id : `other-${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;

interface PastMessage {
  readonly message: BundledMessage;
  readonly files: readonly BundledFile[];
}

async function* pastMessages(
  rows: Iterable<Row>,
  files: HomeFiles,
  ledger: ImportLedger,
): AsyncGenerator<PastMessage> {
  const ids = new Set<string>();
  let at = 0;
  for (const row of rows) {
    const id = fitId(textOf(row, 'id', 400) ?? `row ${ids.size}`, /^[A-Za-z0-9._:-]{1,64}$/);
    if (ids.has(id)) {
      ledger.leave('session', id, 'A message with an id that another message of its session has.');
      continue;
    }
    ids.add(id);
    const content = String(row['content'] ?? '');
    if (content.length >= charsMax)
      ledger.change('session', id, `A message was cut at ${charsMax} characters.`);
    if (jsonOf(row, 'blocks') !== undefined)
      ledger.change('session', id, 'The card of a message was left out; its words are there.');
    at = timeOf(row, 'timestamp') ?? timeOf(row, 'createdat') ?? at;
    const shown: BundledFile[] = [];
    const lost: string[] = [];
    let room = filesCharsMax;
    for (const { id: fileId, name } of mediaOf(row)) {
      const found = await files.read(fileId);
      const isTooMuch = (found?.content?.length ?? 0) > room;
      const file = found !== undefined && isTooMuch ? { sha256: found.sha256, name: found.name } : found;
      room -= file?.content?.length ?? 0;
      if (isTooMuch)
        ledger.change(
          'session',
          name,
          'The attachments of its message are too large together: it is named in it.',
        );
      if (file === undefined) lost.push(`\n\n[Not imported: ${name}]`);
      else shown.push(file);
      if (found?.content === undefined)
        ledger.change(
          'session',
          name,
          'An attachment that is missing there, or too large, is named in its message.',
        );
    }
    const role = textOf(row, 'role');
    yield {
      message: {
        id,
        role: role === 'user' || role === 'assistant' ? role : 'notification',
        content: `${content}${lost.join('')}`,
        timestamp: at,
        ...toolOf(row),
        ...(shown.length > 0 && { attachments: shown.map(({ sha256 }) => sha256) }),
      },
      files: shown,
    };
  }
}

/** A use of a tool: its name, or what the agent said of the call. */
function toolOf(row: Row): Pick<BundledMessage, 'toolCall' | 'toolId' | 'meta'> {
  const call = textOf(row, 'toolcall', charsMax);
  if (call === undefined) return {};
  const written = jsonOf(row, 'toolcall');
  const known =
    typeof written === 'object' && written !== null ? (written as Readonly<Record<string, unknown>>) : {};
  const { name = known['tool'], input = known['arguments'] } = known;
  const toolId = textOf(row, 'toolid');
  const toolInput =
    input === undefined ? undefined : typeof input === 'string' ? input : JSON.stringify(input);
  return {
    toolCall: (typeof name === 'string' && name !== '' ? name : call).slice(0, 200),
    ...(toolId !== undefined && { toolId }),
    meta: {
      kind: 'tool',
      state: 'done',
      ...(toolInput !== undefined && { toolInput: toolInput.slice(0, 100_000) }),
    },
  };
}

function mediaOf(row: Row): readonly { readonly id: string; readonly name: string }[] {
  const media = jsonOf(row, 'media');
  if (!Array.isArray(media)) return [];
  return media.slice(0, 50).flatMap((one: unknown) => {
    const { url, name } = (one ?? {}) as Readonly<Record<string, unknown>>;
    const [, id] = /^\/api\/files\/([A-Za-z0-9._-]{1,100})$/.exec(String(url)) ?? [];
    return id === undefined ? [] : [{ id, name: String(name ?? id).slice(0, 200) }];
  });
}

/** As many messages as one request takes, with the files that they show. */
async function* inParts(
  about: About,
  said: AsyncIterable<PastMessage>,
): AsyncGenerator<{ readonly session: BundledSession; readonly isLast: boolean }> {
  let from = 0;
  let messages: BundledMessage[] = [];
  let files = new Map<string, BundledFile>();
  let chars = 0;
  const part = (isLast: boolean): BundledSession => ({
    ...about,
    ...(from > 0 && { from }),
    ...(!isLast && { more: true }),
    messages,
    ...(files.size > 0 && { attachments: [...files.values()] }),
  });
  for await (const { message, files: shown } of said) {
    const size = JSON.stringify([message, shown]).length;
    if (messages.length > 0 && (chars + size > partCharsMax || messages.length >= partMessagesMax)) {
      yield { session: part(false), isLast: false };
      from += messages.length;
      messages = [];
      files = new Map();
      chars = 0;
    }
    messages.push(message);
    for (const file of shown)
      if (file.content !== undefined || !files.has(file.sha256)) files.set(file.sha256, file);
    chars += size;
  }
  yield { session: part(true), isLast: true };
}

const partCharsMax = 1_500_000;
/** Of the attachments of one message, which stands in one part: one of the largest, or several smaller ones. */
const filesCharsMax = 1_400_000;
const partMessagesMax = 2_000;
