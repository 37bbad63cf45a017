import type { Json } from '../../machines/outputs.js';
import type { Engine, TurnRequest } from '../engines/engine.js';
import type { Graces } from '../engines/process.js';
import type { TurnEvent } from '../engines/turn-events.js';
import type { Command, Confined } from '../sandbox/sandbox.js';
import type { TurnHost } from './turn-host.js';

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
  /** What was said before this gateway came has been posted. */
  onCaughtUp?(): void;
  /** A younger gateway follows the turn: this one leaves it alone. */
  onTaken?(): void;
}

/** A turn in another process. */
export interface DistantTurn extends Pick<TurnHost, 'take' | 'redact'> {
  /** How a later gateway finds it: part of its note. */
  readonly whereabouts: { readonly [member: string]: Json };
  /** Resolves when its process has died. */
  readonly lost: Promise<void>;
  /** It goes on without this gateway; false where it may not. */
  leave(): boolean;
}
