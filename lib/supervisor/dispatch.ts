import type { ActorKey, Kind } from '../../actors/contracts.js';
import type { ActorCells } from './cells.js';
import type { Deliverer, Delivery } from './deliver.js';
import { Fifo } from './fifo.js';
import type { Intake } from './intake.js';

/** What it needs of the kernel. */
interface Parts {
  readonly cells: ActorCells;
  readonly deliverer: Deliverer;
  readonly intake: Intake;
  knows(kind: string): boolean;
  kind(name: string): Kind;
  fault(what: string, error: unknown): Error;
}

/**
 * The way of the kernel's own work to its actors: messages, timers and results of effects. None is ever
 * refused; what lies in the store anyway waits for room.
 */
export class Dispatch {
  private readonly posts = new Fifo<{ readonly to: ActorKey; readonly delivery: Delivery }>();
  /** Unknown kinds that were reported. */
  private readonly strange = new Set<string>();

  constructor(private readonly kernel: Parts) {
    kernel.intake.add(() => this.postNext());
  }

  /** At once. */
  deliver(to: ActorKey, delivery: Delivery): void {
    const kind = this.kernel.knows(to.kind) ? this.kernel.kind(to.kind) : undefined;
    if (kind !== undefined) return this.kernel.deliverer.deliver(kind, to.id, delivery, true);
    delivery.finished?.();
    if (this.strange.has(to.kind)) return;
    this.strange.add(to.kind);
    this.kernel.fault(
      `a message for the unknown kind "${to.kind}" stays in the inbox of ${to.id}`,
      new TypeError('unknown kind'),
    );
  }

  /** Messages of one step may be thousands, for as many actors: in their order, as there is room. */
  post(to: ActorKey, delivery: Delivery): void {
    if (this.posts.length === 0 && this.kernel.intake.room) return this.admit(to, delivery);
    this.posts.push({ to, delivery });
    this.kernel.intake.look();
  }

  private postNext(): boolean {
    const next = this.posts.shift();
    if (next !== undefined) this.admit(next.to, next.delivery);
    return next !== undefined;
  }

  /** Work that lies in the store; counted where it wakes somebody, for free where it only queues. */
  admit(to: ActorKey, delivery: Delivery): void {
    if (!this.kernel.cells.isResting(to.kind, to.id)) return this.deliver(to, delivery);
    const through = this.kernel.intake.begin();
    const { finished } = delivery;
    this.deliver(to, {
      ...delivery,
      finished: () => {
        finished?.();
        through();
      },
    });
  }
}
