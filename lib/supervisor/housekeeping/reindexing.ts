import type { Kind } from '../../../actors/contracts.js';
import { StoreError, type Op } from '../../store/contract.js';
import { keys, partsOf, prefix } from '../../store/keys.js';
import type { Cell } from '../cells/actor-cells.js';
import { encodeState } from '../draft/codec.js';
import { xstate5 } from '../draft/driver.js';
import type { Commits } from '../commit.js';
import type { Kernel } from '../kernel.js';
import { changeTotals, listRows, placesInLists, allPlaces, placeTotals } from '../draft/indexes.js';
import type { ActorState } from '../draft/actor-state.js';
import { decodeRecord, draftRecord } from '../draft/stored-form.js';
import type { Draft } from '../draft/draft.js';

/** How far a pass over a kind's actors has come. */
export interface ReindexProgress {
  readonly kind: string;
  readonly done: number;
  readonly total: number;
}

/**
 * The background pass that brings the actors of a kind into the lists and totals of its new version, sleeping
 * ones too: a few at a time, each with its turn held, and each record says that it was done. A process that
 * dies in between goes on where it was. Afterwards the rows are removed that only the old version knew.
 *
 * Who cannot be read, or fails a rule of the kind, is passed over: the pass is not over then, and the next process,
 * whose kind may have been repaired, goes on before the first of them.
 */
export class Reindexing {
  private readonly reached = new Map<string, number>();
  private readonly reported = new Set<string>();
  /** By kind, how many this process has passed over. */
  private readonly passedOver = new Map<string, number>();

  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
  ) {}

  private readonly write = (ops: readonly Op[]): Promise<void> => this.commits.write(ops);

  get progress(): readonly ReindexProgress[] {
    return this.kernel.generations.pending.map(([kind]) => ({
      kind,
      done: this.reached.get(kind) ?? 0,
      total: this.commits.committer.totals.of(placeTotals(kind)).get(allPlaces) ?? 0,
    }));
  }

  async run(stopped: () => boolean): Promise<void> {
    const { generations } = this.kernel;
    for (const [name, cursor] of generations.pending) {
      const kind = this.kernel.kinds.of(name);
      if (!(await this.visitAll(kind, cursor, stopped))) return;
      if (!(await this.sweep(kind, stopped))) return;
      const left = this.passedOver.get(name) ?? 0;
      if (left > 0) {
        this.kernel.environment.log.error(
          { kind: name, actors: left },
          'actors are missing in lists and totals',
        );
        continue;
      }
      await generations.advance([{ kind: name, cursor: '', done: true }], this.write);
      this.kernel.environment.log.info(
        { kind: name, actors: this.reached.get(name) ?? 0 },
        'kind was reindexed',
      );
    }
  }

  /** False: stopped before the end. */
  private async visitAll(kind: Kind, cursor: string, stopped: () => boolean): Promise<boolean> {
    const { store, generations } = this.kernel;
    const all = prefix(keys.actor(kind.kind, ''));
    const generation = generations.all.get(kind.kind)?.generation ?? 0;
    this.passedOver.delete(kind.kind); // of an attempt that a failed write ended
    for (let after = cursor === '' ? all.gte : keys.actor(kind.kind, cursor), pages = 1; ; pages += 1) {
      const page = await store.page({ gt: after, lt: all.lt, limit: atOnce });
      if (stopped()) return false;
      const last = page.at(-1);
      if (last === undefined) return true;
      const stale = page.filter(([, text]) => generationIn(text) !== generation);
      const brought = await Promise.all(
        stale.map(([key]) => this.withTurn(kind, idOf(key), (cell) => this.visit(kind, cell))),
      );
      const over = brought.filter((isBrought) => !isBrought).length;
      if (over > 0) this.passedOver.set(kind.kind, (this.passedOver.get(kind.kind) ?? 0) + over);
      this.reached.set(kind.kind, (this.reached.get(kind.kind) ?? 0) + page.length - over);
      [after] = last;
      if (stopped()) return false;
      if (pages % pagesPerNote === 0 && !this.passedOver.has(kind.kind))
        await generations.advance([{ kind: kind.kind, cursor: idOf(after), done: false }], this.write);
    }
  }

  /** The draft that brings an actor up to its generation; undefined: there is nothing to do. */
  private visit(kind: Kind, { id, key, state }: Cell): Draft | undefined {
    const { kernel } = this;
    const generation = kernel.generations.all.get(kind.kind)?.generation ?? 0;
    if (state === undefined || state.indexed === generation) return undefined;
    const draft = this.commits.draft();
    const { snapshot } = state;
    // Of a migrated snapshot the next entry of the log must hold the whole
    const sinceSnapshot = Math.min(state.sinceSnapshot, wholeNext);
    const next: ActorState = { ...state, sinceSnapshot, indexed: generation };
    listRows(kind, id, undefined, next, draft.ops);
    changeTotals(kind, id, undefined, next, draft.totals);
    const record = draftRecord(
      kind,
      id,
      next,
      encodeState((kind.driver ?? xstate5).persist(kind.machine, snapshot)),
    );
    draft.next.set(key, { kind, id, key, state: next, record });
    return draft;
  }

  /** Rows of lists that the kind's actors do not have. False: stopped before the end. */
  private async sweep(kind: Kind, stopped: () => boolean): Promise<boolean> {
    const { store } = this.kernel;
    const all = prefix(keys.list(kind.kind, '', '', '').slice(0, -2));
    for (let after = all.gte; ;) {
      const page = await store.page({ gt: after, lt: all.lt, keysOnly: true, limit: sweptAtOnce });
      const last = page.at(-1);
      if (last === undefined) return true;
      const stray = await this.strayOf(
        kind,
        page.map(([key]) => key),
      );
      await Promise.all(
        stray.map((key) =>
          this.withTurn(kind, idOf(key), ({ id, state }) => {
            if (placesInLists(kind, id, state).has(key)) return undefined;
            const draft = this.commits.draft();
            draft.ops.push([key, null]);
            return draft;
          }),
        ),
      );
      [after] = last;
      if (stopped()) return false;
    }
  }

  /** Those that the records of their actors do not ask for. */
  private async strayOf(kind: Kind, rows: readonly string[]): Promise<readonly string[]> {
    const ids = [...new Set(rows.map(idOf))];
    const texts = await this.kernel.store.getMany(ids.map((id) => keys.actor(kind.kind, id)));
    const expected = new Map<string, ReturnType<typeof placesInLists> | undefined>();
    ids.forEach((id, n) => {
      const text = texts[n];
      try {
        const state = text === undefined ? undefined : decodeRecord(kind, text);
        expected.set(id, placesInLists(kind, id, state));
      } catch {
        expected.set(id, undefined); // no one can tell: it stays as it is
      }
    });
    return rows.filter((key) => expected.get(idOf(key))?.has(key) === false);
  }

  /**
   * Do something with an actor's turn held, and commit what comes of it. A record that cannot be read is
   * passed over: false.
   */
  private withTurn(kind: Kind, id: string, work: (cell: Cell) => Draft | undefined): Promise<boolean> {
    const { kernel } = this;
    return new Promise((resolve, reject) => {
      const failed = (error: unknown): void => {
        if (error instanceof StoreError) return reject(error);
        const what = `the ${kind.kind} ${id} could not be indexed`;
        if (!this.reported.has(what)) kernel.fault(what, error);
        this.reported.add(what);
        resolve(false);
      };
      kernel.cells.enter(kind.kind, id, {
        urgent: true,
        fail: failed,
        run: (cell) => {
          let draft: Draft | undefined;
          try {
            draft = work(cell);
          } catch (error) {
            failed(error);
          }
          if (draft === undefined) {
            kernel.cells.release(cell);
            return resolve(true); // the first answer counts
          }
          this.commits.commit(draft, [cell], (error) =>
            error === undefined ? resolve(true) : failed(error),
          );
        },
      });
    });
  }
}

const idOf = (key: string): string => partsOf(key).at(-1) ?? '';
const generationIn = (text: string): number => (JSON.parse(text) as { indexed?: number }).indexed ?? 0;
const atOnce = 32;
const sweptAtOnce = 256;
/** The place is written down after so many pages; what was done meanwhile is known from the records. */
const pagesPerNote = 32;
/** As many entries since the last whole one as make the next one whole. */
const wholeNext = 1_000;
