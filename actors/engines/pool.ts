import { availableParallelism } from 'node:os';
import type { Placement } from '../../machines/session/context.js';

/**
 * Slots for agent processes: so many at once in all and per engine, handed out first come first served within
 * a root session and in turn between roots, so that one tree of a hundred agents cannot starve a person's
 * single question. A session holds at most one slot: its next turn waits until the last one has settled.
 *
 * Workers on other machines have slots of their own. A turn that belongs on one waits for one of those, in the same
 * queue, and is never given a slot of this machine.
 */
export interface Pool {
  /**
   * Wait for a slot. Rejects with the signal's reason when aborted while waiting. Release exactly once (more
   * is harmless).
   */
  take(request: SlotRequest): Promise<Slot>;
  /** Of a turn that runs already, on that worker: it counts, whether there is a slot for it or not. */
  hold(request: Pick<SlotRequest, 'sessionId' | 'engine'>, worker: string | undefined): Slot;
  /** How many slots will be given out before this session's, plus one; undefined when it does not wait. */
  position(sessionId: string): number | undefined;
  stats(): PoolStats;
  /** Those that no worker which takes turns now could ever run. */
  stranded(): readonly SlotRequest[];
  /** Workers came, went or were drained: is there a slot for one that waits? */
  serve(): void;
}

export interface SlotRequest {
  readonly sessionId: string;
  /** The session at the top of the tree; fairness is between these. */
  readonly rootId: string;
  readonly engine: string;
  readonly signal: AbortSignal;
  /** On a worker of another machine. Absent: on this one. */
  readonly placement?: Placement;
}

/** A worker of another machine that takes turns now. */
export interface Place {
  readonly name: string;
  readonly slots: number;
  readonly labels: readonly string[];
  readonly engines: readonly string[];
}

export interface Slot {
  /** The worker whose slot it is; undefined: this machine's. */
  readonly worker: string | undefined;
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
  /** Asked whenever a slot is given out. Default: there are none. */
  readonly places?: () => readonly Place[];
}

interface Ticket extends SlotRequest {
  readonly grant: (worker: string | undefined) => void;
}

/** `const slot = await createPool({maxProcesses: 4}).take({sessionId, rootId, engine: 'clerk', signal})` */
export function createPool({
  maxProcesses = 2 * availableParallelism(),
  perEngine = {},
  places = () => [],
}: PoolOptions = {}): Pool {
  if (!(maxProcesses >= 1)) throw new RangeError('maxProcesses must be at least 1');
  /** Roots in the order of their next turn; each with its waiting tickets, oldest first. */
  const queues = new Map<string, Ticket[]>();
  const busySessions = new Set<string>();
  const running = new Map<string, number>();
  /** By the name of the worker; undefined: this machine. */
  const taken = new Map<string | undefined, number>();
  const takenAt = (worker: string | undefined): number => taken.get(worker) ?? 0;

  /** Undefined: nowhere now. */
  function placeFor({ sessionId, engine, placement }: Ticket): { readonly worker?: string } | undefined {
    if (busySessions.has(sessionId) || (running.get(engine) ?? 0) >= (perEngine[engine] ?? Infinity))
      return undefined;
    if (placement === undefined) return takenAt(undefined) < maxProcesses ? {} : undefined;
    const [freest] = places()
      .filter((place) => fits(place, placement, engine) && takenAt(place.name) < place.slots)
      .sort((one, other) => takenAt(one.name) / one.slots - takenAt(other.name) / other.slots);
    return freest && { worker: freest.name };
  }

  function next(): { readonly ticket: Ticket; readonly worker?: string } | undefined {
    if (takenAt(undefined) >= maxProcesses && places().length === 0) return undefined;
    for (const [rootId, tickets] of queues) {
      for (const [index, ticket] of tickets.entries()) {
        const place = placeFor(ticket);
        if (place === undefined) continue;
        tickets.splice(index, 1);
        queues.delete(rootId);
        if (tickets.length > 0) queues.set(rootId, tickets); // this root goes to the end of the round
        return { ticket, ...place };
      }
    }
    return undefined;
  }

  function serve(): void {
    for (let found = next(); found !== undefined; found = next()) {
      found.ticket.grant(found.worker);
    }
  }

  function hold(ticket: Pick<SlotRequest, 'sessionId' | 'engine'>, worker: string | undefined): Slot {
    let held = true;
    taken.set(worker, takenAt(worker) + 1);
    busySessions.add(ticket.sessionId);
    running.set(ticket.engine, (running.get(ticket.engine) ?? 0) + 1);
    return {
      worker,
      release() {
        if (!held) return;
        held = false;
        taken.set(worker, takenAt(worker) - 1);
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
    hold,
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
          grant(worker) {
            signal.removeEventListener('abort', onAbort);
            resolve(hold(request, worker));
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
    stranded() {
      const there = places();
      return [...queues.values()]
        .flat()
        .filter(
          ({ placement, engine }) =>
            placement !== undefined && !there.some((place) => fits(place, placement, engine)),
        );
    },
    stats() {
      const waiting = [...queues.values()].reduce((sum, tickets) => sum + tickets.length, 0);
      const engines = Object.fromEntries([...running].filter(([, count]) => count > 0));
      const max = places().reduce((sum, { slots }) => sum + slots, maxProcesses);
      const all = [...taken.values()].reduce((sum, count) => sum + count, 0);
      return { max, running: all, waiting, engines };
    },
    serve,
  };
}

/** May a turn of this engine run there? */
const fits = (place: Place, placement: Placement, engine: string): boolean =>
  place.engines.includes(engine) && isMeant(place, placement);

/** Is this the worker that is asked for, or one of those? `isMeant({ name, labels }, placement)` */
export const isMeant = (
  { name, labels }: Pick<Place, 'name' | 'labels'>,
  { worker, labels: wanted }: Placement,
): boolean => (worker === null ? wanted.every((label) => labels.includes(label)) : worker === name);

/** The waiting tickets in the order in which the rounds will reach them. */
function inTurn(queues: readonly (readonly Ticket[])[]): readonly Ticket[] {
  const rounds = Math.max(0, ...queues.map((tickets) => tickets.length));
  return Array.from({ length: rounds }, (_, round) =>
    queues.flatMap((tickets) => tickets[round] ?? []),
  ).flat();
}
