import type { Json } from '../../machines/outputs.js';
import type { Engine, TurnRequest } from '../engines/engine.js';
import type { Graces, ProcessTable } from '../engines/process.js';
import type { Redact, TurnEvent } from '../engines/turn-events.js';
import type { SandboxLevel } from '../sandbox/levels.js';
import type { Command, Confined } from '../sandbox/sandbox.js';
import { hostTurn, type TurnHost } from './turn-host.js';

/**
 * Where turns run that outlive the gateway: a process of their own on this machine. What it is told and what it
 * tells is JSON; a gateway that comes back finds its turns by what it noted of them.
 */
export interface TurnHosts {
  /** Undefined where this engine's turns are not hosted there. Rejects where nothing could be begun. */
  begin(turn: HostedTurn, side: GatewaySide): Promise<DistantTurn> | undefined;
  /**
   * A turn that an earlier gateway began, by its note: all that it has said comes again, from the first event.
   * Undefined where it is not there any more.
   */
  attach(note: Json, turnId: string, side: GatewaySide): Promise<DistantTurn | undefined>;
  /** No gateway will take this turn up: ends it where it is. */
  drop(note: Json, turnId: string): Promise<void>;
}

/**
 * Turns on workers of other machines. Folder, project and programs are there, and so is the judgement of them: it is
 * asked for before the turn begins, so that its session says how it is confined.
 */
export interface RemoteTurns {
  /** May it run there, and how? Rejects where the worker goes away for good meanwhile, or does not answer. */
  prepare(worker: string, turn: TurnThere, signal: AbortSignal): Promise<TurnPrepared>;
  begin(worker: string, turn: HostedTurn, side: GatewaySide, signal: AbortSignal): Promise<DistantTurn>;
  /** What was prepared there does not begin. */
  giveUp(worker: string, turnId: string): void;
  /**
   * As `TurnHosts.attach`; waits for the worker for as long as its turns may go on without a gateway, or until `signal`
   * says that this one waits no more: then it is answered, to be left or ended.
   */
  attach(
    note: Json,
    turnId: string,
    side: GatewaySide,
    signal: AbortSignal,
  ): Promise<DistantTurn | undefined>;
  drop(note: Json, turnId: string): Promise<void>;
  /** Of a turn that was begun on another machine. */
  workerOf(note: Json | undefined): string | undefined;
}

/** A turn that may go to another machine, which judges it first. */
export interface TurnThere {
  readonly turnId: string;
  readonly sessionId: string;
  readonly engine: string;
  readonly cwd: string;
  readonly nativeId: string | null;
  /** The level that the gateway asks for, and whether less is refused. */
  readonly level: SandboxLevel;
  readonly isRequired: boolean;
}

/** Its judgement. */
export interface TurnPrepared {
  /** Why it cannot run there, as a sentence. */
  readonly fault?: string;
  /** Real path of its folder there. */
  readonly cwd: string;
  readonly sandbox: { readonly level: string; readonly asked: string; readonly reason: string | null };
  /** For those who watch the turn. */
  readonly notices: readonly string[];
}

export interface HostedTurn {
  readonly engine: Engine;
  readonly request: TurnRequest;
  readonly tokenHash: string;
  /** How long the engine may take to settle after it was interrupted. */
  readonly settleMs: number;
  readonly graces?: Graces;
}

/** What the gateway does for a turn that runs elsewhere. */
export interface GatewaySide {
  post(event: TurnEvent): void;
  /** What is started in place of each command. */
  confine(command: Command): Promise<Confined>;
  /** What was said before this gateway came has been posted, the last of it `quietMs` ago. */
  onCaughtUp?(quietMs?: number): void;
  /** A younger gateway follows the turn: this one leaves it alone. */
  onTaken?(): void;
}

/** A turn in another process. */
export interface DistantTurn extends Pick<TurnHost, 'take' | 'redact'> {
  /** How a later gateway finds it: part of its note. */
  readonly whereabouts: { readonly [member: string]: Json };
  /** Resolves when its process has died, with why that is so. */
  readonly lost: Promise<string | void>;
  /** On another machine: what it leaves running is that machine's matter. */
  readonly isElsewhere?: true;
  /** It goes on without this gateway; false where it may not. */
  leave(): boolean;
}

/** What a turn's follower needs of its other side, wherever that runs. */
export type Host = Pick<DistantTurn, 'take' | 'redact'> & Partial<DistantTurn>;

/** The other side of a turn that runs in this process, and ends with it. */
export function hostHere(turn: HostedTurn, side: GatewaySide, { redact, onFault, table }: HereOptions): Host {
  const { engine, request, tokenHash: hash, settleMs, graces } = turn;
  return hostTurn({
    engine,
    request,
    processes: {
      tokenHash: hash,
      confine: side.confine,
      ...(graces && { graces }),
      ...(table && { table }),
    },
    redact,
    settleMs,
    onFault: (...fault) => onFault?.(...fault),
    post: side.post,
  });
}

interface HereOptions {
  readonly redact?: Redact;
  readonly onFault?: (engine: string, error: unknown) => void;
  readonly table?: ProcessTable;
}
