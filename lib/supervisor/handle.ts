import { refuse, type Refusal } from '../../machines/refusals.js';
import type { ActorView, AskOptions, EventObject, Handle } from './contract.js';
import type { Kernel } from './kernel.js';
import type { ActorState } from './actor-state.js';
import type { Requests } from './requests.js';

/**
 * A durable actor in the shape of an XState actor reference: `useSelector`, `waitFor` and `toPromise` work on
 * it. `getSnapshot()` is the last commit; a handle that is subscribed to keeps its actor awake.
 */
type Observer = { next?(snapshot: unknown): void; error?(error: unknown): void; complete?(): void };

export class ActorHandle implements Handle {
  constructor(
    private readonly kernel: Kernel,
    private readonly requests: Requests,
    readonly kind: string,
    readonly id: string,
  ) {
    this.send = this.send.bind(this);
  }

  /** Fire and forget; what is refused is seen as a `refusal` frame. Never throws. */
  send(event: EventObject): void {
    this.requests.ask(this.kind, this.id, event).catch((error: unknown) => {
      this.kernel.fault(`"${event.type}" for ${this.kind} ${this.id} failed`, error);
    });
  }

  ask(event: EventObject, options?: AskOptions): Promise<ActorView | Refusal> {
    return this.requests.ask(this.kind, this.id, event, options);
  }

  /** The last commit of an awake actor; undefined while it sleeps (await `wake()` first). */
  getSnapshot(): unknown {
    return this.kernel.cells.find(this.kind, this.id)?.live?.snapshot;
  }

  /** Load the actor; its snapshot, or a refusal when there is none. */
  async wake(): Promise<unknown> {
    if (this.kernel.cells.isClosed) return refuse('DRAINING');
    const live = await this.kernel.cells.wake(this.kind, this.id);
    return live === undefined ? refuse('NOT_FOUND', { kind: this.kind, id: this.id }) : live.snapshot;
  }

  /**
   * As XState's own: called at every change from now on; an actor that has ended completes at once. One that
   * sleeps is woken, and what is found is told.
   */
  subscribe(observer: ((snapshot: unknown) => void) | Observer): { unsubscribe(): void } {
    const told: Observer = typeof observer === 'function' ? { next: observer } : observer;
    let listening = true;
    let rev = 0;
    const hear = (live: ActorState | undefined): void => {
      if (!listening || live === undefined || live.rev <= rev) return;
      rev = live.rev;
      this.tell(told, live);
    };
    const ignore = this.kernel.cells.listen(this.kind, this.id, hear);
    const cell = this.kernel.cells.find(this.kind, this.id);
    if (cell?.loaded !== true && !this.kernel.cells.isClosed)
      this.kernel.cells.wake(this.kind, this.id).then(hear, (error: unknown) => {
        this.kernel.fault(`${this.kind} ${this.id} could not be woken`, error);
      });
    else if (cell?.live !== undefined && cell.live.snapshot.status !== 'active')
      this.tell({ ...told, next: () => undefined }, cell.live);
    return {
      unsubscribe: () => {
        listening = false;
        ignore();
      },
    };
  }

  private tell(observer: Observer, live: ActorState | undefined): void {
    if (live === undefined) return;
    try {
      observer.next?.(live.snapshot);
      if (live.snapshot.status === 'done' || live.snapshot.status === 'stopped') observer.complete?.();
      if (live.snapshot.status === 'error') observer.error?.(live.snapshot.error);
    } catch (error) {
      this.kernel.fault(`an observer of ${this.kind} ${this.id} threw`, error);
    }
  }
}
