import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { system, type Caller } from '../../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { HeldCopy } from '../../home/held-copies.js';
import { optionsOf, type App, type GatewayActor, type Reply, type Request } from '../app.js';
import { removeFile } from '../files.js';
import { idsOf, iterateRecords } from '../iterate.js';

/**
 * What sessions hold is erased: messages, tool calls, permissions, names, files, what engines keep of the
 * conversation, and what the log says of all that. What was spent, when and by whom stays; so does what was reported
 * to others, whose record it is. A row says what is not done yet: after a crash the next start goes on.
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
  const [busy, quiet] = [chosen.filter(isBusy), chosen.filter((one) => !isBusy(one))];
  const ids = quiet.map(({ id }) => id);
  const rehearsal = { messages: 0, files: 0, logEntries: 0 };
  for (const { id } of quiet) {
    rehearsal.messages += (
      await app.supervisor.rows({ kind: 'session', id }, 'messages', { last: rowsMax })
    ).length;
    rehearsal.files += (await filesOf(app, [id])).length;
  }
  const counted =
    request.dryRun === true ? rehearsal : { ...rehearsal, logEntries: await eraseAll(request, ids) };
  return {
    body: {
      sessions: ids,
      skipped: busy.map(({ id }) => id),
      ...counted,
      reportedTo: [
        ...new Set(quiet.flatMap(({ workItemId, parentSessionId }) => [workItemId, parentSessionId])),
      ].filter((id) => id !== null),
      heldBy: (await app.erasure?.heldBy()) ?? [],
    },
  };
}

const isBusy = ({ status }: Chosen): boolean => status === 'running' || status === 'waiting';

type Chosen = Pick<
  GatewayActor<'session'>['view'],
  'id' | 'status' | 'employee' | 'workItemId' | 'parentSessionId'
>;

async function chosenBy(app: App, { sessionId, before, person }: ErasureInput): Promise<readonly Chosen[]> {
  if (sessionId !== undefined) {
    const session = await app.supervisor.get('session', sessionId);
    return session === undefined ? [] : [session.view];
  }
  const chosen: Chosen[] = [];
  const ids = [
    ...(await idsOf(app.supervisor, 'session', { index: 'all' })),
    ...(await idsOf(app.supervisor, 'session', { index: 'archived' })),
  ];
  for await (const row of iterateRecords(app.supervisor, 'session', ids)) {
    const session = row as unknown as GatewayActor<'session'>['view']; // as its kind shows it
    const isMeant =
      before === undefined ? session.employee === person : Date.parse(session.lastActivity) < before;
    if (isMeant) chosen.push(session);
  }
  return chosen;
}

/** Managed files that came with these sessions or were kept for them. */
async function filesOf(app: App, sessions: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const row of iterateRecords(
    app.supervisor,
    'file',
    await idsOf(app.supervisor, 'file', { index: 'all' }),
  )) {
    const { id, sessionId } = row as { readonly id: string; readonly sessionId: string | null };
    if (sessionId !== null && sessions.includes(sessionId)) found.push(id);
  }
  return found;
}

/** Answers how many log entries were blanked. */
async function eraseAll(request: Request, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const { app, caller } = request;
  const key = `${pendingPrefix}${app.supervisor.environment.ids.next()}`;
  await app.supervisor.transact({
    name: 'begin-erasure',
    startsWork: false, // it makes room
    actors: [],
    ...optionsOf({ ...request, dryRun: false }),
    run(turns) {
      turns.put(key, { ids });
      return null;
    },
  });
  return goOn(app, key, ids, caller);
}

async function goOn(app: App, key: string, ids: readonly string[], caller: Caller): Promise<number> {
  let entries = 0;
  for (const id of ids) entries += await eraseOne(app, id, caller);
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
  return entries;
}

async function eraseOne(app: App, id: string, caller: Caller): Promise<number> {
  const { supervisor, records } = app;
  const session = await supervisor.get('session', id);
  if (session === undefined) return 0;
  await app.engines.eraseTranscripts?.(session.view.engineSessions ?? {}, session.view.cwd);
  await rm(join(app.settings.home, 'engines', 'codex', 'of', basename(id)), { recursive: true, force: true });
  const files = await filesOf(app, [id]);
  if (session.view.status !== 'deleted') {
    const done = await supervisor.ask('session', id, { type: 'session.erase' }, { by: caller });
    if (isRefusal(done)) return 0; // it has begun to work since: it is erased when it is asked for again
  }
  let entries = await erased(app, { kind: 'session', id }, caller);
  for (const file of files) {
    if (records !== undefined) await removeFile({ app, caller }, records, file);
    entries += await erased(app, { kind: 'file', id: file }, caller);
  }
  return entries;
}

const erased = async (app: App, actor: { kind: string; id: string }, caller: Caller): Promise<number> => {
  const entries = await app.supervisor.retention.erase(actor, caller);
  return isRefusal(entries) ? 0 : entries;
};

/** At a start: what was begun in an earlier life. */
export async function resumeErasures(app: App): Promise<void> {
  for (const [key, row] of await app.supervisor.keyValues(pendingPrefix)) {
    const { ids } = (row ?? { ids: [] }) as { readonly ids: readonly string[] };
    if (row !== null) await goOn(app, key, ids, system('erasure'));
  }
}

const pendingPrefix = 'erasure/';
const rowsMax = 100_000;
