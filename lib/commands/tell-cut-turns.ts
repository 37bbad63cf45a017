import type { Json } from '../../machines/ground.js';
import { jsonBytes } from '../../machines/json-bytes.js';
import { announceFact } from '../records/records.js';
import type { Store } from '../store/contract.js';
import { partsOf, prefix } from '../store/keys.js';
import type { LogEntry, Supervisor } from '../supervisor/contract.js';
import { recordsOf } from './walk.js';

/**
 * Tells watchers, once after a start, of the sessions whose turn was cut when the gateway's last life ended: one frame
 * `sessions:interrupted`, when each of them is settled. Every one was told of by itself too, in the commit that settled it.
 */
export interface CutTurns {
  /** Where the log stood. */
  readonly since: number;
  /** Of turns that had begun: the session and the turn. */
  readonly turns: readonly (readonly [sessionId: string, turnId: string])[];
}

/** To be read before there is a supervisor, which settles them at once: intents of turns that nobody has taken away. */
export async function cutTurns(store: Pick<Store, 'head' | 'page'>): Promise<CutTurns> {
  const since = store.head.seq;
  const turns: (readonly [string, string])[] = [];
  for (let range = prefix('o/session/') as { gte: string; lt: string };;) {
    const page = await store.page({ ...range, limit: pageSize });
    for (const [key, value] of page) {
      const { src, input, note } = JSON.parse(value) as { src: string; input: { turnId?: string } | null; note?: Json };
      const sessionId = partsOf(key)[2];
      if (src === 'engine-turn' && note !== undefined && sessionId !== undefined && input?.turnId !== undefined) turns.push([sessionId, input.turnId]);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return { since, turns };
    range = { ...range, gte: `${last[0]}\x00` };
  }
}

/** `const telling = tellCutTurns(supervisor, await cutTurns(store), (error) => log.error(error))`. Nothing is told where nothing was cut. */
export function tellCutTurns(supervisor: Supervisor, cut: CutTurns, failed: (error: unknown) => void): { close(): void } {
  const end = new AbortController();
  const cancels = [supervisor.world.timeout(patienceMs, () => end.abort())];
  let closed = false;
  const tell = async (): Promise<void> => {
    const ids = await settled(supervisor, cut, end.signal);
    await new Promise<void>((resolve) => { cancels.push(supervisor.world.timeout(returnMs, resolve)); });
    if (ids.length > 0 && !closed) await announceFact(supervisor, 'sessions:interrupted', await told(supervisor, ids));
  };
  if (cut.turns.length > 0) void tell().catch((error: unknown) => { if (!closed) failed(error); }).finally(() => { cancels[0]?.(); });
  else cancels[0]?.();
  return { close() { closed = true; end.abort(); for (const cancel of cancels) cancel(); } };
}

const pageSize = 1_000;
/** A process that cannot be ended is given up long before. */
const patienceMs = 60_000;
/** Who watched the last life needs a moment to come back. */
const returnMs = 1_000;

/** Those whose turn came to the end `interrupted`. One that somebody had left before the crash does not. */
async function settled(supervisor: Supervisor, { since, turns }: CutTurns, signal: AbortSignal): Promise<string[]> {
  const waiting = new Set<string>();
  for (const [id, turnId] of turns) {
    const record = (await supervisor.get('session', id))?.view as { status?: string; attemptToken?: string | null } | undefined;
    if (record?.status === 'running' && record.attemptToken === turnId) waiting.add(id);
  }
  const known = new Set(turns.map(([id]) => id));
  const interrupted = new Set<string>();
  const upTo = supervisor.status.seq;
  if (upTo === since && waiting.size === 0) return [];
  for await (const entry of supervisor.watch({ since, signal })) {
    if (entry.kind === 'session' && known.has(entry.id)) {
      if (tells(entry, 'session:interrupted')) interrupted.add(entry.id);
      if (endings.some((name) => tells(entry, name))) waiting.delete(entry.id);
    }
    if (entry.seq >= upTo && waiting.size === 0) break;
  }
  return [...interrupted];
}

const endings = ['session:interrupted', 'session:stopped', 'session:completed', 'session:deleted'];
const tells = ({ frames }: LogEntry, name: string): boolean => frames.some(({ event }) => event === name);

/** The names that existing clients read; as many sessions as a fact may hold, and of all how many they are. */
async function told(supervisor: Supervisor, ids: readonly string[]): Promise<Json> {
  const sessions: Json[] = [];
  for (const row of await recordsOf(supervisor, 'session', ids)) {
    const { id = null, engine = null, employee = null, title = null, lastActivity = null } = row as Record<string, Json>;
    const next = { id, engine, employee, title, lastActivity };
    if (jsonBytes([...sessions, next]) > listBytesMax) break;
    sessions.push(next);
  }
  return { count: ids.length, sessions };
}
const listBytesMax = 8_000;
