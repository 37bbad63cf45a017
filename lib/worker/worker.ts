import { timingSafeEqual } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { Engine } from '../../actors/engines/engine.js';
import { ConfineError, type Command, type Confined } from '../../actors/sandbox/sandbox.js';
import { hostTurn } from '../../actors/session/turn-host.js';
import { WorkerTurn } from './turns.js';
import { onFrames, write, type FromWorker, type ToWorker, type WorkerSetup } from './wire.js';

/**
 * A process that hosts the turns of one gateway, and goes on with them when that gateway ends, stops or dies: the
 * next one finds it by what was noted of each turn. It begins only what it is told to begin, once, and speaks to one
 * gateway at a time, the youngest. Where none comes back in time it ends its turns, and then itself.
 */
export class Worker {
  private readonly turns = new Map<string, WorkerTurn>();
  private readonly confining = new Map<number, Confining>();
  private readonly server: Server;
  private gateway: Socket | undefined;
  private waitMs: number;
  private confines = 0;
  private clock: NodeJS.Timeout | undefined;
  private isEnding = false;

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
      if (isKnown) return this.take(frame);
      if (frame.type !== 'hello' || !same(frame.key, this.setup.key)) return void socket.destroy();
      isKnown = true;
      this.gateway?.destroy();
      this.gateway = socket;
      this.waitMs = this.setup.waitMs;
      this.watch();
      this.send({ type: 'ready' });
    });
  }

  private take(frame: ToWorker): void {
    switch (frame.type) {
      case 'begin':
        return this.begin(frame);
      case 'attach': {
        const turn = this.turns.get(frame.turnId);
        const { turnId } = frame;
        this.send({ type: 'attached', turnId, isHere: turn !== undefined });
        for (const event of turn?.said() ?? []) this.send({ type: 'event', turnId, event });
        if (turn?.isOver === true) this.forgetHeard(turnId);
        this.send({ type: 'caughtUp', turnId });
        for (const [id, asked] of this.confining)
          if (asked.turnId === turnId) this.send({ type: 'confine', id, turnId, command: asked.command });
        return;
      }
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
      case 'wait':
        this.waitMs = frame.ms;
        return;
      case 'end':
        this.isEnding = true;
        this.interrupt();
        return this.watch();
      case 'hello':
        return;
    }
  }

  private begin(frame: ToWorker & { readonly type: 'begin' }): void {
    const { turnId, request, tokenHash, settleMs, graces } = frame;
    const engine = this.engines.find(({ name }) => name === frame.engine);
    const earlier = this.turns.get(turnId);
    if (engine === undefined || earlier?.isBegun === true) return; // asked twice, begun once
    const turn = new WorkerTurn();
    this.turns.set(turnId, turn);
    earlier?.interrupt('The turn was begun again.');
    this.watch();
    const confine = (command: Command): Promise<Confined> =>
      new Promise((resolve, reject) => {
        const id = (this.confines += 1);
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
        if (this.turns.get(turnId) !== turn) return; // begun again
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
    const forget = (): void => void (this.gateway === gateway && this.turns.delete(turnId));
    setTimeout(forget, this.setup.heardMs ?? standardHeardMs).unref();
  }

  private send(frame: FromWorker): void {
    if (this.gateway !== undefined) write(this.gateway, frame);
  }

  /** Looks when there will be something to end next: turns that no gateway wants, or this worker. */
  private watch(): void {
    clearTimeout(this.clock);
    const running = [...this.turns.values()].filter(({ isOver }) => !isOver);
    const isAlone = this.gateway === undefined;
    if (running.length === 0 && this.isEnding) return this.close();
    if (running.length === 0)
      this.clock = setTimeout(() => this.close(), isAlone ? this.waitMs : this.setup.idleMs);
    else if (isAlone) this.clock = setTimeout(() => this.interrupt(), this.waitMs);
  }

  private interrupt(): void {
    for (const { reject } of this.confining.values()) reject(new Error('The gateway did not come back.'));
    this.confining.clear();
    for (const turn of this.turns.values())
      if (!turn.isOver) turn.interrupt('The gateway did not come back.');
  }

  private close(): void {
    this.server.close();
    this.gateway?.destroy();
    void rm(this.setup.socket, { force: true }).then(this.over, this.over);
  }
}

const standardHeardMs = 60_000;

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
