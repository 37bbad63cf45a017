import { join } from 'node:path';
import type { Json } from '../../machines/outputs.js';
import { machineName, bootName } from '../../actors/engines/process/machine.js';
import type { Engine } from '../../actors/engines/engine.js';
import type { EngineLimits } from '../../actors/engines/limits.js';
import type { Redact } from '../../actors/engines/turn-events.js';
import type { TurnHosts } from '../../actors/session/turn-hosts.js';
import { openConnection, type Connection, type FollowedTurn } from './connection.js';
import { startWorker } from './start-worker.js';
import { machineMs, workerName, type WorkerSetup } from './wire.js';

/**
 * The gateway's side of its workers. The first turn starts one, which serves this gateway for as long as it lives;
 * turns of earlier gateways are found in theirs. Each life has a worker of its own, so that engines are as this
 * gateway is configured, and of its version.
 */
export interface Workers extends TurnHosts {
  /** The engine, that knows of its provider's limits what its turns have shown elsewhere. */
  hearing(engine: Engine): Engine;
  /** Names of engines whose turns begin in a worker. */
  readonly hosted: ReadonlySet<string>;
  /** Those that this gateway speaks to. */
  list(): Promise<readonly WorkerRecord[]>;
  /** No turn begins there any more; it ends with its last one. False where there is none of this name. */
  drain(name: string): Promise<boolean>;
  /** Ends its turns, which are interrupted, and then it. False where there is none of this name. */
  remove(name: string): Promise<boolean>;
  /** This gateway stops, and its turns go on. */
  leave(): void;
  /** The home goes to another machine, which could not find them: from now on no turn goes on. */
  keepNone(): void;
  /** How many turns go on. */
  readonly left: number;
}

/** A worker as people see it. */
export interface WorkerRecord {
  readonly name: string;
  /** serving: turns begin there; draining: only what it has goes on; earlier: it has turns of an earlier gateway. */
  readonly state: 'serving' | 'draining' | 'earlier';
  readonly pid: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Of Troupe; null: of a build that did not say it yet. */
  readonly version: string | null;
  readonly turns: readonly (FollowedTurn & { readonly turnId: string })[];
}

export interface WorkersOptions {
  /** Where sockets lie; others than the owner of the home have no way in. */
  readonly folder: string;
  /** What workers write on stderr goes to the end of this file. */
  readonly logFile: string;
  readonly engines: Pick<WorkerSetup, 'engines' | 'enginesFolder' | 'gatewayUrl'>;
  /** Engines that a worker can make of the configuration. */
  readonly hosted: ReadonlySet<string>;
  readonly redact: Redact;
  readonly onFault: (engine: string, error: unknown) => void;
  /** How long turns go on when this gateway dies. Default: one minute. */
  readonly waitMs?: number;
  /** For how many milliseconds more no other node can own the home. Absent: none ever will. */
  readonly authorityMs?: () => number;
}

const standardWaitMs = 60_000;
/** Where the gateway was stopped on purpose: it is about to come back. */
const plannedWaitMs = 15 * 60_000;
const prolongEveryMs = 200;
const idleMs = 10 * 60_000;

export function openWorkers(options: WorkersOptions): Workers {
  const { folder, logFile, hosted, waitMs = standardWaitMs } = options;
  const connections = new Map<string, Promise<Connection>>();
  const opened = new Set<Connection>();
  const limits = new Map<string, EngineLimits>();
  const draining = new Set<string>();
  const left = new Set<ReadonlySet<string>>();
  let own: Promise<Connection> | undefined;
  let keepsNone = false;
  let hasLeft = false;

  function connection(name: string): Promise<Connection> {
    const known = connections.get(name);
    if (known !== undefined) return known;
    const opening = openConnection(join(folder, name), {
      ...options,
      onLimits: (engine, seen) => limits.set(engine, seen),
      mayLeave: () => !keepsNone,
    });
    connections.set(name, opening);
    const forget = (): void => {
      if (connections.get(name) === opening) connections.delete(name);
      if (own === opening) own = undefined;
      draining.delete(name);
    };
    opening.then((worker) => {
      // It was started for a turn while this gateway ended, and would serve another owner's home
      if (hasLeft) return worker.end();
      left.add(worker.left);
      opened.add(worker);
      prolong(worker);
      void worker.closed.then(() => opened.delete(worker)).then(forget);
    }, forget);
    return opening;
  }

  function serving(): Promise<Connection> {
    if (own !== undefined) return own;
    const started = startWorker({ ...options.engines, folder, logFile, waitMs, idleMs }).then(connection);
    const forget = (): void => {
      if (own === started) own = undefined;
    };
    started.then(({ closed }) => void closed.then(forget), forget);
    return (own = started);
  }

  /** One that is frozen cannot say that its time is up: it is said beforehand. */
  function prolong(worker: Connection): void {
    const leftMs = options.authorityMs?.() ?? 0;
    if (leftMs > 0) worker.prolong(machineMs() + leftMs);
  }
  const prolongAll = (): void => {
    for (const worker of opened) prolong(worker);
  };
  const prolonging = options.authorityMs && setInterval(prolongAll, prolongEveryMs).unref();

  const open = async (): Promise<readonly Connection[]> =>
    (await Promise.all([...connections.values()].map((each) => each.catch(() => undefined)))).filter(
      (worker) => worker !== undefined,
    );
  const named = async (name: string): Promise<Connection | undefined> =>
    (await open()).find((worker) => worker.name === name);

  /** Nothing more begins there. */
  async function forsake(worker: Connection): Promise<void> {
    if ((await own?.catch(() => undefined)) === worker) own = undefined;
    draining.add(worker.name);
  }

  return {
    begin(turn, side) {
      if (!hosted.has(turn.engine.name)) return undefined;
      return (async () => {
        // One that has been idle may end at this very moment: what it did not begin, another one begins
        for (let tries = 0; tries < 3 && !hasLeft; tries += 1) {
          const worker = await serving();
          if (hasLeft) break;
          const distant = await worker.begin(turn, side);
          if (distant !== undefined) return distant;
        }
        throw new Error('No worker begins the turn.');
      })();
    },
    async attach(note, turnId, side) {
      const place = placeIn(note);
      if (place === undefined) return undefined;
      const worker = await connection(place.worker).catch(() => undefined); // it has ended, and its turns with it
      return worker?.attach(turnId, side, place.beganAt);
    },
    async drop(note, turnId) {
      const place = placeIn(note);
      const worker = place && (await connection(place.worker).catch(() => undefined));
      worker?.drop(turnId);
    },
    hearing(engine) {
      const { limits: known } = engine;
      if (known === undefined || !hosted.has(engine.name)) return engine;
      return { ...engine, limits: async () => limits.get(engine.name) ?? known() };
    },
    hosted,
    async list() {
      const mine = await own?.catch(() => undefined);
      return (await open()).map((worker) => ({
        name: worker.name,
        state: worker === mine ? 'serving' : draining.has(worker.name) ? 'draining' : 'earlier',
        pid: worker.pid,
        startedAt: worker.startedAt,
        version: worker.version,
        turns: [...worker.turns].map(([turnId, { sessionId, engine, beganAt }]) => ({
          turnId,
          sessionId,
          engine,
          beganAt,
        })),
      }));
    },
    async drain(name) {
      const worker = await named(name);
      if (worker === undefined) return false;
      await forsake(worker);
      worker.retire();
      return true;
    },
    async remove(name) {
      const worker = await named(name);
      if (worker === undefined) return false;
      await forsake(worker);
      worker.end();
      return true;
    },
    keepNone() {
      keepsNone = true;
    },
    get left() {
      return [...left].reduce((sum, { size }) => sum + size, 0);
    },
    leave() {
      hasLeft = true;
      clearInterval(prolonging);
      for (const opening of connections.values())
        void opening.then((worker) => worker.leave(plannedWaitMs)).catch(() => undefined);
    },
  };
}

/** The worker in a note of a turn of this machine, since it was last started. */
function placeIn(note: Json): { readonly worker: string; readonly beganAt: number } | undefined {
  const { worker, machine, boot, beganAt } = (note ?? {}) as { readonly [member: string]: Json | undefined };
  if (typeof worker !== 'string' || !workerName.test(worker) || typeof beganAt !== 'number') return undefined;
  return machine === machineName() && boot === bootName() ? { worker, beganAt } : undefined;
}
