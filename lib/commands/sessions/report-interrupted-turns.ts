import type { Json } from '../../../machines/outputs.js';
import { jsonBytes } from '../../../machines/text.js';
import { announceFact } from '../../records/records.js';
import type { Store } from '../../store/contract.js';
import { partsOf, prefix } from '../../store/keys.js';
import type { LogEntry, Supervisor } from '../../supervisor/contract.js';
import { recordsOf } from '../iterate.js';

/**
 * Reports to subscribers, once after a start, the sessions whose turn was interrupted when the gateway last
 * stopped: one frame `sessions:interrupted`, when each of them is settled. Each was also announced by itself,
 * in the commit that
 * settled it.
 */
export interface InterruptedTurns {
  /** Where the log stood. */
  readonly since: number;
  /** Of turns that had begun: the session and the turn. */
  readonly turns: readonly (readonly [sessionId: string, turnId: string])[];
}

/**
 * To be read before there is a supervisor, which settles them at once: intents of turns that no one has taken
 * away.
 */
export async function interruptedTurns(store: Pick<Store, 'head' | 'page'>): Promise<InterruptedTurns> {
  const since = store.head.seq;
  const turns: (readonly [string, string])[] = [];
  for (let range = prefix('o/session/') as { gte: string; lt: string }; ;) {
    const page = await store.page({ ...range, limit: pageSize });
    for (const [key, value] of page) {
      const { src, input, note } = JSON.parse(value) as {
        src: string;
        input: { turnId?: string } | null;
        note?: Json;
      };
      const sessionId = partsOf(key)[2];
      if (
        src === 'engine-turn' &&
        note !== undefined &&
        sessionId !== undefined &&
        input?.turnId !== undefined
      )
        turns.push([sessionId, input.turnId]);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return { since, turns };
    range = { ...range, gte: `${last[0]}\x00` };
  }
}

/**
 * `const report = reportInterruptedTurns(supervisor, await interruptedTurns(store), (error) =>
 * log.error(error))`. Reports
 * nothing if no turn was interrupted.
 */
export function reportInterruptedTurns(
  supervisor: Supervisor,
  cut: InterruptedTurns,
  failed: (error: unknown) => void,
): { close(): void } {
  if (cut.turns.length === 0) return { close: () => undefined };
  const end = new AbortController();
  const cancels = [supervisor.environment.clock.timeout(patienceMs, () => end.abort())];
  let closed = false;
  const report = async (): Promise<void> => {
    const ids = await settled(supervisor, cut, end.signal);
    await new Promise<void>((resolve) => {
      cancels.push(supervisor.environment.clock.timeout(returnMs, resolve));
    });
    if (ids.length > 0 && !closed)
      await announceFact(supervisor, 'sessions:interrupted', await interruptedSessions(supervisor, ids));
  };
  void report()
    .catch((error: unknown) => {
      if (!closed) failed(error);
    })
    .finally(() => {
      cancels[0]?.();
    });
  return {
    close() {
      closed = true;
      end.abort();
      for (const cancel of cancels) cancel();
    },
  };
}

const pageSize = 1_000;
/** A process that cannot be ended is given up long before. */
const patienceMs = 60_000;
/** Subscribers of the last run need a moment to reconnect. */
const returnMs = 1_000;

/** Those whose turn came to the end `interrupted`. One that someone had left before the crash does not. */
async function settled(
  supervisor: Supervisor,
  { since, turns }: InterruptedTurns,
  signal: AbortSignal,
): Promise<string[]> {
  const waiting = new Set<string>();
  for (const [id, turnId] of turns) {
    const record = (await supervisor.get('session', id))?.view as
      | { status?: string; attemptToken?: string | null }
      | undefined;
    if (record?.status === 'running' && record.attemptToken === turnId) waiting.add(id);
  }
  const known = new Set(turns.map(([id]) => id));
  const interrupted = new Set<string>();
  const upTo = supervisor.status.position;
  if (upTo === since && waiting.size === 0) return [];
  for await (const entry of supervisor.watch({ since, signal })) {
    if (entry.kind === 'session' && known.has(entry.id)) {
      if (announces(entry, 'session:interrupted')) interrupted.add(entry.id);
      if (completions.some((name) => announces(entry, name))) waiting.delete(entry.id);
    }
    if (entry.position >= upTo && waiting.size === 0) break;
  }
  return [...interrupted];
}

const completions = ['session:interrupted', 'session:stopped', 'session:completed', 'session:deleted'];
const announces = ({ frames }: LogEntry, name: string): boolean => frames.some(({ event }) => event === name);

/**
 * The names that existing clients read; as many sessions as a fact may hold, and of all how many they are.
 */
async function interruptedSessions(supervisor: Supervisor, ids: readonly string[]): Promise<Json> {
  const sessions: Json[] = [];
  for (const row of await recordsOf(supervisor, 'session', ids)) {
    const {
      id = null,
      engine = null,
      employee = null,
      title = null,
      lastActivity = null,
    } = row as Record<string, Json>;
    const next = { id, engine, employee, title, lastActivity };
    if (jsonBytes([...sessions, next]) > listBytesMax) break;
    sessions.push(next);
  }
  return { count: ids.length, sessions };
}
const listBytesMax = 8_000;
