import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../machines/outputs.js';
import { redactor } from '../../machines/redact.js';
import { machineName, bootName } from '../../actors/engines/process/machine.js';
import type { Engine } from '../../actors/engines/engine.js';
import type { EngineLimits } from '../../actors/engines/limits.js';
import type { Redact } from '../../actors/engines/turn-events.js';
import { ConfineError } from '../../actors/sandbox/sandbox.js';
import type { DistantTurn, GatewaySide, TurnHosts } from '../../actors/session/turn-hosts.js';
import { sentence } from '../../actors/session/turn-outcome.js';
import { secretsIn } from '../../actors/session/turn-secrets.js';
import {
  onFrames,
  workerKey,
  workerName,
  write,
  type FromWorker,
  type ToWorker,
  type WorkerSetup,
} from './wire.js';

/**
 * The gateway's side of its workers. The first turn starts one, which serves this gateway for as long as it lives;
 * turns of earlier gateways are found in theirs. Each life has a worker of its own, so that engines are as this
 * gateway is configured, and of its version.
 */
export interface Workers extends TurnHosts {
  /** The engine, that knows of its provider's limits what its turns have shown elsewhere. */
  hearing(engine: Engine): Engine;
  /** This gateway stops, and its turns go on. */
  leave(): void;
  /** The home goes to another machine, which could not find them: from now on no turn goes on. */
  keepNone(): void;
  /** How many turns go on. */
  readonly left: number;
}

export interface WorkersOptions {
  /** Where sockets lie; others than the owner of the home have no way in. */
  readonly folder: string;
  /** What workers write on stderr goes to the end of this file. */
  readonly logFile: string;
  /** Of the home: keys of workers are made of it. */
  readonly secret: string;
  readonly engines: Pick<WorkerSetup, 'engines' | 'enginesFolder' | 'gatewayUrl'>;
  /** Engines that a worker can make of the configuration. */
  readonly hosted: ReadonlySet<string>;
  readonly redact: Redact;
  readonly onFault: (engine: string, error: unknown) => void;
  /** How long turns go on when this gateway dies. Default: one minute. */
  readonly waitMs?: number;
}

const standardWaitMs = 60_000;
/** Where the gateway was stopped on purpose: it is about to come back. */
const plannedWaitMs = 15 * 60_000;
const idleMs = 10 * 60_000;

export function openWorkers(options: WorkersOptions): Workers {
  const connections = new Map<string, Promise<Connection>>();
  const limits = new Map<string, EngineLimits>();
  const left = new Set<string>();
  let own: Promise<Connection> | undefined;
  let keepsNone = false;

  function connection(name: string): Promise<Connection> {
    const known = connections.get(name);
    if (known !== undefined) return known;
    const opening = openConnection(join(options.folder, name), workerKey(options.secret, name), {
      ...options,
      limits,
      left,
      mayLeave: () => !keepsNone,
    });
    connections.set(name, opening);
    const forget = (): void => {
      if (connections.get(name) === opening) connections.delete(name);
      if (own === opening) own = undefined;
    };
    opening.then(({ closed }) => void closed.then(forget), forget);
    return opening;
  }

  async function start(): Promise<Connection> {
    const name = `worker-${randomBytes(4).toString('hex')}`;
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    const setup: WorkerSetup = {
      ...options.engines,
      socket: join(options.folder, name),
      key: workerKey(options.secret, name),
      waitMs: options.waitMs ?? standardWaitMs,
      idleMs,
    };
    await startWorker(setup, options.logFile);
    return connection(name);
  }

  return {
    begin(turn, side) {
      const { engine, request, tokenHash, settleMs, graces } = turn;
      if (!options.hosted.has(engine.name)) return undefined;
      const { turnId } = request;
      return (own ??= start().catch((error: unknown) => {
        own = undefined;
        throw error;
      })).then((worker) => {
        const distant = worker.follow(turnId, side, request.env);
        worker.send({
          type: 'begin',
          turnId,
          engine: engine.name,
          request,
          tokenHash,
          settleMs,
          ...(graces && { graces }),
        });
        return distant;
      });
    },
    async attach(note, turnId, side) {
      const place = placeIn(note);
      if (place === undefined) return undefined;
      const worker = await connection(place.worker).catch(() => undefined); // it has ended, and its turns with it
      return worker?.attach(turnId, side, place.beganAt);
    },
    hearing(engine) {
      const { limits: own } = engine;
      if (own === undefined || !options.hosted.has(engine.name)) return engine;
      return { ...engine, limits: async () => limits.get(engine.name) ?? own() };
    },
    keepNone() {
      keepsNone = true;
    },
    get left() {
      return left.size;
    },
    leave() {
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

async function startWorker(setup: WorkerSetup, logFile: string): Promise<void> {
  const log = await open(logFile, 'a', 0o600);
  try {
    const child = spawn(process.execPath, [fileURLToPath(new URL('./main.js', import.meta.url))], {
      detached: true,
      stdio: ['pipe', 'pipe', log.fd],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) =>
        reject(new Error(`A worker ended as it began (${code}); see ${logFile}.`)),
      );
      child.stdout?.once('data', () => resolve());
      child.stdin?.on('error', reject);
      child.stdin?.end(JSON.stringify(setup));
    });
    child.stdout?.destroy();
    child.removeAllListeners('exit');
    child.unref();
  } finally {
    await log.close();
  }
}

interface Connection {
  send(frame: ToWorker): void;
  follow(
    turnId: string,
    side: GatewaySide,
    env: Readonly<Record<string, string>>,
    beganAt?: number,
  ): DistantTurn;
  attach(turnId: string, side: GatewaySide, beganAt: number): Promise<DistantTurn | undefined>;
  leave(waitMs: number): void;
  readonly closed: Promise<void>;
}

interface Followed {
  readonly side: GatewaySide;
  readonly secrets: Set<string>;
  readonly attached?: (isHere: boolean) => void;
}

function openConnection(
  path: string,
  key: string,
  {
    redact,
    onFault,
    limits,
    left,
    mayLeave,
  }: Pick<WorkersOptions, 'redact' | 'onFault'> & {
    readonly limits: Map<string, EngineLimits>;
    /** Turns that go on. */
    readonly left: Set<string>;
    readonly mayLeave: () => boolean;
  },
): Promise<Connection> {
  const socket: Socket = connect(path);
  const turns = new Map<string, Followed>();
  const send = (frame: ToWorker): void => write(socket, frame);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const whereabouts = (beganAt: number) => ({
    worker: basename(path),
    machine: machineName(),
    boot: bootName(),
    beganAt,
  });

  async function confine({ id, turnId, command }: FromWorker & { type: 'confine' }): Promise<void> {
    const turn = turns.get(turnId);
    if (turn === undefined) return; // it is asked again when its turn is followed
    for (const secret of secretsIn(command.env)) turn.secrets.add(secret);
    try {
      send({ type: 'confined', id, command: await turn.side.confine(command) });
    } catch (error) {
      send({ type: 'unconfined', id, fault: sentence(error), isRefused: error instanceof ConfineError });
    }
  }

  function take(frame: FromWorker): void {
    switch (frame.type) {
      case 'attached':
        return turns.get(frame.turnId)?.attached?.(frame.isHere);
      case 'event':
        turns.get(frame.turnId)?.side.post(redact(frame.event));
        if (frame.event.type === 'turn.ended') turns.delete(frame.turnId); // nothing more is said of it
        return;
      case 'caughtUp':
        return turns.get(frame.turnId)?.side.onCaughtUp?.();
      case 'confine':
        return void confine(frame);
      case 'limits':
        return void limits.set(frame.engine, frame.limits);
      case 'fault':
        return onFault(frame.engine, new Error(frame.message));
      case 'ready':
        return;
    }
  }

  const connection: Connection = {
    closed,
    send,
    leave(waitMs) {
      send({ type: 'wait', ms: waitMs });
      turns.clear();
      socket.end();
    },
    follow(turnId, side, env, beganAt = Date.now()) {
      const secrets = new Set(secretsIn(env));
      turns.set(turnId, { side, secrets });
      left.delete(turnId); // it was restarted
      return {
        take: (command) => send({ type: 'command', turnId, command }),
        redact: (read) => redactor([...secrets])(redact(read)),
        whereabouts: whereabouts(beganAt),
        lost: closed,
        leave() {
          if (!mayLeave() || !turns.delete(turnId)) return false; // it may not, or it has ended
          left.add(turnId);
          return true;
        },
      };
    },
    attach: (turnId, side, beganAt) =>
      new Promise((resolve) => {
        const distant = connection.follow(turnId, side, {}, beganAt);
        const { secrets } = turns.get(turnId) as Followed;
        turns.set(turnId, { side, secrets, attached: (isHere) => resolve(isHere ? distant : undefined) });
        void closed.then(() => resolve(undefined));
        send({ type: 'attach', turnId });
      }),
  };
  return new Promise((resolve, reject) => {
    // One that hangs is taken for dead, and its agents are ended by their marks
    const patience = setTimeout(() => socket.destroy(new Error('The worker does not answer.')), patienceMs);
    socket.once('error', reject);
    socket.once('close', () => clearTimeout(patience));
    socket.once('close', () => reject(new Error('The worker ended the connection.')));
    onFrames<FromWorker>(socket, (frame) => {
      if (frame.type !== 'ready') return take(frame);
      clearTimeout(patience);
      socket.on('error', (error) => onFault('a worker', error)); // `closed` tells its turns
      resolve(connection);
    });
    send({ type: 'hello', key });
  });
}

const patienceMs = 10_000;
