import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../../actors/engines/engine.js';
import type { TurnEvent } from '../../actors/engines/turn-events.js';
import { ConfineError, type Command, type Confined } from '../../actors/sandbox/sandbox.js';
import { hostTurn } from '../../actors/session/turn-host.js';
import { secretsIn } from '../../actors/session/turn-secrets.js';
import type { Places } from './places.js';
import { PreparedTurns } from './prepared-turns.js';
import { WorkerTurn } from './turns.js';
import { machineMs, type FromWorker, type ToWorker } from './wire.js';

/** Its way to a gateway that has shown that it is one. */
export interface Link {
  send(frame: FromWorker): void;
  /** When what was sent is out. */
  end(): void;
}

export interface WorkerOptions {
  /** How long turns go on without a gateway that has said nothing. */
  readonly waitMs: number;
  /** How long it stays with nothing to do. Absent: for ever, also without a gateway. */
  readonly idleMs?: number;
  /** How long a turn is kept whose end its gateway has heard. Default: one minute. */
  readonly heardMs?: number;
  /** Of another machine than the gateway's: judges turns there. Absent: the gateway does. */
  readonly places?: Places;
  /** A turn begins. */
  readonly onBegin?: (turn: { readonly sessionId: string; readonly tokenHash: string }) => void;
  /** What its turns say, beside what is sent. */
  readonly onEvent?: (turnId: string, event: TurnEvent) => void;
}

/**
 * A process that hosts the turns of one gateway, and goes on with them when that gateway ends, stops or dies: the
 * next one finds it by what was noted of each turn. It begins only what it is told to begin, once, and speaks to one
 * gateway at a time, the youngest. Where none comes back in time it ends its turns, and then itself; where there is
 * nothing that the next one could want of it, it ends with its gateway.
 */
export class Worker {
  private readonly turns = new Map<string, WorkerTurn>();
  /** No longer anyone's, and not yet at their end. */
  private readonly dropped = new Set<WorkerTurn>();
  private readonly confining = new Map<number, Confining>();
  /** Of another machine than the gateway's. */
  private readonly prepared: PreparedTurns | undefined;
  readonly startedAt = Date.now();
  private gateway: Link | undefined;
  /** Turns that this gateway follows. */
  private followed = new Set<string>();
  private waitMs: number;
  private confines = 0;
  private clock: NodeJS.Timeout | undefined;
  /** Ends with the lease of its gateway's node. */
  private lease: NodeJS.Timeout | undefined;
  /** Since when no gateway was heard; monotonic. */
  private quietSince = performance.now();
  private wasGreeted = false;
  private isRetiring = false;
  private isEnding = false;
  private isClosed = false;

  constructor(
    private readonly options: WorkerOptions,
    private readonly engines: readonly Engine[],
    private readonly over: () => void | Promise<void>,
  ) {
    this.waitMs = options.waitMs;
    this.prepared = options.places && new PreparedTurns(options.places);
  }

  get hasGateway(): boolean {
    return this.gateway !== undefined;
  }

  /** From now on this is its gateway. */
  welcome(link: Link, waitMs = this.options.waitMs): void {
    const before = this.gateway;
    this.gateway = link;
    if (before !== undefined) {
      before.send({ type: 'superseded' });
      before.end();
    }
    clearTimeout(this.lease);
    this.wasGreeted = true;
    this.waitMs = waitMs;
    this.followed = new Set();
    const giveUp = this.prepared?.pending();
    // It takes up at once what it takes up at all
    setTimeout(() => {
      if (this.gateway !== link) return;
      giveUp?.();
      this.disown();
    }, waitMs).unref();
    this.watch();
  }

  /** This gateway has gone; it was heard last `quietMs` ago. */
  leave(link: Link, quietMs = 0): void {
    if (this.gateway !== link) return;
    this.gateway = undefined;
    this.quietSince = performance.now() - quietMs;
    this.watch();
  }

  take(link: Link, frame: ToWorker): void {
    if (this.gateway !== link || this.isClosed) return;
    switch (frame.type) {
      case 'begin':
        return this.begin(frame);
      case 'prepare':
        return void this.prepare(frame);
      case 'attach':
        return this.attach(frame.turnId, frame.after);
      case 'heard':
        return this.forgetHeard(frame.turnId);
      case 'command':
        return this.turns.get(frame.turnId)?.take(frame.command);
      case 'confined':
        this.confining.get(frame.id)?.resolve(frame.command);
        return void this.confining.delete(frame.id);
      case 'unconfined': {
        const { fault, isRefused } = frame;
        this.confining.get(frame.id)?.reject(isRefused ? new ConfineError(fault) : new Error(fault));
        return void this.confining.delete(frame.id);
      }
      case 'drop':
        return this.drop(frame.turnId);
      case 'lease':
        clearTimeout(this.lease);
        this.lease = setTimeout(() => this.cut(), Math.max(0, frame.until - machineMs())).unref();
        return;
      case 'wait':
        // The home was given back. Where no turn may go on, what takes its time to end is cut by then
        if (frame.left === undefined || frame.left.length > 0) clearTimeout(this.lease);
        this.waitMs = frame.ms;
        if (frame.left !== undefined)
          for (const turnId of this.turns.keys()) if (!frame.left.includes(turnId)) this.drop(turnId);
        return;
      case 'retire':
        this.isRetiring = true;
        return this.watch();
      case 'end':
        return this.end();
      case 'hello':
      case 'beat':
        return;
    }
  }

  /** Its turns, and then itself. */
  end(): void {
    this.isEnding = true;
    this.interrupt('The worker was ended.');
    this.watch();
  }

  private async prepare(frame: ToWorker & { readonly type: 'prepare' }): Promise<void> {
    const { turnId, sessionId } = frame;
    const engine = this.engines.find(({ name }) => name === frame.engine);
    const answer = await this.prepared?.prepare(frame, engine, async () => {
      // A gateway that was away for long may have given an earlier one up, and it works in the same folder
      for (const [id, turn] of this.turns) if (turn.sessionId === sessionId && id !== turnId) this.drop(id);
      while ([...this.dropped].some((turn) => turn.sessionId === sessionId)) await wait(checkEveryMs);
    });
    if (answer !== undefined) this.send(answer);
  }

  private attach(turnId: string, after = 0): void {
    const turn = this.turns.get(turnId);
    if (turn === undefined) return this.send({ type: 'attached', turnId, isHere: false });
    this.followed.add(turnId);
    const { sessionId, engine, secrets } = turn;
    const known = this.isElsewhere ? {} : { secrets: [...secrets] };
    this.send({ type: 'attached', turnId, isHere: true, sessionId, engine, ...known });
    for (const event of turn.said()) if (event.seq > after) this.send({ type: 'event', turnId, event });
    if (turn.isOver && !this.isElsewhere) this.forgetHeard(turnId);
    this.send({ type: 'caughtUp', turnId, ...(turn && { quietMs: turn.quietMs }) });
    for (const [id, asked] of this.confining)
      if (asked.turnId === turnId) this.send({ type: 'confine', id, turnId, command: asked.command });
  }

  private begin(frame: ToWorker & { readonly type: 'begin' }): void {
    const { turnId, request, tokenHash, settleMs, graces } = frame;
    const engine = this.engines.find(({ name }) => name === frame.engine);
    const earlier = this.turns.get(turnId);
    if (earlier?.isBegun === true) return this.attach(turnId); // asked twice, begun once
    if (engine === undefined || this.isEnding) return this.send({ type: 'attached', turnId, isHere: false });
    const place = this.prepared?.take(turnId, { engine: engine.name, sessionId: request.sessionId });
    if (this.isElsewhere && place === undefined)
      return this.send({ type: 'attached', turnId, isHere: false });
    this.drop(turnId); // its beginning was never stored
    const turn = new WorkerTurn(request.sessionId, engine.name);
    for (const secret of secretsIn(request.env)) turn.secrets.add(secret);
    this.turns.set(turnId, turn);
    this.options.onBegin?.({ sessionId: request.sessionId, tokenHash });
    this.followed.add(turnId);
    this.watch();
    this.send({ type: 'attached', turnId, isHere: true, sessionId: request.sessionId, engine: engine.name });
    const ask = (command: Command): Promise<Confined> =>
      new Promise((resolve, reject) => {
        const id = (this.confines += 1);
        for (const secret of secretsIn(command.env)) turn.secrets.add(secret);
        this.confining.set(id, { turnId, command, resolve, reject });
        this.send({ type: 'confine', id, turnId, command });
      });
    turn.host = hostTurn({
      engine,
      request: place === undefined ? request : place.requestOf(request),
      processes: { tokenHash, confine: place?.confine ?? ask, ...(graces && { graces }) },
      settleMs,
      onFault: (name, error) =>
        this.send({
          type: 'fault',
          engine: name,
          message: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
      post: (event) => {
        this.options.onEvent?.(turnId, event);
        if (event.type === 'turn.ended') void place?.close();
        if (this.dropped.has(turn)) {
          if (event.type === 'turn.ended') this.dropped.delete(turn);
          return this.watch();
        }
        turn.keep(event);
        if (event.type !== 'turn.ended') return this.send({ type: 'event', turnId, event });
        const known = engine
          .limits?.()
          .then((limits) => this.send({ type: 'limits', engine: engine.name, limits }));
        void (known ?? Promise.resolve())
          .catch(() => undefined) // no one waits for it
          .then(() => {
            this.send({ type: 'event', turnId, event });
            if (!this.isElsewhere) this.forgetHeard(turnId);
            this.watch();
          });
      },
    });
  }

  /** Its outcome is stored by a gateway that is there a while later. */
  private forgetHeard(turnId: string): void {
    const { gateway } = this;
    if (gateway === undefined) return; // the next one attaches
    const forget = (): void => {
      if (this.gateway !== gateway) return;
      this.turns.delete(turnId);
      if (this.isRetiring) this.watch();
    };
    setTimeout(forget, this.options.heardMs ?? standardHeardMs).unref();
  }

  /** What the gateway has not taken up by now it never will: no one would hear how it ends. */
  private disown(): void {
    for (const turnId of this.turns.keys()) if (!this.followed.has(turnId)) this.drop(turnId);
  }

  private drop(turnId: string): void {
    void this.prepared?.drop(turnId);
    const turn = this.turns.get(turnId);
    if (turn === undefined) return;
    for (const [id, asked] of this.confining)
      if (asked.turnId === turnId) {
        asked.reject(new Error('No gateway follows the turn.'));
        this.confining.delete(id);
      }
    this.turns.delete(turnId);
    if (turn.isOver) return;
    this.dropped.add(turn);
    turn.interrupt('No gateway follows the turn.');
  }

  private send(frame: FromWorker): void {
    this.gateway?.send(frame);
  }

  /** Its connections break without a word: only what was confirmed has been heard. */
  private get isElsewhere(): boolean {
    return this.options.places !== undefined;
  }

  running(): number {
    return [...this.turns.values(), ...this.dropped].filter(({ isOver }) => !isOver).length;
  }

  /** Looks when there will be something to end next: turns that no gateway wants, or this worker. */
  watch(): void {
    clearTimeout(this.clock);
    const isWorking = this.running() > 0;
    const isAlone = this.gateway === undefined;
    const isDone = !isWorking && this.turns.size === 0;
    const { idleMs } = this.options;
    if (!isWorking && this.isEnding) return this.close();
    if (isDone && (this.isRetiring || (isAlone && this.wasGreeted && idleMs !== undefined)))
      return this.close();
    const next = (): void => (isWorking ? this.interrupt('The gateway did not come back.') : this.close());
    // Its gateway counts, too, from when they last heard of each other: another turn's end changes nothing of that
    const quietMs = this.isElsewhere ? performance.now() - this.quietSince : 0;
    if (isAlone && (isWorking || idleMs !== undefined))
      this.clock = setTimeout(next, Math.max(0, this.waitMs - quietMs));
    else if (!isWorking && idleMs !== undefined) this.clock = setTimeout(next, idleMs);
  }

  private interrupt(why: string): void {
    this.prepared?.pending()();
    for (const { reject } of this.confining.values()) reject(new Error(why));
    this.confining.clear();
    for (const turn of this.turns.values()) if (!turn.isOver) turn.interrupt(why);
  }

  /** From now on another node may own the home: no agent of this one may do anything any more. */
  private cut(): void {
    this.interrupt('Its node no longer owns the home.');
    for (const turn of [...this.turns.values(), ...this.dropped])
      turn
        .kill()
        .catch((error: unknown) => this.send({ type: 'fault', engine: turn.engine, message: String(error) }));
  }

  private close(): void {
    if (this.isClosed) return;
    this.isClosed = true; // what has come in meanwhile is begun in another one
    void Promise.resolve(this.over()).then(() => this.gateway?.end());
  }
}

const standardHeardMs = 60_000;
const checkEveryMs = 50;

interface Confining {
  readonly turnId: string;
  readonly command: Command;
  readonly resolve: (confined: Confined) => void;
  readonly reject: (error: Error) => void;
}
