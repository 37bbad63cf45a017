import { isRefusal } from '../../machines/refusals.js';
import { StoreError, type Store } from '../store/contract.js';
import type { Clock } from '../environment.js';

/**
 * Whether this process may still speak for its home.
 *
 * A store that more than one process can reach has one owner at a time. A group that it refuses (`LOST`,
 * `CONFLICT`) proves that there is another, and that is final: nothing in memory is believed any more. Short of
 * that, an owner that could not renew its lease in time knows nothing for the moment: it answers nothing from
 * memory and starts nothing until the lease holds again.
 */
export class Ownership {
  /** What everyone is answered once it is lost. */
  loss: StoreError | undefined;
  /** Called once, when it is lost. */
  readonly ended = new Set<(loss: StoreError) => void>();

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** Right now. A suspended process learns it when it asks, so ask after whatever was waited for. */
  get held(): boolean {
    return this.loss === undefined && this.store.authority?.() !== false;
  }

  /** Throws where what was read, or decided from memory, must not be answered. */
  assert(): void {
    if (this.loss !== undefined) throw this.loss;
    if (!this.held) throw new StoreError('STORE_UNAVAILABLE', 'the lease of the home has run out');
  }

  /** The store refused a group, or says that it has another owner. What everyone is answered from now on. */
  lose(cause: unknown): StoreError {
    if (this.loss !== undefined) return this.loss;
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.loss = new StoreError('LOST', `this process no longer owns the home: ${reason}`, { cause });
    for (const hear of this.ended) hear(this.loss);
    return this.loss;
  }

  /** True once it is held, false once it is lost. */
  whenHeld(): Promise<boolean> {
    if (this.held) return heldNow;
    if (this.loss !== undefined) return lostForGood;
    return new Promise((resolve) => {
      this.clock.timeout(againMs, () => void this.whenHeld().then(resolve));
    });
  }
}

/** Did the store itself say that it has another owner? */
export const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === 'LOST';

/** Does this failure of a write say so, one way or the other? */
export const provesLoss = (error: unknown): boolean =>
  isLost(error) || (error instanceof StoreError && error.code === 'CONFLICT');

/** An answer from memory or from the store: given only while the home is ours when it leaves. */
export function ownedRead<Read extends (...given: never[]) => Promise<unknown>>(
  ownership: Ownership,
  read: Read,
): Read {
  const owned = async (...given: Parameters<Read>): Promise<unknown> => {
    const answer = await read(...given);
    ownership.assert();
    return answer;
  };
  return owned as Read; // the same call, later
}

/**
 * The same for what may have been written. The store acknowledged it, but where the lease had run out by the time
 * the answer arrived, the store itself may have been replaced by one that never heard of it.
 */
export function ownedWrite<Write extends (...given: never[]) => Promise<unknown>>(
  ownership: Ownership,
  write: Write,
): Write {
  const owned = async (...given: Parameters<Write>): Promise<unknown> => {
    const answer = await write(...given);
    if (isRefusal(answer)) ownership.assert();
    else if (!ownership.held)
      throw new StoreError('OUTCOME_UNKNOWN', 'the lease of the home had run out when the answer arrived');
    return answer;
  };
  return owned as Write; // the same call, later
}

const heldNow = Promise.resolve(true);
const lostForGood = Promise.resolve(false);
const againMs = 100;
