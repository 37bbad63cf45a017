import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { system, type Caller } from '../../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Json } from '../../../machines/outputs.js';
import type { HeldCopy } from '../../home/held-copies.js';
import type { App, GatewayActor } from '../app.js';
import { optionsOf, type Reply, type Request } from '../request.js';
import { decisionsAbout } from '../held-decisions.js';
import { removeFile } from '../files.js';
import { eraseNotices } from '../notifications/erase-notices.js';
import { eraseUnsent } from './erase-unsent.js';

/**
 * What sessions hold is erased: messages, tool calls, permissions, names, files, what engines keep of the
 * conversation, and what the log and notifiers say of all that. What was spent, when and by whom stays; so
 * does what was reported to others, whose record it is. A row says what is not done yet: after a crash the
 * next start goes on.
 */
export interface ErasureInput {
  readonly sessionId?: string | undefined;
  /** Sessions without activity since. Epoch ms. */
  readonly before?: number | undefined;
  /** Sessions of that employee. */
  readonly person?: string | undefined;
}

export interface ErasureReport {
  readonly sessions: readonly string[];
  /** At work or waiting for their provider: stop them, and erase again. */
  readonly skipped: readonly string[];
  readonly messages: number;
  readonly files: number;
  /** Of the log; 0 in a rehearsal. */
  readonly logEntries: number;
  /** Work items and sessions that were told how the work ended, and keep that. */
  readonly reportedTo: readonly string[];
  readonly heldBy: readonly HeldCopy[];
}

/** `const done = await eraseContents({ app, caller, dryRun: true }, { sessionId: 's-1' })` */
export async function eraseContents(
  request: Request,
  input: ErasureInput,
): Promise<Reply<ErasureReport> | Refusal> {
  const { app } = request;
  if (Object.values(input).filter((value) => value !== undefined).length !== 1)
    return refuse('BAD_REQUEST', { path: 'sessionId' }, 'Name one of sessionId, before and person.');
  const chosen = await chosenBy(app, input);
  if (input.sessionId !== undefined && chosen.length === 0)
    return refuse('NOT_FOUND', { kind: 'session', id: input.sessionId }, 'Not found');
  const quiet = chosen.filter((one) => !isBusy(one));
  const held = await heldBy(app, quiet);
  const erased = request.dryRun === true ? undefined : await eraseAll(request, held);
  const isLeft = ({ id }: Pick<Chosen, 'id'>): boolean => erased?.left.includes(id) === true;
  const gone = held.filter((one) => !isLeft(one));
  return {
    body: {
      sessions: gone.map(({ id }) => id),
      skipped: chosen.filter((one) => isBusy(one) || isLeft(one)).map(({ id }) => id),
      messages: gone.reduce((sum, { messages }) => sum + messages, 0),
      files: gone.reduce((sum, { stored }) => sum + stored, 0),
      logEntries: erased?.entries ?? 0,
      reportedTo: [
        ...new Set(
          quiet
            .filter((one) => !isLeft(one))
            .flatMap(({ workItemId, parentSessionId }) => [workItemId, parentSessionId]),
        ),
      ].filter((id) => id !== null),
      heldBy: (await app.erasure?.heldBy()) ?? [],
    },
  };
}

const isBusy = ({ status }: Chosen): boolean => status === 'running' || status === 'waiting';

type Chosen = Pick<
  GatewayActor<'session'>['view'],
  'id' | 'status' | 'employee' | 'workItemId' | 'parentSessionId' | 'engineSessions' | 'cwd'
>;

async function chosenBy(app: App, { sessionId, before, person }: ErasureInput): Promise<readonly Chosen[]> {
  if (sessionId !== undefined) {
    const session = await app.supervisor.get('session', sessionId);
    return session === undefined ? [] : [session.view];
  }
  const chosen: Chosen[] = [];
  // deleted ones as well, which no list shows: the log still says what they held
  for await (const session of viewsOf(app, 'session')) {
    const isMeant =
      before === undefined ? session.employee === person : Date.parse(session.lastActivity) < before;
    if (isMeant) chosen.push(session);
  }
  return chosen;
}

/** All actors of a kind, whatever became of them. */
async function* viewsOf<Name extends 'session' | 'file'>(
  { supervisor }: App,
  kind: Name,
): AsyncGenerator<GatewayActor<Name>['view']> {
  for (let after: string | undefined; ;) {
    const page = await supervisor.iterate(kind, { limit: pageSize, ...(after !== undefined && { after }) });
    for (const { view } of page) yield view;
    after = page.at(-1)?.id;
    if (after === undefined || page.length < pageSize) return;
  }
}

/** What is erased with a session, noted before: the session itself forgets it first. */
interface Held extends Pick<Chosen, 'id' | 'cwd'> {
  readonly engineSessions: Readonly<Record<string, { readonly id: string }>>;
  readonly messages: number;
  readonly files: readonly string[];
  /** How many of the files are still there. */
  readonly stored: number;
}

async function heldBy(app: App, sessions: readonly Chosen[]): Promise<readonly Held[]> {
  const shown = new Map<string, { readonly messages: number; readonly files: readonly string[] }>();
  for (const { id } of sessions) shown.set(id, await messagesOf(app, id));
  const ids = new Set([...shown.values()].flatMap(({ files }) => files));
  const own = new Map<string, { readonly id: string; readonly isStored: boolean }[]>();
  const loose = new Map<string, boolean>();
  // a gateway without records runs no kind of files
  for await (const { id, sessionId, status } of app.records === undefined ? [] : viewsOf(app, 'file')) {
    const isStored = status === 'stored';
    if (sessionId === null && ids.has(id)) loose.set(id, isStored);
    else if (sessionId !== null && shown.has(sessionId))
      own.set(sessionId, [...(own.get(sessionId) ?? []), { id, isStored }]);
  }
  return sessions.map(({ id, cwd, engineSessions }) => {
    const { messages, files } = shown.get(id) ?? { messages: 0, files: [] };
    const all = [
      ...(own.get(id) ?? []),
      // uploaded for no session and shown in this one
      ...files.flatMap((file) => (loose.has(file) ? [{ id: file, isStored: loose.get(file) === true }] : [])),
    ];
    return {
      id,
      cwd,
      engineSessions: engineSessions ?? {},
      messages,
      files: all.map((file) => file.id),
      stored: all.filter(({ isStored }) => isStored).length,
    };
  });
}

/** How many messages there are, and the managed files that they show. */
async function messagesOf(
  { supervisor }: App,
  id: string,
): Promise<{ readonly messages: number; readonly files: readonly string[] }> {
  const files = new Set<string>();
  let messages = 0;
  for (let before: number | undefined; ;) {
    const rows = await supervisor.rows({ kind: 'session', id }, 'messages', {
      last: pageSize,
      ...(before !== undefined && { before }),
    });
    messages += rows.length;
    for (const { row } of rows)
      for (const [, file = ''] of JSON.stringify(row.media ?? null).matchAll(fileUrl)) files.add(file);
    if (rows.length < pageSize) return { messages, files: [...files] };
    before = Number(rows[0]?.n);
  }
}

const fileUrl = /"url":"\/api\/files\/([\w.:-]+)"/g;
const pageSize = 500;

/** How many log entries were blanked, and the sessions that had begun to work meanwhile. */
interface Erased {
  readonly entries: number;
  readonly left: readonly string[];
}

async function eraseAll(request: Request, sessions: readonly Held[]): Promise<Erased> {
  if (sessions.length === 0) return { entries: 0, left: [] };
  const { app, caller } = request;
  const key = `${pendingPrefix}${app.supervisor.environment.ids.next()}`;
  await app.supervisor.transact({
    name: 'begin-erasure',
    startsWork: false, // it makes room
    actors: [],
    ...optionsOf({ ...request, dryRun: false }),
    run(turns) {
      turns.put(key, { sessions: sessions as unknown as Json });
      return null;
    },
  });
  return goOn(app, key, sessions, caller);
}

async function goOn(app: App, key: string, sessions: readonly Held[], caller: Caller): Promise<Erased> {
  const { entries, left } = await eraseEach(app, sessions, caller);
  const gone = sessions.map(({ id }) => id).filter((id) => !left.includes(id));
  const noticed = await eraseNotices(app, gone, caller);
  await end(app, key, caller);
  return { entries: entries + noticed, left };
}

async function eraseEach(app: App, sessions: readonly Held[], caller: Caller): Promise<Erased> {
  const left: string[] = [];
  let entries = 0;
  for (const session of sessions) {
    const blanked = await eraseOne(app, session, caller);
    if (blanked === undefined) left.push(session.id);
    else entries += blanked;
  }
  return { entries, left };
}

async function end(app: App, key: string, caller: Caller): Promise<void> {
  await app.erasure?.compact();
  await app.supervisor.transact({
    name: 'end-erasure',
    startsWork: false,
    actors: [],
    by: caller,
    run(turns) {
      turns.put(key, null);
      return null;
    },
  });
}

/** Undefined: it has begun to work since, and is left as it is. */
async function eraseOne(app: App, held: Held, caller: Caller): Promise<number | undefined> {
  const { supervisor, records } = app;
  const session = await supervisor.get('session', held.id);
  if (session === undefined) return 0;
  if (session.view.status !== 'deleted') {
    const done = await supervisor.ask('session', held.id, { type: 'session.erase' }, { by: caller });
    if (isRefusal(done)) return undefined;
  }
  const conversations = { ...held.engineSessions, ...session.view.engineSessions };
  // What engines keep of it on a worker is for its user to remove
  if (session.view.worker === null) await app.engines.eraseTranscripts?.(conversations, held.cwd);
  await rm(join(app.settings.home, 'engines', 'codex', 'of', basename(held.id)), {
    recursive: true,
    force: true,
  });
  let entries = await erased(app, { kind: 'session', id: held.id }, caller);
  for (const file of held.files) {
    if (records !== undefined) await removeFile({ app, caller }, records, file);
    entries += await erased(app, { kind: 'file', id: file }, caller);
  }
  for (const id of await decisionsAbout(app, { kind: 'session', id: held.id }))
    entries += await erased(app, { kind: 'held-decision', id }, caller);
  const unsent = await eraseUnsent(app, held.id, caller);
  return unsent === undefined ? undefined : entries + unsent;
}

const erased = async (app: App, actor: { kind: string; id: string }, caller: Caller): Promise<number> => {
  const entries = await app.supervisor.retention.erase(actor, caller);
  return isRefusal(entries) ? 0 : entries;
};

/**
 * At a start: what was begun in an earlier life. Who asked for it has no answer any more, so a session that is at work
 * by now is waited for, with what it says meanwhile; `onWaiting` is told. Settles when all is done, or at the signal:
 * then the next start goes on.
 */
export async function resumeErasures(
  app: App,
  {
    signal,
    onWaiting,
  }: { readonly signal: AbortSignal; readonly onWaiting: (ids: readonly string[]) => void },
): Promise<void> {
  for (const [key, row] of await app.supervisor.keyValues(pendingPrefix)) {
    if (row === null) continue;
    let { sessions } = row as unknown as { readonly sessions: readonly Held[] }; // as eraseAll noted it
    const all = sessions.map(({ id }) => id);
    for (;;) {
      const since = app.supervisor.status.position;
      const { left } = await eraseEach(app, sessions, system('erasure'));
      if (left.length === 0) break;
      onWaiting(left);
      await untilOneRests(app, left, { since, signal });
      if (signal.aborted) return;
      sessions = await Promise.all(
        sessions.filter(({ id }) => left.includes(id)).map((one) => asItIs(app, one)),
      );
    }
    await eraseNotices(app, all, system('erasure'));
    await end(app, key, system('erasure'));
  }
}

async function untilOneRests(
  { supervisor }: App,
  ids: readonly string[],
  { since, signal }: { readonly since: number; readonly signal: AbortSignal },
): Promise<void> {
  const isAtRest = async (id: string): Promise<boolean> => {
    const session = await supervisor.get('session', id);
    return session === undefined || !isBusy(session.view);
  };
  for (const id of ids) if (await isAtRest(id)) return;
  for await (const { id } of supervisor.watch({ since, kinds: ['session'], signal }))
    if (ids.includes(id) && (await isAtRest(id))) return;
}

/** With the files and conversations that it has by now. */
async function asItIs(app: App, before: Held): Promise<Held> {
  const session = await app.supervisor.get('session', before.id);
  const [held] = session === undefined ? [] : await heldBy(app, [session.view]);
  return held === undefined ? before : { ...held, files: [...new Set([...before.files, ...held.files])] };
}

const pendingPrefix = 'erasure/';
