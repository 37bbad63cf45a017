import { availableParallelism } from 'node:os';

/**
 * Slots for agent processes: so many at once in all and per engine, handed out first come first served within
 * a root session and in turn between roots, so that one tree of a hundred agents cannot starve a person's
 * single question. A session holds at most one slot: its next turn waits until the last one has settled.
 */
export interface Pool {
  /**
   * Wait for a slot. Rejects with the signal's reason when aborted while waiting. Release exactly once (more
   * is harmless).
   */
  take(request: SlotRequest): Promise<Slot>;
  /** How many slots will be given out before this session's, plus one; undefined when it does not wait. */
  position(sessionId: string): number | undefined;
  stats(): PoolStats;
}

export interface SlotRequest {
  readonly sessionId: string;
  /** The session at the top of the tree; fairness is between these. */
  readonly rootId: string;
  readonly engine: string;
  readonly signal: AbortSignal;
}

export interface Slot {
  release(): void;
}

export interface PoolStats {
  readonly max: number;
  readonly running: number;
  readonly waiting: number;
  readonly engines: Readonly<Record<string, number>>;
}

export interface PoolOptions {
  /** Default: two per core. */
  readonly maxProcesses?: number;
  /** Further limits by engine name. */
  readonly perEngine?: Readonly<Record<string, number>>;
}

interface Ticket extends SlotRequest {
  readonly grant: () => void;
}

/** `const slot = await createPool({maxProcesses: 4}).take({sessionId, rootId, engine: 'clerk', signal})` */
export function createPool({
  maxProcesses = 2 * availableParallelism(),
  perEngine = {},
}: PoolOptions = {}): Pool {
  if (!(maxProcesses >= 1)) throw new RangeError('maxProcesses must be at least 1');
  /** Roots in the order of their next turn; each with its waiting tickets, oldest first. */
  const queues = new Map<string, Ticket[]>();
  const busySessions = new Set<string>();
  const running = new Map<string, number>();
  let total = 0;

  const mayRun = (ticket: Ticket): boolean =>
    !busySessions.has(ticket.sessionId) &&
    (running.get(ticket.engine) ?? 0) < (perEngine[ticket.engine] ?? Infinity);

  function next(): Ticket | undefined {
    for (const [rootId, tickets] of queues) {
      const index = tickets.findIndex(mayRun);
      if (index < 0) continue;
      const [ticket] = tickets.splice(index, 1);
      queues.delete(rootId);
      if (tickets.length > 0) queues.set(rootId, tickets); // this root goes to the end of the round
      return ticket;
    }
    return undefined;
  }

  function serve(): void {
    while (total < maxProcesses) {
      const ticket = next();
      if (ticket === undefined) return;
      total += 1;
      busySessions.add(ticket.sessionId);
      running.set(ticket.engine, (running.get(ticket.engine) ?? 0) + 1);
      ticket.grant();
    }
  }

  function slotOf(ticket: SlotRequest): Slot {
    let held = true;
    return {
      release() {
        if (!held) return;
        held = false;
        total -= 1;
        busySessions.delete(ticket.sessionId);
        running.set(ticket.engine, (running.get(ticket.engine) ?? 1) - 1);
        serve();
      },
    };
  }

  function forget(ticket: Ticket): void {
    const tickets = queues.get(ticket.rootId)?.filter((other) => other !== ticket) ?? [];
    if (tickets.length > 0) queues.set(ticket.rootId, tickets);
    else queues.delete(ticket.rootId);
  }

  return {
    take(request) {
      return new Promise((resolve, reject) => {
        const { signal } = request;
        if (signal.aborted) return reject(signal.reason as Error);
        const onAbort = (): void => {
          forget(ticket);
          reject(signal.reason as Error);
          serve();
        };
        const ticket: Ticket = {
          ...request,
          grant() {
            signal.removeEventListener('abort', onAbort);
            resolve(slotOf(request));
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        const tickets = queues.get(request.rootId);
        if (tickets === undefined) queues.set(request.rootId, [ticket]);
        else tickets.push(ticket);
        serve();
      });
    },
    position(sessionId) {
      const index = inTurn([...queues.values()]).findIndex((ticket) => ticket.sessionId === sessionId);
      return index < 0 ? undefined : index + 1;
    },
    stats() {
      const waiting = [...queues.values()].reduce((sum, tickets) => sum + tickets.length, 0);
      const engines = Object.fromEntries([...running].filter(([, count]) => count > 0));
      return { max: maxProcesses, running: total, waiting, engines };
    },
  };
}

/** The waiting tickets in the order in which the rounds will reach them. */
function inTurn(queues: readonly (readonly Ticket[])[]): readonly Ticket[] {
  const rounds = Math.max(0, ...queues.map((tickets) => tickets.length));
  return Array.from({ length: rounds }, (_, round) =>
    queues.flatMap((tickets) => tickets[round] ?? []),
  ).flat();
}
