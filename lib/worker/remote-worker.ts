import type { Redact } from '../../actors/engines/turn-events.js';
import type { DistantTurn, GatewaySide, HostedTurn } from '../../actors/session/turn-hosts.js';
import type { TurnCommand } from '../../actors/engines/turn-events.js';
import type { WorkerOffer } from '../../machines/worker/machine.js';
import { Preparations } from './preparations.js';
import { eventOf, type RemoteFrame, type RemoteReady } from './remote-frames.js';
import type { PreparedTurn, ToWorker, TurnPreparation } from './wire.js';

/** The socket of a worker that was let in. */
export interface RemoteLink {
  send(frame: ToWorker): void;
  close(code: number, reason: string): void;
}

export interface RemoteWorkerOptions {
  readonly name: string;
  readonly redact: Redact;
  readonly onFault: (engine: string, error: unknown) => void;
  /** Since when a worker that is away has surely ended its turns. */
  readonly lostAfterMs: number;
  /** How long one that is here may take to end a turn that is interrupted. */
  readonly endMs: number;
  /** May a turn go on without this gateway? */
  readonly mayLeave: () => boolean;
}

interface Followed {
  readonly side: GatewaySide;
  readonly tokenHash: string;
  readonly sessionId: string;
  readonly engine: string;
  readonly beganAt: number;
  /** Not begun yet, as far as is known. */
  begin: (ToWorker & { readonly type: 'begin' }) | undefined;
  /** Number of its last event that was taken. */
  seq: number;
  /** Over this connection: what was said before that comes again, in order. */
  isAttached: boolean;
  /** What it said to an earlier gateway has come. */
  isCaughtUp: boolean;
  /** All that it was told: told again over each new connection. */
  readonly commands: TurnCommand[];
  readonly attached: (isHere: boolean) => void;
  readonly lose: (why: string) => void;
}

/**
 * The gateway's side of a worker on another machine, over all its connections. Turns that it does not have here, or
 * that it was not given, are no turns of its: what it says of them is not heard.
 */
export class RemoteWorker {
  readonly turns = new Map<string, Followed>();
  offer: WorkerOffer | undefined;
  ready: RemoteReady | undefined;
  /** Turns that go on without this gateway. */
  left = 0;
  private link: RemoteLink | undefined;
  private heardAt = performance.now();
  private clock: NodeJS.Timeout | undefined;
  private readonly preparations: Preparations;
  /** Turns that it was told to drop, youngest last: without a connection, or over one that broke, it did not hear. */
  private readonly droppedTurns = new Set<string>();

  constructor(private readonly options: RemoteWorkerOptions) {
    const { name, lostAfterMs: answerMs } = options;
    this.preparations = new Preparations({ name, answerMs, send: (frame) => this.link?.send(frame) });
  }

  get isHere(): boolean {
    return this.link !== undefined;
  }

  /** Milliseconds since it said anything. */
  get quietMs(): number {
    return performance.now() - this.heardAt;
  }

  /** From now on this is its connection. What was going on goes on over it. */
  connect(link: RemoteLink, ready: RemoteReady): void {
    this.link?.close(1000, 'a younger connection of this worker');
    clearTimeout(this.clock);
    this.link = link;
    this.ready = ready;
    this.offer = ready.offer;
    this.heardAt = performance.now();
    for (const [turnId, turn] of this.turns) {
      turn.isAttached = false;
      link.send({ type: 'attach', turnId, after: turn.seq });
    }
    for (const turnId of this.droppedTurns) link.send({ type: 'drop', turnId });
    this.preparations.sendAgain();
  }

  /** That connection is over. The worker may come back, until its turns are surely at their end. */
  leave(link: RemoteLink): void {
    if (this.link !== link) return;
    this.link = undefined;
    this.count();
  }

  /** It was removed, or nothing more is to be hoped for. */
  cut(why: string): void {
    this.link?.send({ type: 'end' });
    this.link?.close(4001, why);
    this.link = undefined;
    this.loseAll(why);
  }

  take(link: RemoteLink, frame: RemoteFrame): void {
    if (this.link !== link) return;
    this.heardAt = performance.now();
    switch (frame.type) {
      case 'beat':
        return link.send({ type: 'beat', n: frame.n });
      case 'prepared': {
        const { fault, ...rest } = frame;
        return this.preparations.take(fault === undefined ? rest : { ...rest, fault });
      }
      case 'attached':
        return this.attached(link, frame);
      case 'event':
        return this.hear(link, frame);
      case 'caughtUp':
        return this.caughtUp(this.turns.get(frame.turnId), frame.quietMs);
      case 'fault':
        return this.options.onFault(
          frame.engine,
          new Error(`worker ${this.options.name}: ${this.options.redact(frame.message).slice(0, 2_000)}`),
        );
      case 'limits': // what it says of a provider would be believed of this machine, too
      case 'ready':
        return;
    }
  }

  private attached(link: RemoteLink, { turnId, isHere }: RemoteFrame & { type: 'attached' }): void {
    const turn = this.turns.get(turnId);
    if (turn === undefined) return;
    const { begin } = turn;
    if (isHere) {
      turn.isAttached = true;
      turn.begin = undefined;
      return turn.attached(true);
    }
    // The connection broke before it was told to begin
    if (begin !== undefined && turn.seq === 0 && turn.commands.length === 0) {
      turn.begin = undefined;
      return link.send(begin);
    }
    this.turns.delete(turnId);
    turn.attached(false);
    turn.lose(`The worker ${this.options.name} was started again while this turn was running there.`);
  }

  private hear(link: RemoteLink, { turnId, event }: RemoteFrame & { type: 'event' }): void {
    const turn = this.turns.get(turnId);
    if (turn?.isAttached !== true || event.seq <= turn.seq) return;
    turn.seq = event.seq;
    if (event.type === 'turn.ended') this.caughtUp(turn); // nothing is said behind it
    turn.side.post(this.options.redact(eventOf(event, { turnId, tokenHash: turn.tokenHash })));
    if (event.type !== 'turn.ended') return;
    this.turns.delete(turnId);
    link.send({ type: 'heard', turnId });
  }

  private caughtUp(turn: Followed | undefined, quietMs?: number): void {
    if (turn === undefined || turn.isCaughtUp) return;
    turn.isCaughtUp = true;
    turn.side.onCaughtUp?.(quietMs);
  }

  /** Rejects where it goes away for good meanwhile, does not answer, or the turn is not wanted any more. */
  prepare(frame: TurnPreparation, signal: AbortSignal): Promise<PreparedTurn> {
    if (this.link === undefined) this.count();
    return this.preparations.ask(frame, signal);
  }

  /** `signal`: no one wants it any more; heard until it has begun. */
  async begin(
    { engine, request, tokenHash, settleMs, graces }: HostedTurn,
    side: GatewaySide,
    signal: AbortSignal,
  ): Promise<DistantTurn> {
    const { turnId, sessionId } = request;
    const begin = {
      type: 'begin',
      turnId,
      engine: engine.name,
      request,
      tokenHash,
      settleMs,
      ...(graces && { graces }),
    } as const;
    const now = { sessionId, engine: engine.name, tokenHash, beganAt: Date.now(), begin };
    const unwanted = (): void => this.giveUp(turnId, 'It was not wanted any more.');
    signal.addEventListener('abort', unwanted, { once: true });
    const following = this.follow(turnId, now, side, begin);
    if (signal.aborted) unwanted();
    const turn = await following;
    signal.removeEventListener('abort', unwanted);
    if (turn === undefined) throw new Error(`The worker ${this.options.name} did not begin the turn.`);
    return turn;
  }

  /** `signal`: its worker is not waited for any more; the turn is answered as it is, to be left or ended. */
  attach(
    turnId: string,
    noted: Pick<Followed, 'tokenHash' | 'engine' | 'beganAt'>,
    side: GatewaySide,
    signal: AbortSignal,
  ): Promise<DistantTurn | undefined> {
    const known = { ...noted, sessionId: turnId.replace(/:\d+$/, ''), begin: undefined };
    return this.follow(turnId, known, side, { type: 'attach', turnId }, signal);
  }

  drop(turnId: string): void {
    this.turns.delete(turnId);
    this.droppedTurns.add(turnId);
    const [oldest] = this.droppedTurns;
    if (this.droppedTurns.size > droppedMax && oldest !== undefined) this.droppedTurns.delete(oldest);
    this.link?.send({ type: 'drop', turnId });
  }

  /** It does not do what it was told: what it says of this turn from now on is not heard. */
  private giveUp(turnId: string, why: string, which = this.turns.get(turnId)): void {
    if (which === undefined || this.turns.get(turnId) !== which) return;
    this.drop(turnId);
    which.attached(false);
    which.lose(why);
  }

  /** This gateway stops; what goes on for so long is found again by its notes. */
  goodbye(waitMs: number): void {
    clearTimeout(this.clock);
    const mayLeave = this.options.mayLeave();
    this.link?.send({ type: 'wait', ms: waitMs, ...(!mayLeave && { left: [] }) });
    this.link?.close(1001, 'the gateway is shutting down');
    this.link = undefined;
    // After this it cannot be told anything any more
    if (!mayLeave) this.loseAll('The gateway was stopped.');
  }

  private follow(
    turnId: string,
    known: Pick<Followed, 'sessionId' | 'engine' | 'tokenHash' | 'beganAt' | 'begin'>,
    side: GatewaySide,
    first: ToWorker,
    signal?: AbortSignal,
  ): Promise<DistantTurn | undefined> {
    const { name, lostAfterMs, endMs } = this.options;
    return new Promise((resolve) => {
      let lose: Followed['lose'] = () => undefined;
      const lost = new Promise<string>((end) => (lose = end));
      const commands: TurnCommand[] = [];
      const distant: DistantTurn = {
        isElsewhere: true,
        take: (command) => {
          if (!this.turns.has(turnId)) return;
          commands.push(command);
          if (commands.length > commandsMax) commands.shift();
          this.link?.send({ type: 'command', turnId, command });
          if (command.type === 'interrupt') within(endMs, 'did not end a turn that was interrupted');
        },
        redact: (read) => this.options.redact(read),
        whereabouts: {
          worker: name,
          isElsewhere: true,
          engine: known.engine,
          machine: '',
          boot: '',
          beganAt: known.beganAt,
        },
        lost,
        leave: () => {
          if (!this.options.mayLeave() || !this.turns.delete(turnId)) return false;
          this.left += 1;
          return true;
        },
      };
      const attached = (isHere: boolean): void => {
        clearTimeout(patience);
        resolve(isHere ? distant : undefined);
        // Over a new connection: what it was told may not have arrived
        if (isHere) for (const command of commands) this.link?.send({ type: 'command', turnId, command });
      };
      const followed = {
        ...known,
        ...{ side, seq: 0, isAttached: false, isCaughtUp: known.begin !== undefined },
        ...{ commands, attached, lose },
      };
      const within = (ms: number, fault: string): NodeJS.Timeout =>
        setTimeout(() => this.giveUp(turnId, `The worker ${name} ${fault}.`, followed), ms).unref();
      const patience = within(lostAfterMs, 'does not answer');
      this.turns.set(turnId, followed);
      this.droppedTurns.delete(turnId); // wanted once more
      void lost.then(() => resolve(undefined));
      const enough = (): void => resolve(distant);
      if (signal?.aborted === true) enough();
      else signal?.addEventListener('abort', enough, { once: true });
      if (this.link === undefined) this.count();
      else this.link.send(first);
    });
  }

  /** Until its turns are surely at their end there. */
  private count(): void {
    clearTimeout(this.clock);
    const { name, lostAfterMs } = this.options;
    const leftMs = Math.max(0, lostAfterMs - this.quietMs);
    this.clock = setTimeout(
      () => this.loseAll(`The worker ${name} was away for longer than turns go on without their gateway.`),
      leftMs,
    ).unref();
  }

  private loseAll(why: string): void {
    clearTimeout(this.clock);
    for (const { lose } of this.turns.values()) lose(why);
    this.turns.clear();
    this.preparations.failAll(why);
  }
}

/** Decisions and acknowledgements of one turn. */
const commandsMax = 1_000;
const droppedMax = 1_000;
