import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { type FairShare, backpressured, drainedBytes } from './backpressured-socket.js';
import { wireOf, type Burst, type Commit, type PastBursts } from './bursts.js';
import type { Feed } from './feed.js';
import { framesOf, frameText, progressWire, type Reported, type Reset } from './frames.js';
import { frameOfText } from './text-frame.js';
import { visibilityOf } from './visibility.js';
import type { App } from '../../commands/app.js';
import type { InspectFilter } from '../../client/inspector-frames.js';
import type { ProgressFrame } from '../../supervisor/contract.js';
import type { Caller } from '../../../machines/caller.js';
import type { ActorKey } from '../../../machines/outputs.js';

/**
 * One socket's view of the log. Replay is paced by what the socket drains; live frames are not, and a reader
 * that has a megabyte waiting for longer than a moment is cut with 4008: it can resume where it stopped, and
 * costs no one else anything.
 */
export interface Subscription {
  /** From now on, or from a log position (exclusive). Again: from there again. */
  start(since: number | undefined): void;
  /** A text frame of the client. */
  hear(text: string): void;
  /** Tell how far the socket has come; holes are normal under filters. */
  cursor(): void;
  stop(): void;
}

export function subscription(options: {
  app: App;
  feed: Feed;
  past: PastBursts;
  socket: WebSocket;
  /** What the socket was opened on. */
  stream: Duplex;
  caller: Caller;
  filter: Pick<InspectFilter, 'kinds' | 'ids'>;
  log: Logger;
  share: FairShare;
}): Subscription {
  const {
    app: { supervisor },
    feed,
    past,
    socket,
    log,
    share,
  } = options;
  const sees = visibilityOf(options.app, options.caller);
  let wanted = filterOf({ ...options.filter });
  let running = new AbortController();
  let leave = (): void => undefined;
  let reached = feed.position;
  const sink = backpressured(socket, () => stop(), options.stream);
  const { send } = sink;
  let stopped = false;
  let queue: Promise<void> | undefined; // frames that wait for a read, and all behind them

  const forget = feed.onProgress((progress) => {
    if (takesAll()) sink.sendWire(progress.wire);
    else for (const frame of progress.frames) showProgress(frame);
  });

  function showProgress(frame: ProgressFrame): void {
    if (wanted?.(frame.actor) === false) return;
    const known = sees.now(frame.actor);
    const report = (): boolean => sink.sendWire(progressWire(frame));
    if (known && !queue) report();
    else if (known !== false) inOrder(async () => void ((await sees.later(frame.actor)) && report()));
  }

  function inOrder(task: () => Promise<void>): void {
    const mine = (queue ?? Promise.resolve()).then(task).catch(fail);
    queue = mine;
    void mine.then(() => {
      if (queue === mine) queue = undefined;
    });
  }

  function show(burst: Burst): void {
    if (burst.seq <= reached) return;
    if (burst.reset) showReset(burst.reset, burst.seq);
    else if (takesAll() && isAhead(burst)) sendWhole(burst);
    else for (const commit of burst.commits) showCommit(commit);
  }

  function showReset(reset: Reset, seq: number): void {
    const { signal } = running;
    if (queue) inOrder(async () => void (signal.aborted || sendReset(reset, seq)));
    else sendReset(reset, seq);
  }

  /** Nothing is hidden from it, left out or waited for: it is sent what all such sockets are sent. */
  const takesAll = (): boolean => sees.all && wanted === undefined && !queue;

  const isAhead = ({ commits: [first] }: Burst): boolean => first !== undefined && first.seq > reached;

  function sendWhole(burst: Burst): void {
    const wire = wireOf(burst);
    if (wire.length === 0 || sink.sendWire(wire)) reached = burst.seq;
  }

  /**
   * A commit whose entries' visibility is known goes out at once; else it waits for the read, and the next
   * ones behind it.
   */
  function showCommit(commit: Commit): void {
    if (commit.seq <= reached) return;
    const published = publishedIn(commit);
    const unknown = published.some((entry) => sees.now(entry) === undefined);
    if (!unknown && !queue) return sendCommit(commit, new Set(published.filter((entry) => sees.now(entry))));
    const { signal } = running;
    inOrder(async () => {
      const visible = await visibleOf(published);
      if (!signal.aborted) sendCommit(commit, visible);
    });
  }

  const publishedIn = ({ entries }: Commit): readonly Reported[] =>
    entries.filter((entry) => wanted?.(entry) !== false);

  async function visibleOf(entries: readonly Reported[]): Promise<ReadonlySet<Reported>> {
    const visible = new Set<Reported>();
    for (const entry of entries) if (await sees.later(entry)) visible.add(entry);
    return visible;
  }

  function sendCommit({ seq, entries }: Commit, visible: ReadonlySet<Reported>): void {
    if (seq <= reached) return;
    for (const text of framesOf(entries, seq, (entry) => visible.has(entry))) if (!send(text)) return;
    reached = seq;
  }

  /**
   * Read the log until it meets the feed, at the socket's pace; then live from the feed. It is joined at the
   * place that this socket has reached: what was committed while the socket drained comes from the feed, or,
   * when that was much, from the log.
   */
  async function replay(since: number, signal: AbortSignal): Promise<void> {
    reached = since;
    if (since >= feed.position && join()) return;
    const leavePast = past.enter();
    try {
      do {
        await replaySlices(signal);
        await sink.drained(signal);
      } while (goesOn(signal) && !join());
    } finally {
      leavePast();
    }
  }

  /** False also for one that says goodbye: it takes nothing any more. */
  const goesOn = (signal: AbortSignal): boolean => !signal.aborted && socket.readyState === socket.OPEN;

  function join(): boolean {
    const joined = feed.join(reached, show, fail);
    leave = joined ?? leave;
    return joined !== undefined;
  }

  /** As much as the socket takes at once. */
  async function replaySlices(signal: AbortSignal): Promise<void> {
    let more = true;
    while (more && goesOn(signal) && socket.bufferedAmount <= drainedBytes) {
      more = await share(() => replaySlice(signal));
      // What the system took at once counts as waiting until then
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Some commits, for a few milliseconds or until the socket has enough. False: it has caught up. */
  async function replaySlice(signal: AbortSignal): Promise<boolean> {
    const until = performance.now() + sliceMs;
    while (reached < feed.position) {
      const burst = await past.after(reached);
      const { erasures } = supervisor.inspection;
      if (!goesOn(signal)) return false;
      if (burst.reset) sendReset(burst.reset, burst.seq);
      else if (takesAll()) sendWhole(burst);
      else
        for (const commit of burst.commits) {
          const visible = await visibleOf(publishedIn(commit));
          if (!goesOn(signal)) return false;
          if (supervisor.inspection.erasures !== erasures) return true; // it is read again
          sendCommit(commit, visible);
        }
      if (performance.now() >= until || socket.bufferedAmount > drainedBytes) return true;
    }
    return false;
  }

  function start(since: number | undefined): void {
    if (stopped) return;
    stopFollowing();
    running = new AbortController();
    const { signal } = running;
    const head = supervisor.status.position;
    // The log is shorter than the client remembers: it was restored
    if (since !== undefined && since > head) sendReset({ floor: 0, head }, head);
    const from = since === undefined || since > head ? feed.position : since;
    // A reader whose connection breaks before its first frame can resume all the same
    sink.sendWire(cursorWire(from));
    replay(from, signal).catch((error: unknown) => signal.aborted || fail(error));
  }

  function stopFollowing(): void {
    running.abort();
    leave();
    leave = () => undefined;
  }

  function stop(): void {
    stopped = true;
    stopFollowing();
    forget();
  }

  function fail(error: unknown): void {
    // Of one that has gone it says only that what is read ends with the gateway
    log[socket.readyState === socket.OPEN ? 'error' : 'debug']({ err: error }, 'a subscription failed');
    socket.close(1011, 'internal error; resume from your cursor');
  }

  function sendReset(reset: Reset, seq: number): void {
    send(frameText({ seq: null, event: 'reset', payload: reset, ts: supervisor.environment.clock.now() }));
    reached = seq;
  }

  const complain = (error: string): void =>
    void send(
      frameText({
        seq: null,
        event: 'error',
        payload: { error, code: 'BAD_REQUEST' },
        ts: supervisor.environment.clock.now(),
      }),
    );

  return {
    start,
    stop,
    hear(text) {
      const said = parsed(text);
      if (said === undefined) return complain('A frame must be a JSON object.');
      if (said['event'] === 'ping') return void send('{"event":"pong","payload":{}}');
      if (said['type'] === 'subscribe') return void (wanted = filterOf(said));
      const { since } = said;
      if (said['type'] === 'resume' && typeof since === 'number' && Number.isSafeInteger(since) && since >= 0)
        return start(since);
      complain(
        'Unknown frame. Send {event: "ping"}, {type: "resume", since} and {type: "subscribe", kinds?, ids?}.',
      );
    },
    cursor: () => void (queue ?? sink.sendWire(cursorWire(reached))),
  };
}

/** Most sockets stand where the last one stands. */
function cursorWire(seq: number): Buffer {
  if (seq !== lastCursor.seq)
    lastCursor = { seq, wire: frameOfText(JSON.stringify({ event: 'cursor', seq, payload: {} })) };
  return lastCursor.wire;
}

let lastCursor: { readonly seq: number; readonly wire: Buffer } = { seq: -1, wire: Buffer.alloc(0) };

const sliceMs = 4;

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined; // not JSON
  }
}

/** Undefined: everything is wanted. */
function filterOf(said: Record<string, unknown>): ((actor: ActorKey) => boolean) | undefined {
  const kinds = names(said['kinds']);
  const ids = names(said['ids']);
  if (kinds === undefined && ids === undefined) return undefined;
  return ({ kind, id }) => (!kinds || kinds.has(kind)) && (!ids || ids.has(id));
}

/** At most a thousand names; anything else means no filter. */
const names = (value: unknown): ReadonlySet<string> | undefined =>
  Array.isArray(value)
    ? new Set(value.filter((name): name is string => typeof name === 'string').slice(0, 1_000))
    : undefined;
