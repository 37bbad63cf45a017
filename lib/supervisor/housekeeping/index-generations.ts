import type { Kind } from '../../../actors/contracts.js';
import type { Op, Store } from '../../store/contract.js';
import { keys, prefix } from '../../store/keys.js';
import type { Kinds } from '../draft/kinds.js';

/**
 * By which version of its kind an actor stands in lists and totals. A kind whose version or `indexVersion` has
 * changed begins a new generation: its totals begin at zero, and an actor counts in them, and stands in the
 * lists of the new version, once its record says that it is of that generation: after its next step, or when
 * the background pass has come to it (`Reindexing`).
 */
export class IndexGenerations {
  /** Of kinds with lists or totals. Of a kind that is not here, records say 0. */
  readonly all = new Map<string, Generation>();

  constructor(
    private readonly store: Store,
    private readonly kinds: Kinds,
  ) {}

  /** Before totals are read and anything is decided. O(kinds), in one reading. */
  async load(): Promise<void> {
    const ops: Op[] = [];
    const counted = this.kinds.all.filter(
      ({ index, totals, waitingFor }) =>
        index !== undefined || totals !== undefined || waitingFor !== undefined,
    );
    const texts = await this.store.getMany(counted.map(({ kind }) => rowKey(kind)));
    for (const [n, kind] of counted.entries()) {
      const text = texts[n];
      const mark = markOf(kind);
      const kept = text === undefined ? undefined : (JSON.parse(text) as Generation);
      const known = kept ?? {
        mark: (await this.isOlder(kind)) ? '' : mark,
        generation: 0,
        done: true,
        cursor: '',
      };
      if (known.mark !== mark) {
        ops.push(...(await this.begin(kind, known.generation + 1)));
        continue;
      }
      this.all.set(kind.kind, known);
      // At once: a kind with actors and without a mark is taken for one of before there were marks
      if (kept === undefined) ops.push(rowOf(kind.kind, known));
    }
    const { store } = this;
    if (ops.length > 0)
      await store.write({ first: store.head.seq + 1, last: store.head.seq, chain: store.head.chain, ops });
  }

  /** Kinds whose actors are not all of their generation yet, and the last id that the pass has come to. */
  get pending(): readonly (readonly [kind: string, cursor: string])[] {
    return [...this.all].filter(([, { done }]) => !done).map(([kind, { cursor }]) => [kind, cursor]);
  }

  /** Passes have come so far, or to their end. That counts once it is durable: a write that fails is tried again. */
  async advance(reached: readonly Reached[], write: (ops: readonly Op[]) => Promise<void>): Promise<void> {
    if (reached.length === 0) return;
    const next = reached.map(({ kind, cursor, done }): [string, Generation] => [
      kind,
      { ...(this.all.get(kind) as Generation), cursor: done ? '' : cursor, done },
    ]);
    await write(next.map(([kind, generation]) => rowOf(kind, generation)));
    for (const [kind, generation] of next) this.all.set(kind, generation);
  }

  private async begin(kind: Kind, generation: number): Promise<Op[]> {
    const begun = { mark: markOf(kind), generation, done: false, cursor: '' };
    this.all.set(kind.kind, begun);
    const totals: Op[] = [];
    for (let { gte, lt } = prefix(keys.count(kind.kind, '')); ;) {
      const page = await this.store.page({ gte, lt, keysOnly: true, limit: pageSize });
      totals.push(...page.map(([key]): Op => [key, null]));
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) break;
      gte = `${last[0]}\x00`;
    }
    return [...totals, rowOf(kind.kind, begun)];
  }

  /** Of a home from before there were generations: is there an actor that an older version wrote? */
  private async isOlder(kind: Kind): Promise<boolean> {
    const all = prefix(keys.actor(kind.kind, ''));
    for (const reverse of [false, true]) {
      const page = await this.store.page({ ...all, reverse, limit: sampleSize });
      const isOther = ([, text]: readonly [string, string]): boolean =>
        (JSON.parse(text) as { version?: number }).version !== kind.version;
      if (page.some(isOther)) return true;
      // A version of the lists alone leaves no trace in such a record
      if (page.length > 0 && kind.indexVersion !== undefined) return true;
    }
    return false;
  }
}

interface Generation {
  readonly mark: string;
  readonly generation: number;
  readonly done: boolean;
  readonly cursor: string;
}

/** How far the pass of a kind has come. */
interface Reached {
  readonly kind: string;
  readonly cursor: string;
  readonly done: boolean;
}

const rowOf = (kind: string, generation: Generation): Op => [rowKey(kind), JSON.stringify(generation)];
const rowKey = (kind: string): string => keys.meta(`kernel/index/${kind}`);
const markOf = ({ version, indexVersion = 0 }: Kind): string => `${version}.${indexVersion}`;
const pageSize = 1_000;
const sampleSize = 100;
