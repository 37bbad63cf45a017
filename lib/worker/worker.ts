import { timingSafeEqual } from 'node:crypto';
import { chmod, rm, stat } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { Engine } from '../../actors/engines/engine.js';
import { ConfineError, type Command, type Confined } from '../../actors/sandbox/sandbox.js';
import { hostTurn } from '../../actors/session/turn-host.js';
import { secretsIn } from '../../actors/session/turn-secrets.js';
import { WorkerTurn } from './turns.js';
import { keyFile, onFrames, write, type FromWorker, type ToWorker, type WorkerSetup } from './wire.js';

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
  private readonly server: Server;
  private readonly startedAt = Date.now();
  private gateway: Socket | undefined;
  /** Turns that this gateway follows. */
  private followed = new Set<string>();
  private waitMs: number;
  private confines = 0;
  private clock: NodeJS.Timeout | undefined;
  private poll: NodeJS.Timeout | undefined;
  private wasGreeted = false;
  private isRetiring = false;
  private isEnding = false;
  private isClosed = false;

  constructor(
    private readonly setup: Omit<WorkerSetup, 'engines' | 'enginesFolder' | 'gatewayUrl'>,
    private readonly engines: readonly Engine[],
    private readonly over: () => void,
  ) {
    this.waitMs = setup.waitMs;
    this.server = createServer((socket) => this.greet(socket));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.setup.socket, resolve);
    });
    await chmod(this.setup.socket, 0o600);
    this.poll = setInterval(() => void this.findSocket(), pollEveryMs).unref();
    this.watch();
  }

  private greet(socket: Socket): void {
    let isKnown = false;
    socket.on('error', () => undefined); // its end is what counts
    socket.on('close', () => {
      if (this.gateway !== socket) return;
      this.gateway = undefined;
      this.watch();
    });
    onFrames<ToWorker>(socket, (frame) => {
      if (isKnown) return this.gateway === socket && !this.isClosed ? this.take(frame) : undefined;
      if (frame.type !== 'hello' || !same(frame.key, this.setup.key)) return void socket.destroy();
      isKnown = true;
      this.welcome(socket);
    });
  }

  private welcome(socket: Socket): void {
    const before = this.gateway;
    this.gateway = socket;
    if (before !== undefined) {
      write(before, { type: 'superseded' });
      before.destroySoon();
    }
    this.wasGreeted = true;
    this.waitMs = this.setup.waitMs;
    this.followed = new Set();
    // It takes up at once what it takes up at all
    setTimeout(() => this.gateway === socket && this.disown(), this.setup.waitMs).unref();
    this.watch();
    this.send({ type: 'ready', pid: process.pid, startedAt: this.startedAt, running: this.running() });
  }

  private take(frame: ToWorker): void {
    switch (frame.type) {
      case 'begin':
        return this.begin(frame);
      case 'attach':
        return this.attach(frame.turnId);
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
      case 'wait':
        this.waitMs = frame.ms;
        if (frame.left !== undefined)
          for (const turnId of this.turns.keys()) if (!frame.left.includes(turnId)) this.drop(turnId);
        return;
      case 'retire':
        this.isRetiring = true;
        return this.watch();
      case 'end':
        this.isEnding = true;
        this.interrupt();
        return this.watch();
      case 'hello':
        return;
    }
  }

  private attach(turnId: string): void {
    const turn = this.turns.get(turnId);
    if (turn === undefined) return this.send({ type: 'attached', turnId, isHere: false });
    this.followed.add(turnId);
    const { sessionId, engine, secrets } = turn;
    this.send({ type: 'attached', turnId, isHere: true, sessionId, engine, secrets: [...secrets] });
    for (const event of turn.said()) this.send({ type: 'event', turnId, event });
    if (turn.isOver) this.forgetHeard(turnId);
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
    this.drop(turnId); // its beginning was never stored
    const turn = new WorkerTurn(request.sessionId, engine.name);
    for (const secret of secretsIn(request.env)) turn.secrets.add(secret);
    this.turns.set(turnId, turn);
    this.followed.add(turnId);
    this.watch();
    this.send({ type: 'attached', turnId, isHere: true, sessionId: request.sessionId, engine: engine.name });
    const confine = (command: Command): Promise<Confined> =>
      new Promise((resolve, reject) => {
        const id = (this.confines += 1);
        for (const secret of secretsIn(command.env)) turn.secrets.add(secret);
        this.confining.set(id, { turnId, command, resolve, reject });
        this.send({ type: 'confine', id, turnId, command });
      });
    turn.host = hostTurn({
      engine,
      request,
      processes: { tokenHash, confine, ...(graces && { graces }) },
      settleMs,
      onFault: (name, error) =>
        this.send({
          type: 'fault',
          engine: name,
          message: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
      post: (event) => {
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
            this.forgetHeard(turnId);
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
    setTimeout(forget, this.setup.heardMs ?? standardHeardMs).unref();
  }

  /** What the gateway has not taken up by now it never will: no one would hear how it ends. */
  private disown(): void {
    for (const turnId of this.turns.keys()) if (!this.followed.has(turnId)) this.drop(turnId);
  }

  private drop(turnId: string): void {
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
    if (this.gateway !== undefined) write(this.gateway, frame);
  }

  /** Without its socket no gateway can find it: the folder of the home is gone, say. */
  private async findSocket(): Promise<void> {
    if (this.gateway !== undefined) return;
    const isThere = await stat(this.setup.socket).then(
      () => true,
      () => false,
    );
    if (isThere || this.gateway !== undefined) return;
    this.isEnding = true;
    this.interrupt();
    this.watch();
  }

  private running(): number {
    return [...this.turns.values(), ...this.dropped].filter(({ isOver }) => !isOver).length;
  }

  /** Looks when there will be something to end next: turns that no gateway wants, or this worker. */
  private watch(): void {
    clearTimeout(this.clock);
    const isWorking = this.running() > 0;
    const isAlone = this.gateway === undefined;
    const isDone = !isWorking && this.turns.size === 0;
    if (!isWorking && this.isEnding) return this.close();
    if (isDone && (this.isRetiring || (isAlone && this.wasGreeted))) return this.close();
    const next = (): void => (isWorking ? this.interrupt() : this.close());
    if (isAlone) this.clock = setTimeout(next, this.waitMs);
    else if (!isWorking) this.clock = setTimeout(next, this.setup.idleMs);
  }

  private interrupt(): void {
    for (const { reject } of this.confining.values()) reject(new Error('The gateway did not come back.'));
    this.confining.clear();
    for (const turn of this.turns.values())
      if (!turn.isOver) turn.interrupt('The gateway did not come back.');
  }

  private close(): void {
    if (this.isClosed) return;
    this.isClosed = true; // what has come in meanwhile is begun in another one
    clearInterval(this.poll);
    this.server.close();
    const { socket } = this.setup;
    const removed = Promise.all([rm(socket, { force: true }), rm(keyFile(socket), { force: true })]);
    void removed
      .catch(() => undefined)
      .then(() => {
        this.gateway?.destroy();
        this.over();
      });
  }
}

const standardHeardMs = 60_000;
const pollEveryMs = 5_000;

interface Confining {
  readonly turnId: string;
  readonly command: Command;
  readonly resolve: (confined: Confined) => void;
  readonly reject: (error: Error) => void;
}

function same(given: unknown, key: string): boolean {
  const [one, other] = [Buffer.from(String(given)), Buffer.from(key)];
  return one.length === other.length && timingSafeEqual(one, other);
}
