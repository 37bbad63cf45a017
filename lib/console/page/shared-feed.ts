import type { GatewayEvent } from '../../client/events.js';
import { GatewayError } from '../../client/refusal.js';
import { bearer } from '../../page/access.js';
import { client } from '../../page/gateway.js';

/**
 * One socket for all tabs of a browser. The tab that holds a Web Lock follows the gateway and hands everything on over
 * a BroadcastChannel; when it is closed another gets the lock and goes on from where it is itself, so that nothing is
 * missed. A tab that is behind what the leader hands on reads what it lacks over a socket of its own, and closes that.
 * One that hears nothing of a leader, which a browser has frozen, takes the lock from it.
 *
 * Only tabs with the same credential share. Where a browser has no locks (over plain HTTP from another machine) each
 * tab has its socket.
 */
export interface SharedFeed {
  /** How far this tab has come. */
  readonly position: () => number | undefined;
  /** Everything from the position on, in order and once; what is not stored in between. */
  readonly take: (packet: Packet) => void;
  readonly onConnection: (isOpen: boolean) => void;
  /** Nothing comes any more: the gateway lets this tab in no longer, or another has taken the lock. */
  readonly onEnd: (error?: unknown) => void;
}

/** Frames that belong together: a commit, or something that is not stored. */
export interface Packet {
  readonly frames: readonly GatewayEvent[];
  /** The log no longer holds what was missed. */
  readonly reset: boolean;
  /** Positions before and after; undefined: it is not stored. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

type Message =
  | { readonly is: 'packet'; readonly packet: Packet }
  /** What a leader answers to `ask`, and says when its connection changes. */
  | { readonly is: 'at'; readonly at: number | undefined; readonly isOpen: boolean }
  | { readonly is: 'ask' };

/** Returns the way to stop. */
export function openSharedFeed(tab: SharedFeed): () => void {
  let stop = (): void => undefined;
  let isStopped = false;
  void channelName().then((name) => {
    if (!isStopped) stop = name === undefined ? followAlone(tab, tab.onEnd) : join(name, tab);
  });
  return () => {
    isStopped = true;
    stop();
  };
}

/** Undefined: this browser shares nothing here. */
async function channelName(): Promise<string | undefined> {
  if (!('locks' in navigator) || !('BroadcastChannel' in window)) return undefined;
  const token = bearer();
  if (token === null) return base;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  return `${base}.${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The number changes with what the tabs say to each other. */
const base = 'troupe.events.1';

function join(name: string, tab: SharedFeed): () => void {
  const channel = new BroadcastChannel(name);
  const end = new AbortController();
  let lead: (() => void) | undefined; // ends it
  let isOpen = false;
  let leaderAt: number | undefined;
  let heardAt = performance.now();
  let catchUp: (() => void) | undefined; // ends it
  let timer: ReturnType<typeof setInterval> | undefined;
  const say = (message: Message): void => channel.postMessage(message);

  function close(): void {
    clearInterval(timer);
    end.abort();
    catchUp?.();
    lead?.();
    channel.close();
  }

  function finish(error?: unknown): void {
    if (end.signal.aborted) return;
    close();
    tab.onEnd(error);
  }

  function show(open: boolean): void {
    isOpen = open;
    tab.onConnection(open);
  }

  function follow(): void {
    const at = tab.position();
    if (lead !== undefined || catchUp !== undefined || leaderAt === undefined) return;
    if (at === undefined) tab.take({ frames: [], reset: false, from: undefined, to: leaderAt });
    else if (at < leaderAt)
      catchUp = followAlone({ ...tab, take: takeMissed, onConnection: () => undefined }, finish);
  }

  function takeMissed(packet: Packet): void {
    if (packet.to === undefined) return; // comes from the leader
    tab.take(packet);
    if (leaderAt !== undefined && packet.to < leaderAt) return;
    catchUp?.();
    catchUp = undefined;
  }

  function hear({ data }: MessageEvent<Message>): void {
    if (data.is === 'ask') {
      if (lead !== undefined) say({ is: 'at', at: tab.position(), isOpen });
      return;
    }
    if (lead !== undefined) return; // of one that does not know yet that it leads no more
    heardAt = performance.now();
    if (data.is === 'at') {
      leaderAt = data.at;
      show(data.isOpen);
      return follow();
    }
    const { packet } = data;
    leaderAt = packet.to ?? leaderAt;
    if (packet.to === undefined || packet.reset) return tab.take(packet);
    if (catchUp !== undefined) return;
    const at = tab.position();
    if (at !== undefined && packet.to <= at) return;
    if (at === undefined || (packet.from !== undefined && packet.from <= at))
      tab.take({ ...packet, frames: packet.frames.filter(({ seq }) => seq === null || seq > (at ?? -1)) });
    else follow();
  }

  /** Lasts as long as this tab holds the lock. */
  const leading = (): Promise<void> =>
    new Promise((resolve) => {
      if (end.signal.aborted) return resolve();
      catchUp?.();
      catchUp = undefined;
      const stop = followAlone(
        {
          ...tab,
          take(packet) {
            tab.take(packet);
            say({ is: 'packet', packet });
          },
          onConnection(open) {
            show(open);
            say({ is: 'at', at: tab.position(), isOpen: open });
          },
        },
        (error) => {
          say({ is: 'at', at: tab.position(), isOpen: false });
          finish(error);
        },
      );
      lead = () => {
        stop();
        resolve();
      };
    });

  const wait = (options: LockOptions): void =>
    void navigator.locks.request(name, options, leading).catch(() => finish()); // another took it, or it ended

  /** A leader that answers nothing holds up everyone. */
  function watch(): void {
    if (lead !== undefined || document.visibilityState === 'hidden') {
      heardAt = performance.now();
      return;
    }
    if (performance.now() - heardAt > silentMs) {
      heardAt = performance.now();
      return wait({ steal: true });
    }
    say({ is: 'ask' });
  }

  channel.addEventListener('message', hear);
  wait({ signal: end.signal });
  say({ is: 'ask' });
  timer = setInterval(watch, askMs);
  return close;
}

const askMs = 1_000;
const silentMs = 4_000;

/** Over a socket of this tab. `onEnd` is not called for one that was stopped. */
function followAlone(
  { position, take, onConnection }: SharedFeed,
  onEnd: (error?: unknown) => void,
): () => void {
  let frames: GatewayEvent[] = [];
  let isReset = false;
  let from = position();
  let isStopped = false;
  const events = client.events({
    ...(from !== undefined && { since: from }),
    onConnection: (isOpen) => {
      if (!isStopped) onConnection(isOpen);
    },
    onPosition(to) {
      if (isStopped) return;
      const packet = { frames, reset: isReset, from, to };
      [frames, isReset, from] = [[], false, to];
      take(packet);
    },
  });
  async function follow(): Promise<void> {
    let ended: unknown;
    try {
      for await (const frame of events) {
        if (isStopped) return;
        if (frame.event === 'reset') [frames, isReset] = [[], true];
        else if (frame.seq === null) take({ frames: [frame], reset: false, from: undefined, to: undefined });
        else frames.push(frame);
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) reportError(error); // else why is asked for by itself
      ended = error;
    }
    if (!isStopped) onEnd(ended);
  }
  void follow();
  return () => {
    isStopped = true;
    events.close();
  };
}
