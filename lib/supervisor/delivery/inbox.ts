import type { ActorKey, Kind } from '../../../actors/contracts.js';
import { system } from '../../../machines/caller.js';
import { keys } from '../../store/keys.js';
import type { Cell, Job } from '../cells/actor-cells.js';
import type { Commits } from '../commit.js';
import { type Deliverer, senderOf, type Delivery, type InboxRow } from './deliver.js';
import type { Dispatch } from './dispatch.js';
import type { Kernel } from '../kernel.js';

/**
 * Messages between actors. Each lies as a row in its receiver's inbox from the commit that sent it to the
 * commit that used it up; in between it is on its way once, whatever saw its row first.
 */
export class Inbox {
  private readonly underway = new Set<string>();

  constructor(
    private readonly kernel: Kernel,
    commits: Commits,
    private readonly deliverer: Deliverer,
    private readonly dispatch: Dispatch,
  ) {
    commits.released.messages.add(({ actor, messages }, position) => {
      for (let at = 0; at < messages.length; at += 1) {
        const { to, event } = messages[at] as (typeof messages)[number];
        this.post(to, keys.inbox(to.kind, to.id, position, at), {
          event,
          by: system(`${actor.kind}:${actor.id}`),
          cause: position,
        });
      }
    });
  }

  /** A message whose row has just been committed. */
  private post(to: ActorKey, key: string, delivery: Delivery): void {
    this.underway.add(key);
    this.dispatch.post(to, { ...delivery, ...this.rowOf(key) });
  }

  /** A row put back by a retry. */
  take(to: ActorKey, key: string, value: string): void {
    if (this.underway.has(key)) return;
    this.underway.add(key);
    this.dispatch.post(to, this.deliveryOf(key, value));
  }

  /**
   * A page of rows that an earlier life left, for a mailbox in which nothing else is. The next page is read when
   * this one is through: an inbox may be longer than memory is wide. `first` hears when the first is through.
   */
  takePage(to: ActorKey, rows: readonly InboxEntry[], first: (() => void) | undefined): void {
    const kind = this.kernel.kinds.of(to.kind);
    const fresh = rows.filter(([key]) => !this.underway.has(key));
    if (fresh.length === 0) first?.();
    const jobs = fresh.map(([key, value], index) =>
      this.jobOf(kind, key, value, index === 0 ? first : undefined),
    );
    if (rows.length === pageRows) jobs.push(this.readOn(to, kind, rows.at(-1)?.[0]));
    for (const job of jobs) this.kernel.cells.enter(to.kind, to.id, job);
  }

  private jobOf(kind: Kind, key: string, value: string, through: (() => void) | undefined): Job {
    this.underway.add(key);
    try {
      const delivery = this.deliveryOf(key, value);
      const { finished } = delivery;
      return this.deliverer.job(
        kind,
        through === undefined
          ? delivery
          : {
              ...delivery,
              finished: () => {
                finished?.();
                through();
              },
            },
        true,
      );
    } catch (error) {
      return {
        urgent: true,
        fail: () => undefined,
        run: (cell) => {
          this.kernel.fault(`the message ${key} cannot be read and is kept`, error);
          through?.();
          this.kernel.cells.release(cell);
        },
      };
    }
  }

  private readOn(to: ActorKey, kind: Kind, after: string | undefined): Job {
    const job: Job = {
      urgent: true,
      fail: () => undefined, // the rows stay
      run: (cell) => {
        this.page(to, after).then(
          (rows) => {
            const fresh = rows.filter(([key]) => !this.underway.has(key));
            const jobs = fresh.map(([key, value]) => this.jobOf(kind, key, value, undefined));
            if (rows.length === pageRows) jobs.push(this.readOn(to, kind, rows.at(-1)?.[0]));
            this.kernel.cells.insert(cell, jobs);
            this.kernel.cells.release(cell);
          },
          (error: unknown) => {
            this.kernel.cells.postpone(cell, job, error);
            this.kernel.cells.release(cell);
          },
        );
      },
    };
    return job;
  }

  /** One page of an actor's rows, oldest first. */
  page({ kind, id }: ActorKey, after: string | undefined): Promise<InboxEntry[]> {
    const start = keys.inbox(kind, id, 0, '').slice(0, -17);
    return this.kernel.store.page({ gt: after ?? start, lt: `${start}\x7f`, limit: pageRows });
  }

  /** Put rows before everything that waits for the actor's turn, which is held. */
  takeFirst(cell: Cell, kind: Kind, rows: readonly (readonly [key: string, value: string])[]): void {
    this.kernel.cells.insert(
      cell,
      rows.map(([key, value]) => {
        this.underway.add(key);
        return this.deliverer.job(kind, this.deliveryOf(key, value), true);
      }),
    );
  }

  /** What lies in an actor's inbox and is not on its way, oldest first. */
  async of({ kind, id }: ActorKey): Promise<(readonly [key: string, value: string])[]> {
    const start = keys.inbox(kind, id, 0, '').slice(0, -17);
    const found: [string, string][] = [];
    for (let after = start; ;) {
      const page = await this.kernel.store.page({ gt: after, lt: `${start}\x7f`, limit: 1000 });
      found.push(...page.filter(([key]) => !this.underway.has(key)));
      const last = page.at(-1);
      if (last === undefined || page.length < 1000) return found;
      after = last[0];
    }
  }

  private deliveryOf(key: string, value: string): Delivery {
    const row = JSON.parse(value) as InboxRow;
    return {
      event: row.event,
      by: row.by ?? senderOf(row),
      onBehalfOf: row.onBehalfOf,
      cause: row.cause,
      ...(row.ended === undefined ? {} : { ended: row.ended }),
      ...this.rowOf(key),
    };
  }

  private rowOf(key: string): Pick<Delivery, 'consume' | 'finished'> {
    return {
      consume: [[key, null]],
      finished: () => {
        this.underway.delete(key);
      },
    };
  }
}

export type InboxEntry = readonly [key: string, value: string];

const pageRows = 1_000;
