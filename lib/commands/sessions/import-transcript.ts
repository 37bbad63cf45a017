import type { App, GatewayActor } from '../app.js';
import { foundMax } from '../../../machines/session/transcript.js';
import { system } from '../../../machines/caller.js';
import type { TranscriptEntry } from '../../../actors/engines/engine.js';
import { isRefusal } from '../../../machines/refusals.js';
import { sessionsFrom } from './visible-sessions.js';

/**
 * Anyone who looks at a session may find that someone went on with it in the agent's own program: then what was
 * said there is taken over. Not more often than once a minute, only while it rests, and beside the answer
 * that is being given: a client hears of it on `/ws`, or sees it when it looks again.
 */
export function scheduleImport(app: App, session: GatewayActor<'session'>): void {
  const { engine, engineSessionId, cwd, lastActivity, status, worker } = session.view;
  if (worker !== null) return; // its record is on another machine
  if (app.engines.readTranscript === undefined || engineSessionId === null || !resting.includes(status))
    return;
  const { environment } = app.supervisor;
  const readAt = reads.get(app) ?? new Map<string, number>();
  reads.set(app, readAt);
  if (environment.clock.monotonic() - (readAt.get(session.id) ?? -Infinity) < everyMs) return;
  if (readAt.size >= readsMax) readAt.clear(); // then some are read a little more often
  readAt.set(session.id, environment.clock.monotonic());
  importTranscript(app, session.id, {
    engine: engine,
    nativeId: engineSessionId,
    cwd: cwd,
    after: Date.parse(lastActivity),
  }).catch((error: unknown) =>
    environment.log.warn({ err: error, sessionId: session.id }, 'could not read a transcript'),
  );
}

/**
 * An agent's own program says that a conversation went on: the session that holds it, of those active last, takes it
 * over. Answers its id; undefined where there is none at rest, or its engine reads no record.
 * @example await importConversation(app, '0b7f…')
 */
export async function importConversation(app: App, nativeId: string): Promise<string | undefined> {
  if (app.engines.readTranscript === undefined) return undefined;
  let checked = 0;
  for await (const { session } of sessionsFrom(app, system('hook'))) {
    if (session.engineSessionId === nativeId && session.worker === null && resting.includes(session.status)) {
      const { id, engine, cwd, lastActivity } = session;
      await importTranscript(app, id, { engine, nativeId, cwd, after: Date.parse(lastActivity) });
      return id;
    }
    checked += 1;
    if (checked >= checkedMax) return undefined;
  }
  return undefined;
}

const resting = ['idle', 'error', 'interrupted', 'stopped'];
const reads = new WeakMap<App, Map<string, number>>();
const everyMs = 60_000;
const readsMax = 10_000;
/** Who goes on with a conversation elsewhere does so with a recent one. */
const checkedMax = 1_000;

async function importTranscript(
  app: App,
  id: string,
  { engine, nativeId, cwd, after }: { engine: string; nativeId: string; cwd: string; after: number },
): Promise<void> {
  const entries = await app.engines.readTranscript?.(engine, nativeId, cwd);
  const fresh = bounded((entries ?? []).filter(({ timestamp }) => timestamp > after));
  if (fresh.length === 0) return;
  const done = await app.supervisor.ask(
    'session',
    id,
    { type: 'transcript.found', entries: fresh },
    { by: system('transcripts') },
  );
  if (isRefusal(done) && done.code !== 'CONFLICT')
    app.supervisor.environment.log.warn({ code: done.code, sessionId: id }, 'could not import a transcript');
}

/** What one commit takes, from the oldest on; the rest comes with the next look. */
function bounded(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  let chars = 0;
  const taken: TranscriptEntry[] = [];
  for (const entry of entries.slice(0, foundMax)) {
    const content = entry.content.slice(0, entryCharsMax);
    chars += content.length;
    if (chars > charsMax) break;
    taken.push({ ...entry, content });
  }
  return taken;
}

const entryCharsMax = 100_000;
const charsMax = 500_000;
