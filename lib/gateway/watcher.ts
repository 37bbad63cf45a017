import type { Logger } from 'pino';
import { WebSocket } from 'ws';
import { framesOf, frameText, isReset } from './frames.js';
import { sight } from './sight.js';
import type { Desk } from '../commands/desk.js';
import type { LogEntry, ProgressFrame } from '../supervisor/contract.js';
import type { Caller } from '../../machines/caller.js';

/**
 * One socket's view of the log. Replay is paced by what the socket drains; live frames are not, and a reader that has
 * a megabyte waiting is cut with 4008: it can resume where it stopped, and costs nobody else anything.
 */
export interface Watcher {
  start(since: number | undefined): void;
  /** A text frame of the client. */
  hear(text: string): void;
  /** Tell how far the socket has come; holes are normal under filters. */
  cursor(): void;
  stop(): void;
}

export function watcher(options: { desk: Desk; socket: WebSocket; caller: Caller; log: Logger }): Watcher {
  const { desk, socket, log } = options;
  const { supervisor } = desk;
  const sees = sight(desk, options.caller);
  let kinds: ReadonlySet<string> | undefined;
  let ids: ReadonlySet<string> | undefined;
  let running = new AbortController();
  let reached = supervisor.status.seq;

  const wanted = (actor: { kind: string; id: string }): boolean => (!kinds || kinds.has(actor.kind)) && (!ids || ids.has(actor.id));

  const forget = supervisor.onProgress((frame: ProgressFrame) => {
    if (!wanted(frame.actor)) return;
    const known = sees.now(frame.actor);
    if (known === false) return;
    const text = frameText({ seq: null, event: frame.event, payload: frame.payload, ts: frame.at });
    if (known) return void send(text);
    sees.later(frame.actor).then((visible) => visible && send(text), (error: unknown) => fail(error));
  });

  /** False when the socket is gone or was cut. */
  function send(text: string): boolean {
    if (socket.readyState !== WebSocket.OPEN) return false;
    if (socket.bufferedAmount > bufferedBytesMax) {
      socket.close(4008, 'too slow: resume from your cursor');
      setTimeout(() => socket.terminate(), 1_000).unref(); // a reader that reads nothing will not read the goodbye either
      return false;
    }
    socket.send(text);
    return true;
  }

  async function follow(since: number | undefined, signal: AbortSignal): Promise<void> {
    const head = supervisor.status.seq;
    reached = since ?? head;
    if (since !== undefined && since > head) return reset(head); // a log that is shorter than the client remembers was restored
    let commit: LogEntry[] = [];
    for await (const entry of supervisor.watch({ signal, ...(since !== undefined && { since }) })) {
      if (signal.aborted) return;
      if (isReset(entry)) {
        send(frameText({ seq: null, event: 'reset', payload: floorOf(entry, supervisor.status.seq), ts: supervisor.world.now() }));
        continue;
      }
      commit.push(entry);
      if (!entry.last) continue;
      const visible = new Set<LogEntry>();
      for (const each of commit) if (each.frames.length > 0 && wanted(each) && (await sees.later(each))) visible.add(each);
      if (signal.aborted) return;
      for (const text of framesOf(commit, (each) => visible.has(each))) if (!send(text)) return;
      reached = entry.seq;
      commit = [];
      if (entry.seq <= head) await drained(socket, signal);
    }
  }

  async function reset(head: number): Promise<void> {
    send(frameText({ seq: null, event: 'reset', payload: { floor: 0, head }, ts: supervisor.world.now() }));
    return follow(undefined, running.signal);
  }

  function start(since: number | undefined): void {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    follow(since, signal).catch((error: unknown) => signal.aborted || fail(error));
  }

  function fail(error: unknown): void {
    log.error({ err: error }, 'a watcher ended in a fault');
    socket.close(1011, 'a fault; resume from your cursor');
  }

  return {
    start,
    hear(text) {
      const said = parsed(text);
      if (said === undefined) return void send(frameText({ seq: null, event: 'error', payload: { error: 'Frames are JSON objects.', code: 'BAD_REQUEST' }, ts: supervisor.world.now() }));
      if (said['event'] === 'ping') return void send('{"event":"pong","payload":{}}');
      if (said['type'] === 'resume' && Number.isSafeInteger(said['since']) && Number(said['since']) >= 0) return start(Number(said['since']));
      if (said['type'] === 'subscribe') {
        kinds = names(said['kinds']);
        ids = names(said['ids']);
        return;
      }
      send(frameText({ seq: null, event: 'error', payload: { error: 'Known are ping, resume {since} and subscribe {kinds?, ids?}.', code: 'BAD_REQUEST' }, ts: supervisor.world.now() }));
    },
    cursor: () => void send(JSON.stringify({ event: 'cursor', seq: reached })),
    stop() {
      running.abort();
      forget();
    },
  };
}

const bufferedBytesMax = 1_048_576;
const drainedBytes = 65_536;

/** Resolves once little waits in the socket, or the socket or the watch is gone. */
async function drained(socket: WebSocket, signal: AbortSignal): Promise<void> {
  while (socket.bufferedAmount > drainedBytes && socket.readyState === WebSocket.OPEN && !signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The kernel's word on a gap: `{floor, head}`. */
function floorOf(entry: LogEntry, head: number): { floor: number; head: number } {
  const { floor } = entry.event as { floor?: unknown };
  return { floor: typeof floor === 'number' ? floor : entry.seq, head };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // not JSON
  }
}

/** At most a thousand names; anything else means no filter. */
const names = (value: unknown): ReadonlySet<string> | undefined =>
  Array.isArray(value) ? new Set(value.filter((name): name is string => typeof name === 'string').slice(0, 1_000)) : undefined;
