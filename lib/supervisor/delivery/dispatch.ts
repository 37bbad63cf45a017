import type { ActorKey } from '../../../actors/contracts.js';
import { system } from '../../../machines/caller.js';
import { keys } from '../../store/keys.js';
import { Fifo } from '../cells/actor-cell.js';
import type { Deliverer, Delivery, Due } from './deliver.js';
import type { Kernel } from '../kernel.js';

/**
 * The way of the kernel's own work to its actors: messages, timers and results of effects. None is ever
 * refused; what lies in the store anyway waits for room.
 */
export class Dispatch {
  private readonly posts = new Fifo<{ readonly to: ActorKey; readonly delivery: Delivery }>();
  /** Unknown kinds that were reported. */
  private readonly unknown = new Set<string>();

  constructor(
    private readonly kernel: Kernel,
    private readonly deliverer: Deliverer,
  ) {
    kernel.intake.add(() => this.postNext());
  }

  /** At once. */
  deliver(to: ActorKey, delivery: Delivery): void {
    const kind = this.kernel.kinds.find(to.kind);
    if (kind !== undefined) return this.deliverer.deliver(kind, to.id, delivery, true);
    delivery.finished?.();
    if (this.unknown.has(to.kind)) return;
    this.unknown.add(to.kind);
    this.kernel.fault(
      `a message for the unknown kind "${to.kind}" stays in the inbox of ${to.id}`,
      new TypeError('unknown kind'),
    );
  }

  /** Messages of one step may be thousands, for as many actors: in their order, as there is room. */
  post(to: ActorKey, delivery: Delivery): void {
    if (this.posts.length === 0 && this.kernel.intake.room) return this.admit(to, delivery);
    this.posts.push({ to, delivery });
    this.kernel.intake.check();
  }

  private postNext(): boolean {
    const next = this.posts.shift();
    if (next !== undefined) this.admit(next.to, next.delivery);
    return next !== undefined;
  }

  /** Work that lies in the store; counted where it wakes someone, for free where it only queues. */
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

  /** A timer of the wheel; one that was set again meanwhile is stale. */
  fire({ kind, id, timer, due }: Due): void {
    this.admit(
      { kind, id },
      {
        event: { type: 'kernel.timer' },
        by: system('timer'),
        cause: 'timer',
        consume: [[keys.timer(due, kind, id, timer), null]],
        ended: { timer },
        fresh: (state) => state.timers[timer]?.due === due,
      },
    );
  }
}
