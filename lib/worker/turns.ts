import type { TurnEvent } from '../../actors/engines/turn-events.js';
import type { TurnHost } from '../../actors/session/turn-host.js';

/** A turn that a worker hosts, and what it has said: a gateway that comes back is told all of it again. */
export class WorkerTurn {
  private readonly events: TurnEvent[] = [];
  private bytes = 0;
  host: TurnHost | undefined;
  endedAt: number | undefined;

  /** At the worker's own clock, epoch ms. */
  constructor(readonly beganAt: number) {}

  keep(event: TurnEvent, now: number): void {
    this.events.push(event);
    this.bytes += JSON.stringify(event).length;
    if (event.type === 'turn.ended') this.endedAt = now;
    if (this.bytes > bytesMax) this.forgetWords();
  }

  said(): readonly TurnEvent[] {
    return this.events;
  }

  /** What was said in between is the least: the answer comes whole at the end, and tools are kept. */
  private forgetWords(): void {
    const isKept = ({ type }: TurnEvent): boolean =>
      type !== 'text' && type !== 'thinking' && type !== 'notice';
    const kept = this.events.filter(isKept);
    this.events.splice(0, Infinity, ...kept);
    this.bytes = kept.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
  }
}

const bytesMax = 32 * 1024 * 1024;
