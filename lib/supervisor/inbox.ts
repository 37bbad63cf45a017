import type { ActorKey, Kind } from '../../actors/contracts.js';
import type { Store } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { Cell, Cells } from './cells.js';
import { senderOf, type Deliverer, type Delivery, type InboxRow } from './deliver.js';

/**
 * Messages between actors. Each lies as a row in its receiver's inbox from the commit that sent it to the commit
 * that used it up; in between it is on its way once, whoever saw its row first.
 */
export class Inbox {
  private readonly underway = new Set<string>();

  constructor(
    private readonly store: Store, private readonly cells: Cells, private readonly deliverer: Deliverer,
    private readonly deliver: (to: ActorKey, delivery: Delivery) => void,
  ) {}

  /** A message whose row has just been committed. */
  post(to: ActorKey, key: string, delivery: Delivery): void {
    this.underway.add(key);
    this.deliver(to, { ...delivery, ...this.rowOf(key) });
  }

  /** A row found at boot, or put back by a retry. */
  take(to: ActorKey, key: string, value: string): void {
    if (this.underway.has(key)) return;
    this.underway.add(key);
    this.deliver(to, this.deliveryOf(key, value));
  }

  /** Put rows before everything that waits for the actor's turn, which is held. */
  takeFirst(cell: Cell, kind: Kind, rows: readonly (readonly [key: string, value: string])[]): void {
    this.cells.insert(cell, rows.map(([key, value]) => {
      this.underway.add(key);
      return this.deliverer.job(kind, this.deliveryOf(key, value), true);
    }));
  }

  /** What lies in an actor's inbox and is not on its way, oldest first. */
  async of({ kind, id }: ActorKey): Promise<(readonly [key: string, value: string])[]> {
    const start = keys.inbox(kind, id, 0, '').slice(0, -17);
    const found: [string, string][] = [];
    for (let after = start; ;) {
      const page = await this.store.page({ gt: after, lt: `${start}\x7f`, limit: 1000 });
      found.push(...page.filter(([key]) => !this.underway.has(key)));
      const last = page.at(-1);
      if (last === undefined || page.length < 1000) return found;
      after = last[0];
    }
  }

  private deliveryOf(key: string, value: string): Delivery {
    const row = JSON.parse(value) as InboxRow;
    return { event: row.event, by: row.by ?? senderOf(row), cause: row.cause, ...(row.ended === undefined ? {} : { ended: row.ended }), ...this.rowOf(key) };
  }

  private rowOf(key: string): Pick<Delivery, 'consume' | 'finished'> {
    return { consume: [[key, null]], finished: () => { this.underway.delete(key); } };
  }
}
