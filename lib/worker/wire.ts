import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import type { Json } from '../../machines/outputs.js';
import { splitLines } from '../../actors/engines/agent/lines.js';
import type { Graces } from '../../actors/engines/process.js';
import type { TurnRequest } from '../../actors/engines/engine.js';
import type { EngineLimits } from '../../actors/engines/limits.js';
import type { TurnCommand, TurnEvent } from '../../actors/engines/turn-events.js';
import type { Command, Confined } from '../../actors/sandbox/sandbox.js';
import type { TurnPrepared, TurnThere } from '../../actors/session/turn-hosts.js';
import type { WorkerOffer } from '../../machines/worker/machine.js';
import { version } from '../version.js';

/**
 * What a gateway and its worker say to each other, in JSON: over a Unix socket (in lines) with one on the gateway's
 * machine, over a WebSocket with one on another. A worker hosts turns and does nothing else. On the gateway's machine
 * what it starts is what the gateway tells it to start; on another that machine says how its programs are confined.
 */
export type ToWorker =
  /** First of all; a wrong key ends the connection. On another machine its token was judged before, and it has none. */
  | {
      readonly type: 'hello';
      readonly key: string;
      /** To another machine: how long its turns go on without an answer. */
      readonly waitMs?: number;
    }
  /** Another machine only: may this turn be run there, and how? Answered by `prepared`. */
  | TurnPreparation
  /** Another machine only: the answer to its own, and the end of a turn was heard. */
  | { readonly type: 'beat'; readonly n: number }
  | { readonly type: 'heard'; readonly turnId: string }
  | {
      readonly type: 'begin';
      readonly turnId: string;
      readonly engine: string;
      readonly request: TurnRequest;
      readonly tokenHash: string;
      readonly settleMs: number;
      readonly graces?: Graces;
    }
  /** Answered by `attached`, as `begin` is, all events of the turn behind `after` (default: all), and `caughtUp`. */
  | { readonly type: 'attach'; readonly turnId: string; readonly after?: number }
  | { readonly type: 'command'; readonly turnId: string; readonly command: TurnCommand }
  /** Answers `confine`. */
  | { readonly type: 'confined'; readonly id: number; readonly command: Confined }
  | { readonly type: 'unconfined'; readonly id: number; readonly fault: string; readonly isRefused: boolean }
  /** No gateway will take it up: end it, and forget it. */
  | { readonly type: 'drop'; readonly turnId: string }
  /**
   * How long its turns go on when the gateway has gone away, and which of them it has left; what became of all others
   * is stored.
   */
  | { readonly type: 'wait'; readonly ms: number; readonly left?: readonly string[] }
  /**
   * This machine only: until then (milliseconds of its monotonic clock) no other node can own the home. What runs is
   * ended at once where nothing younger was said by then.
   */
  | { readonly type: 'lease'; readonly until: number }
  /** Nothing more will be begun: end when your turns are over. */
  | { readonly type: 'retire' }
  /** End all turns, and then yourself. */
  | { readonly type: 'end' };

/** What the machine of a turn must judge before it begins. */
export interface TurnPreparation extends TurnThere {
  readonly type: 'prepare';
}

/** Its judgement: a fault, or where and how the turn will run. */
export interface PreparedTurn extends TurnPrepared {
  readonly type: 'prepared';
  readonly turnId: string;
}

export type FromWorker =
  | PreparedTurn
  /** Another machine only: is the gateway still there? */
  | { readonly type: 'beat'; readonly n: number }
  | ({
      readonly type: 'ready';
      readonly pid: number;
      readonly startedAt: number;
      readonly running: number;
      /** On another machine: what there is. */
      readonly offer?: WorkerOffer;
    } & BuildFacts)
  /** Where it is here: whose it is. */
  | {
      readonly type: 'attached';
      readonly turnId: string;
      readonly isHere: boolean;
      readonly sessionId?: string;
      readonly engine?: string;
      /** Values of keys that its processes were given: what is read in its folder must not show them. */
      readonly secrets?: readonly string[];
    }
  /** A younger gateway speaks to this worker, and follows its turns. */
  | { readonly type: 'superseded' }
  | { readonly type: 'event'; readonly turnId: string; readonly event: TurnEvent }
  /** `quietMs`: so long ago the last of it was said. */
  | { readonly type: 'caughtUp'; readonly turnId: string; readonly quietMs?: number }
  /** What to start in place of this command? */
  | { readonly type: 'confine'; readonly id: number; readonly turnId: string; readonly command: Command }
  /** What its turns have shown of a provider's limits; comes before the end of the turn. */
  | { readonly type: 'limits'; readonly engine: string; readonly limits: EngineLimits }
  | { readonly type: 'fault'; readonly engine: string; readonly message: string };

/**
 * Which words both sides know. Raised where one of them must know a word that is not here; `hello`, `ready` and `end`
 * stay as they are, so that a gateway can tell a worker of another build what it has to.
 * Earlier builds do not say it.
 */
export const protocol = 1;

/** What a worker that is ready says of its build. */
export interface BuildFacts {
  /** Absent: 1. */
  readonly protocol?: number | undefined;
  /** Of Troupe. */
  readonly version?: string | undefined;
}

/** `ownBuild // { protocol: 1, version: '0.1.0' }` */
export const ownBuild: BuildFacts = { protocol, version };

/**
 * Why a worker of another build is not served; undefined: it is.
 * @example refusalOf({ protocol: 2, version: '0.9.0' }, 'worker-1a2b3c4d')
 */
export const refusalOf = (
  { protocol: theirs = 1, version: build }: BuildFacts,
  name: string,
): string | undefined =>
  theirs === protocol
    ? undefined
    : `Worker ${name} is of ${build === undefined ? 'another version' : `version ${build}`} of Troupe, which speaks ` +
      `protocol ${theirs}; this gateway is of ${version} and speaks ${protocol}.`;

/** What a new worker reads from its stdin, once. */
export interface WorkerSetup {
  /** Path of the socket that it listens on. */
  readonly socket: string;
  readonly key: string;
  /** `engines` of config.yaml, as the gateway read it. */
  readonly engines: Json;
  readonly enginesFolder: string;
  readonly gatewayUrl: string;
  /** How long turns go on without a gateway that has said nothing. */
  readonly waitMs: number;
  /** How long it stays with nothing to do. */
  readonly idleMs: number;
  /** How long a turn is kept whose end its gateway has heard. Default: one minute. */
  readonly heardMs?: number;
}

/** The same for all processes of a machine. */
export const machineMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** Sockets of workers are called so. */
export const workerName = /^worker-[0-9a-f]{8}$/;

/** Its key lies beside its socket, for the next gateway: each worker has its own, which opens nothing else. */
export const keyFile = (socket: string): string => `${socket}.key`;

export const write = (socket: Socket, frame: ToWorker | FromWorker): void =>
  void (socket.writable && socket.write(`${JSON.stringify(frame)}\n`));

/** Frames of the other side, which is a program of ours: one that is no JSON ends the connection. */
export function onFrames<Frame>(socket: Socket, take: (frame: Frame) => void): void {
  const decoder = new StringDecoder('utf8');
  const lines = splitLines((line) => take(JSON.parse(line) as Frame), frameCharactersMax);
  socket.on('data', (chunk: Buffer) => {
    try {
      lines(decoder.write(chunk));
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
}

/** The beginning of a turn may bring pictures. */
const frameCharactersMax = 256 * 1024 * 1024;
