import type { Json } from '../../machines/outputs.js';
import type { Place } from '../../actors/engines/pool.js';
import type { Redact } from '../../actors/engines/turn-events.js';
import { readNote } from '../../actors/engines/process.js';
import type { RemoteTurns } from '../../actors/session/turn-hosts.js';
import type { FollowedTurn } from './connection.js';
import { RemoteWorker, type RemoteLink } from './remote-worker.js';
import type { RemoteFrame, RemoteReady } from './remote-frames.js';

/** The workers on other machines, as far as this gateway speaks to them. */
export interface RemoteWorkers extends RemoteTurns {
  /** Those that take turns now. */
  places(): readonly Place[];
  /** Told when workers came, went, or were drained. */
  onChange(listener: () => void): void;
  /** One was let in, and this is its connection. */
  connect(name: string, link: RemoteLink, ready: RemoteReady, isDraining: boolean): void;
  take(name: string, link: RemoteLink, frame: RemoteFrame): void;
  disconnect(name: string, link: RemoteLink): void;
  /** Nothing more begins there, or again. */
  drain(name: string, isDraining: boolean): void;
  /** It was removed: its turns are over, at once. */
  remove(name: string): void;
  /** Of one that is known to this gateway. */
  stateOf(name: string): RemoteState | undefined;
  /** May this gateway speak for the home right now? */
  mayCommand(): boolean;
  /** How long turns there go on without this gateway. */
  readonly waitMs: number;
  /** This gateway stops, and its turns there go on. */
  leave(): void;
  keepNone(): void;
  /** How many turns go on. */
  readonly left: number;
}

export interface RemoteState {
  readonly isHere: boolean;
  readonly pid: number | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number | undefined;
  /** Of Troupe. */
  readonly version: string | undefined;
  readonly turns: readonly (FollowedTurn & { readonly turnId: string })[];
}

export interface RemoteWorkersOptions {
  readonly waitMs: number;
  readonly redact: Redact;
  readonly onFault: (engine: string, error: unknown) => void;
  /** False where another node may own the home: then nothing is said to workers. Default: always. */
  readonly mayCommand?: () => boolean;
  /** How long an agent may take to end that was asked to. Default: 20 s. */
  readonly endMs?: number;
}

/** `const remote = remoteWorkers({ waitMs: 60_000, redact, onFault })` */
export function remoteWorkers({
  waitMs,
  redact,
  onFault,
  mayCommand = () => true,
  endMs = 20_000,
}: RemoteWorkersOptions): RemoteWorkers {
  const workers = new Map<string, RemoteWorker>();
  const draining = new Set<string>();
  const listeners = new Set<() => void>();
  let keepsNone = false;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };

  function worker(name: string): RemoteWorker {
    const known = workers.get(name);
    if (known !== undefined) return known;
    const made = new RemoteWorker({
      name,
      redact,
      onFault,
      lostAfterMs: waitMs + endMs,
      endMs: 2 * endMs, // and what it says on the way
      mayLeave: () => !keepsNone,
    });
    workers.set(name, made);
    return made;
  }

  return {
    waitMs,
    mayCommand,
    places: () =>
      [...workers].flatMap(([name, { isHere, offer }]) =>
        isHere && offer !== undefined && !draining.has(name)
          ? [{ name, slots: offer.slots, labels: offer.labels, engines: offer.engines }]
          : [],
      ),
    onChange: (listener) => void listeners.add(listener),
    connect(name, link, ready, isDraining) {
      if (isDraining) draining.add(name);
      else draining.delete(name);
      worker(name).connect(link, ready);
      changed();
    },
    take: (name, link, frame) => workers.get(name)?.take(link, frame),
    disconnect(name, link) {
      workers.get(name)?.leave(link);
      changed();
    },
    drain(name, isDraining) {
      if (isDraining) draining.add(name);
      else draining.delete(name);
      changed();
    },
    remove(name) {
      workers.get(name)?.cut(`The worker ${name} was removed.`);
      workers.delete(name);
      draining.delete(name);
      changed();
    },
    stateOf(name) {
      const found = workers.get(name);
      if (found === undefined) return undefined;
      const turns = [...found.turns].map(([turnId, { sessionId, engine, beganAt }]) => ({
        turnId,
        sessionId,
        engine,
        beganAt,
      }));
      const { isHere, ready } = found;
      return { isHere, pid: ready?.pid, startedAt: ready?.startedAt, version: ready?.version, turns };
    },
    prepare: (name, turn, signal) => worker(name).prepare({ type: 'prepare', ...turn }, signal),
    begin: (name, turn, side, signal) => worker(name).begin(turn, side, signal),
    giveUp: (name, turnId) => worker(name).drop(turnId),
    workerOf: (note) => placeIn(note)?.worker,
    async attach(note, turnId, side, signal) {
      const place = placeIn(note);
      const tokenHash = readNote(note)?.tokenHash;
      if (place === undefined || typeof tokenHash !== 'string') return undefined;
      const { engine, beganAt } = place;
      return worker(place.worker).attach(turnId, { tokenHash, engine, beganAt }, side, signal);
    },
    async drop(note, turnId) {
      const place = placeIn(note);
      if (place !== undefined) worker(place.worker).drop(turnId);
    },
    leave() {
      for (const each of workers.values()) each.goodbye(plannedWaitMs);
    },
    keepNone() {
      keepsNone = true;
    },
    get left() {
      return [...workers.values()].reduce((sum, { left }) => sum + left, 0);
    },
  };
}

/** Where the gateway was stopped on purpose: it is about to come back. */
const plannedWaitMs = 15 * 60_000;

/** The worker in a note of a turn that ran on another machine. */
function placeIn(note: Json | undefined): Noted | undefined {
  const { worker, isElsewhere, engine, beganAt } = (note ?? {}) as { readonly [member: string]: Json };
  return isElsewhere === true && typeof worker === 'string' && typeof beganAt === 'number'
    ? { worker, engine: String(engine), beganAt }
    : undefined;
}

interface Noted {
  readonly worker: string;
  readonly engine: string;
  readonly beganAt: number;
}
