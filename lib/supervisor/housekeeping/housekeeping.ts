import { StoreError, type Op } from '../../store/contract.js';
import { expiriesFrom, keys, partsOf } from '../../store/keys.js';
import type { Retention, RetentionStatus } from '../contract.js';
import type { Commits } from '../commit.js';
import type { DeadLetters } from '../delivery/dead-letters.js';
import type { Kernel } from '../kernel.js';
import { Erasure } from './erasure.js';
import { LogRetention } from './log-retention.js';
import { Reindexing } from './reindexing.js';
import type { Caller } from '../../../machines/caller.js';
import type { ActorKey } from '../../../machines/outputs.js';
import type { Refusal } from '../../../machines/refusals.js';

const day = 86_400_000;
const everyMs = 5_000;
const expiryPage = 1_000;
const countedMax = 10_000;
const diskBytesMin = 200 * 1024 * 1024;

/**
 * What must be done now and then: forget expired keys, let old log entries go, watch the disk. Runs on one
 * slow timer; a failure is logged and tried again at the next turn.
 */
export class Housekeeping implements Retention {
  readonly log: LogRetention;
  readonly reindexing: Reindexing;
  private readonly erasure: Erasure;
  diskLow = false;
  private cancel: (() => void) | undefined;
  private stopped = false;
  private round = 0;
  private working: Promise<void> = Promise.resolve();
  private indexing: Promise<void> | undefined;
  private changing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
    private readonly deadLetters: DeadLetters,
  ) {
    this.log = new LogRetention(kernel, commits);
    this.reindexing = new Reindexing(kernel, commits);
    this.erasure = new Erasure(
      kernel,
      commits,
      (task) => this.alone(task),
      () => this.stopped,
    );
  }

  /** One at a time: what removes log entries and what blanks them. */
  private alone<Value>(task: () => Promise<Value>): Promise<Value> {
    const turn = this.changing.catch(() => undefined).then(task);
    this.changing = turn;
    return turn;
  }

  async start(): Promise<void> {
    await this.kernel.retention.load();
    await this.log.load();
    await this.keepFirst();
    await this.deadLetters.load();
    await this.watchDisk();
    this.erasure
      .resume()
      .catch((error: unknown) => this.kernel.fault('an erasure could not be finished', error));
    this.next();
  }

  /** A life may end before its first turn, and the next begin while the wall is wrong. */
  private async keepFirst(): Promise<void> {
    const rows = [...this.kernel.retention.first(), ...this.log.first()];
    if (rows.length === 0) return;
    await this.commits
      .write(rows)
      .catch((error: unknown) => this.kernel.fault('the clock of retention could not be kept yet', error));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel?.();
    await this.working;
    await this.indexing;
    await this.erasure.rest();
  }

  async status(): Promise<RetentionStatus> {
    const { store, retention } = this.kernel;
    const now = retention.now();
    const { heldMs } = retention;
    const others = await store.count({
      gte: expiriesFrom(now),
      lt: expiriesFrom(now + heldMs),
      limit: countedMax,
    });
    return { now, heldMs, wouldForget: { entries: this.log.wouldGo(heldMs), others } };
  }

  async allow(): Promise<RetentionStatus> {
    await this.kernel.retention.allow((rows) => this.commits.write(rows));
    return this.status();
  }

  async dismiss(): Promise<RetentionStatus> {
    await this.kernel.retention.dismiss((rows) => this.commits.write(rows));
    return this.status();
  }

  erase(actor: ActorKey, by: Caller): Promise<number | Refusal> {
    return this.erasure.erase(actor, by);
  }

  private next(): void {
    if (this.stopped) return;
    this.cancel = this.kernel.environment.clock.timeout(everyMs, () => {
      this.working = this.turn()
        .catch((error: unknown) => {
          this.kernel.fault('housekeeping failed', error);
        })
        .finally(() => this.next());
    });
  }

  private async turn(): Promise<void> {
    const { retention } = this.kernel;
    this.indexing ??= this.reindex();
    await this.watchDisk();
    retention.check();
    await this.expire();
    if (this.round % 12 === 0) await this.expireDeadLetters();
    this.round += 1;
    const due = retention.due();
    await this.alone(() => this.log.turn(due, () => this.stopped));
    if (due.length > 0) retention.written();
  }

  /**
   * Keys and ended actors whose time is over, all of them: what goes slower than it comes piles up for ever.
   */
  private async expire(): Promise<void> {
    const { store, retention } = this.kernel;
    const now = retention.now();
    while (!this.stopped) {
      const due = await store.page({
        gte: expiriesFrom(0),
        lt: expiriesFrom(now),
        limit: expiryPage,
      });
      const rows = due.map(([row]) => ({ row, key: partsOf(row)[2] as string }));
      const gone = rows
        .filter(({ key }) => !key.startsWith('a/'))
        .flatMap(({ row, key }): Op[] => [
          [row, null],
          [key, null],
        ]);
      if (gone.length > 0) await this.commits.write(gone);
      if (this.stopped) return;
      await Promise.all(
        rows.filter(({ key }) => key.startsWith('a/')).map(({ row, key }) => this.forget(row, key)),
      );
      if (due.length < expiryPage) return;
    }
  }

  /**
   * A record that cannot be read, or whose kind fails on it, stays for another day, and stands in no one's way. While
   * the store cannot write nothing is decided.
   */
  private async forget(row: string, key: string): Promise<void> {
    const [, kind = '', id = ''] = partsOf(key);
    try {
      await this.forgetActor({ kind, id }, row);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.kernel.fault(`the ended ${kind} ${id} could not be forgotten`, error);
      await this.commits.write(this.postponed(row, key));
    }
  }

  private postponed(row: string, key: string): readonly Op[] {
    return [
      [row, null],
      [keys.expiry(this.kernel.retention.now() + day, key), '1'],
    ];
  }

  /** Beside everything else; what fails is tried again at a later turn. */
  private async reindex(): Promise<void> {
    try {
      await this.reindexing.run(() => this.stopped);
    } catch (error) {
      this.kernel.fault('kind could not be reindexed', error);
      this.indexing = undefined;
    }
  }

  /** They may hold what a person said: that they went is written down. */
  private async expireDeadLetters(): Promise<void> {
    const letters = await this.deadLetters.expire(() => this.stopped);
    if (letters > 0) this.kernel.environment.log.info({ letters }, 'old dead letters were removed');
  }

  private async watchDisk(): Promise<void> {
    const free = await this.kernel.store.freeBytes?.();
    if (free === undefined || free < diskBytesMin === this.diskLow) return;
    this.diskLow = !this.diskLow;
    const { root } = this.kernel;
    if (this.diskLow) root.failed('disk', 'less than 200 MB are free');
    else root.recovered('disk');
  }

  /**
   * An ended actor whose time is over goes, with its turn held: record, places, lists and totals in one commit.
   * `due` is the row that said so. Its log stays until the log's own time is over. At its end its effects,
   * timers and children had gone with it: nothing of it can be under way but a fenced effect that still
   * settles, and that has a row of its own.
   */
  private forgetActor({ kind: name, id }: ActorKey, due: string): Promise<void> {
    const { kernel, commits } = this;
    const kind = kernel.kinds.find(name);
    // One that this build does not have may come back
    if (kind === undefined) return commits.write(this.postponed(due, keys.actor(name, id)));
    if (kind.forgetAfterMs === undefined) return commits.write([[due, null]]);
    return new Promise((resolve, reject) => {
      kernel.cells.enter(name, id, {
        urgent: true,
        fail: reject,
        run: (cell) => {
          const draft = commits.draft();
          draft.ops.push([due, null]);
          const { state } = cell;
          const ended = state !== undefined && state.snapshot.status !== 'active';
          if (ended) draft.forget(kind, id, state);
          commits.commit(draft, [cell], (error) => {
            if (error !== undefined) return reject(error as Error);
            if (ended)
              kernel.cells.adopt(name, id, undefined, (problem) =>
                kernel.fault(`an observer of ${name} ${id} threw`, problem),
              );
            resolve();
          });
        },
      });
    });
  }
}
