import type { Random } from '../crash/random.js';
import { openRow } from '../../lib/store/database.js';
import { failure, type Disk } from './disk.js';
import { FileNode, type Folder } from './nodes.js';
import type { SimulatedProcess } from './machine.js';

/**
 * LevelDB as the store sees it: sorted rows, of which the flushed ones lie in tables and the others in a log that a
 * power cut may cut off or riddle with holes. It knows what real ones were seen to do: accept writes after a failed
 * one and lose them at the next opening, refuse all writes after a failed flush, give back rows with flipped bits,
 * rows under another key, tables that cannot be read, and die in a compaction that meets damage.
 */
export class Tables {
  private readonly values = new Map<string, string>();
  private keys: string[] = [];
  private flushed = new Map<string, string>();
  private log: Batch[] = [];
  private openBy: SimulatedProcess | undefined;
  private readonly openPaths = new Set<string>();
  /** Part of a record lies in the log: what follows will not be found. */
  private torn = false;
  private broken: 'LEVEL_IO_ERROR' | 'LEVEL_CORRUPTION' | undefined;
  private unreadable: readonly [from: string, to: string] | undefined;
  shut: string | undefined;
  private fatal = false;

  constructor(
    private readonly disk: Disk,
    private readonly folder: Folder,
    private readonly role: string,
  ) {
    folder.set('CURRENT', new FileNode());
    folder.sync();
  }

  get size(): number {
    return this.keys.length;
  }

  /** Damage that only the next opening, or a compaction, will meet. */
  get isDamagedUnseen(): boolean {
    return this.shut !== undefined || this.fatal || this.unreadable !== undefined;
  }

  get isOpen(): boolean {
    return this.openBy?.alive === true;
  }

  /** As LevelDB: it knows what its own process has open by the spelling of the path, others by the system's lock. */
  open(path: string): void {
    if (this.openPaths.has(path) && this.isOpen) throw coded('LEVEL_LOCKED', 'the lock is held');
    if (!this.isOpen) this.openPaths.clear();
    this.openPaths.add(path);
    if (this.shut !== undefined) throw coded('LEVEL_CORRUPTION', this.shut);
    // As recovery does: what the log still gives back goes into a table.
    this.flushNow();
    this.openBy = this.disk.machine.process;
    this.torn = false;
    this.broken = undefined;
    if (this.fatal) this.disk.machine.after(this.disk.random.between(5_000, 2_000_000), () => this.compact());
  }

  close(): Promise<void> {
    return this.disk.operate(`${this.role}.close`, 100, () => {
      this.openBy = undefined;
      this.forgetDoomed();
    });
  }

  write(ops: Batch['ops']): Promise<void> {
    if (this.broken !== undefined) return Promise.reject(coded(this.broken, 'writes are refused'));
    const { disk } = this;
    return disk
      .operate(`${this.role}.write`, 40, (share) => {
        if (share < 1) this.torn = true;
        else this.take({ ops, doomed: this.torn && disk.random.chance(0.9) });
      })
      .catch((error: unknown) => Promise.reject(levelError(error)));
  }

  /** As `compactRange`, which swallows what goes wrong. */
  flush(): Promise<void> {
    return this.disk
      .operate(`${this.role}.flush`, 1_500, (share) => {
        if (share < 1) return;
        this.compact();
        if (this.unreadable !== undefined) this.broken = 'LEVEL_CORRUPTION';
        else this.flushNow();
      })
      .catch(() => {
        this.broken ??= 'LEVEL_IO_ERROR';
      });
  }

  get(key: string): string | undefined {
    this.read(key, key);
    return this.values.get(key);
  }

  async many(keys: readonly string[]): Promise<(string | undefined)[]> {
    return this.disk
      .operate(`${this.role}.read`, 30, () => keys.map((key) => (this.touch(key, key), this.values.get(key))))
      .catch((error: unknown) => Promise.reject(levelError(error)));
  }

  /** Entries of a range as of now; the reader fetches them in slices. */
  iterator({ gt, gte, lt, lte, reverse, limit = -1 }: Bounds): TablesIterator {
    let from = gte === undefined ? 0 : this.indexOf(gte);
    if (gt !== undefined) {
      const behind = this.indexOf(gt);
      from = Math.max(from, this.keys[behind] === gt ? behind + 1 : behind);
    }
    let to = lt === undefined ? this.keys.length : this.indexOf(lt);
    if (lte !== undefined) {
      const at = this.indexOf(lte);
      to = Math.min(to, this.keys[at] === lte ? at + 1 : at);
    }
    const count = limit < 0 ? Math.max(0, to - from) : Math.min(Math.max(0, to - from), limit);
    const keys =
      reverse === true ? this.keys.slice(to - count, to).reverse() : this.keys.slice(from, from + count);
    const entries = keys.map((key): [string, string] => [key, this.values.get(key)!]);
    let at = 0;
    const nextv = (most: number): Promise<[string, string][]> =>
      this.disk
        .operate(`${this.role}.iterate`, 30, () => {
          const some = entries.slice(at, at + most);
          for (const [key] of some) this.touch(key, key);
          at += some.length;
          return some;
        })
        .catch((error: unknown) => Promise.reject(levelError(error)));
    return { nextv, all: () => nextv(entries.length), close: () => Promise.resolve() };
  }

  /** The process that had it is gone. */
  restarted(): void {
    this.openBy = undefined;
    this.forgetDoomed();
  }

  losePower(random: Random, share: number): void {
    const kept = new Map(this.flushed);
    // Mostly the end is missing; now and then a block in the middle
    const holes = random.chance(0.2);
    const end = Math.floor(this.log.length * share);
    this.log = this.log.filter((_, at) => (holes ? random.chance(share) : at < end));
    for (const { ops } of this.log) for (const op of ops) set(kept, op);
    this.replace(kept);
  }

  /** Damage on the platter. Answers what was done; undefined: there was nothing to be damaged. */
  damage(how: Damage, random: Random): string | undefined {
    if (how === 'shut') return (this.shut = 'checksum mismatch in MANIFEST-000001');
    const byKey = how === 'key' || how === 'first key';
    // Not below a newer value: that would be damage for later, which no one could find now
    const newer = new Set(this.log.flatMap(({ ops }) => ops.map(([key]) => key)));
    const stored = [...this.flushed.keys()].filter(
      // A row that vanishes is found by the scrub. The one who reads it by its key before takes it for absent: for the
      // records of actors, and for the places by which a run of the same key is found, there is no help, see README.
      (key) =>
        !newer.has(key) && (!byKey || (/^[nsx]\/|^ /.test(key) && !key.startsWith('x/workflow-run/key/'))),
    );
    if (stored.length === 0) return undefined;
    const key = how === 'first key' ? stored.sort(byBytes)[0]! : random.pick(stored);
    const value = this.flushed.get(key)!;
    if (how === 'fatal') {
      this.fatal = true;
      return `a table is damaged where a compaction will meet it`;
    }
    if (how === 'unreadable') {
      const at = this.indexOf(key);
      this.unreadable = [key, this.keys[Math.min(this.keys.length - 1, at + random.between(0, 20))] ?? key];
      return `the rows from ${this.unreadable.join(' to ')} cannot be read`;
    }
    const changed = flipped(byKey ? key : value, random);
    const [to, row] = byKey ? [changed, value] : [key, changed];
    this.flushed.delete(key);
    this.flushed.set(to, row);
    this.put(key, null);
    this.put(to, row);
    return `a bit flipped in the ${byKey ? 'key' : 'value'} of ${key}`;
  }

  /**
   * Rows whose keys begin so, seen from outside of the simulation. Without those whose checksum does not hold: a
   * flipped bit makes a row where no one put one (seed 1353), and the one who reads it is refused and has it rebuilt.
   */
  entries(start: string): [key: string, value: string][] {
    const found: [string, string][] = [];
    for (let at = this.indexOf(start); this.keys[at]?.startsWith(start) === true; at += 1) {
      const key = this.keys[at]!;
      const value = openRow(key, this.values.get(key)!);
      if (value !== undefined) found.push([key, value]);
    }
    return found;
  }

  private compact(): void {
    if (this.fatal && this.isOpen) this.disk.crash(false);
  }

  private read(from: string, to: string): void {
    const verdict = this.disk.gate(`${this.role}.get`);
    if (verdict?.type === 'crash') {
      this.disk.crash(verdict.power);
      throw coded('LEVEL_DATABASE_NOT_OPEN', 'the process is dead');
    }
    if (verdict?.type === 'error') throw levelError(failure(verdict.code, 'a table'));
    this.touch(from, to);
  }

  private touch(from: string, to: string): void {
    if (this.unreadable !== undefined && to >= this.unreadable[0] && from <= this.unreadable[1])
      throw coded('LEVEL_CORRUPTION', 'Corruption: block checksum mismatch');
  }

  private take(batch: Batch): void {
    this.log.push(batch);
    for (const [key, value] of batch.ops) this.put(key, value);
  }

  private flushNow(): void {
    for (const { ops } of this.log) for (const op of ops) set(this.flushed, op);
    this.log = [];
    if (!this.folder.shown.has('000005.ldb') && this.flushed.size > 0) {
      this.folder.set('000005.ldb', new FileNode());
      this.folder.sync();
    }
  }

  private forgetDoomed(): void {
    if (!this.log.some(({ doomed }) => doomed)) return;
    this.log = this.log.filter(({ doomed }) => !doomed);
    const kept = new Map(this.flushed);
    for (const { ops } of this.log) for (const op of ops) set(kept, op);
    this.replace(kept);
  }

  private replace(rows: Map<string, string>): void {
    this.values.clear();
    for (const [key, value] of rows) this.values.set(key, value);
    this.keys = [...rows.keys()].sort(byBytes);
  }

  private put(key: string, value: string | null): void {
    const known = this.values.has(key);
    if (value === null) {
      if (!known) return;
      this.values.delete(key);
      this.keys.splice(this.indexOf(key), 1);
    } else {
      if (!known) this.keys.splice(this.indexOf(key), 0, key);
      this.values.set(key, value);
    }
  }

  /** Where a key is, or would be. */
  private indexOf(key: string): number {
    let low = 0;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export type Damage = 'value' | 'key' | 'first key' | 'unreadable' | 'shut' | 'fatal';

interface Batch {
  readonly ops: readonly (readonly [key: string, value: string | null])[];
  readonly doomed: boolean;
}

interface Bounds {
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly reverse?: boolean;
  readonly limit?: number;
}

interface TablesIterator {
  nextv(most: number): Promise<[string, string][]>;
  all(): Promise<[string, string][]>;
  close(): Promise<void>;
}

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function set(rows: Map<string, string>, [key, value]: readonly [string, string | null]): void {
  if (value === null) rows.delete(key);
  else rows.set(key, value);
}

/** One bit of one character, staying printable so that it is damage that a reader must find by itself. */
function flipped(text: string, random: Random): string {
  const at = random.between(0, text.length - 1);
  const code = text.charCodeAt(at) ^ (1 << random.between(0, 3));
  return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
}

export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

const levelError = (error: unknown): Error => coded('LEVEL_IO_ERROR', String((error as Error).message));
