import { reap } from '../../actors/engines/process.js';
import { firstBytes } from '../../actors/engines/process/output.js';
import type { TurnCommand, TurnEvent } from '../../actors/engines/turn-events.js';
import type { TurnHost } from '../../actors/session/turn-host.js';

/** A turn that a worker hosts, and what it has said: a gateway that comes back is told all of it again. */
export class WorkerTurn {
  private events: TurnEvent[] = [];
  private bytes = 0;
  private bytesMax = bytesMax;
  private readonly decided = new Set<string>();
  host: TurnHost | undefined;
  isOver = false;
  /** A gateway has stored how it is found again: from then on it may have acted. */
  isBegun = false;
  /** Values of keys that its processes were given. */
  readonly secrets = new Set<string>();

  constructor(
    readonly sessionId: string,
    readonly engine: string,
  ) {}

  private saidAt = performance.now();

  /** Milliseconds since it said something. */
  get quietMs(): number {
    return Math.round(performance.now() - this.saidAt);
  }

  keep(event: TurnEvent): void {
    this.saidAt = performance.now();
    this.events.push(event);
    this.bytes += JSON.stringify(event).length;
    if (event.type === 'turn.ended') this.isOver = true;
    if (this.bytes > this.bytesMax) this.shorten();
  }

  take(command: TurnCommand): void {
    if (command.type === 'decide') this.decided.add(command.permissionId);
    if (command.type === 'acknowledge' && command.fault === undefined) this.isBegun = true;
    this.host?.take(command);
  }

  said(): readonly TurnEvent[] {
    return this.events.map((event) =>
      event.type === 'permission.asked' && this.decided.has(event.permissionId)
        ? { ...event, isDecided: true }
        : event,
    );
  }

  /** No one will store what it waits for any more. */
  interrupt(fault: string): void {
    this.host?.take({ type: 'interrupt' });
    for (const { type, seq } of this.events)
      if (type === 'process.noted') this.host?.take({ type: 'acknowledge', seq, fault });
  }

  /** All of its processes at once, in the middle of whatever they do. */
  async kill(): Promise<void> {
    const notes = this.events.flatMap((event) => (event.type === 'process.noted' ? [event.note] : []));
    await Promise.all(notes.map((note) => reap(note, { graces: atOnce })));
  }

  /** What was said in between is the least: the answer comes whole at the end, and the beginnings of outputs stay. */
  private shorten(): void {
    this.events = this.events
      .filter(({ type }) => type !== 'text' && type !== 'thinking' && type !== 'notice')
      .map((event) =>
        event.type === 'tool.finished'
          ? { ...event, output: firstBytes(event.output, outputBytesMax) }
          : event,
      );
    this.bytes = this.events.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
    this.bytesMax = Math.max(bytesMax, 2 * this.bytes); // so that not every event looks at all before it
  }
}

const atOnce = { interruptMs: 0, terminateMs: 0, confirmMs: 10_000 };
const bytesMax = 32 * 1024 * 1024;
const outputBytesMax = 4 * 1024;
