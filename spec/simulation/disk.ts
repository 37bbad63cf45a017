import type { OpenFile, OpenMode, StoreFiles } from '../../lib/store/files.js';
import type { Random } from '../crash/random.js';
import { streamOf, type Machine } from './machine.js';
import { FileNode, Folder, type Node } from './nodes.js';

/** What a fault makes of one operation. */
export type Verdict =
  | { readonly type: 'crash'; readonly when: 'before' | 'in' | 'after'; readonly power: boolean }
  | { readonly type: 'error'; readonly code: 'EIO' | 'ENOSPC'; readonly share: number }
  | { readonly type: 'slow'; readonly ms: number };

/** How much of an operation is done: 0 nothing, 1 all of it. What cannot be done in part is done from a half on. */
type DiskWork<Value> = (share: number) => Value;

interface InFlight {
  readonly name: string;
  readonly work: DiskWork<unknown>;
}

/**
 * The disk of a simulated machine, behind the port of the store. Each operation takes simulated time, is judged by
 * `gate` under its name (`segment.write`, `base.rename`, `tables.flush` …), and is on its way until it has
 * happened: a crash meanwhile leaves any part of it.
 */
export class Disk {
  readonly random: Random;
  readonly root = new Folder();
  gate: (operation: string) => Verdict | undefined = () => undefined;
  /** Told of every operation that was judged or not, and of every crash. */
  full = false;
  operations = 0;
  private inFlight = new Set<InFlight>();
  slowMs = 0;

  constructor(
    readonly machine: Machine,
    seed: number,
  ) {
    this.random = streamOf(seed, 'disk');
  }

  /** The process dies now; with `power` whatever was not flushed is gone, or in pieces. */
  crash(power: boolean): void {
    const { machine, random } = this;
    machine.note(power ? 'power' : 'kill');
    machine.process.die();
    for (const { work } of this.inFlight)
      if (random.chance(0.5)) attempt(work, random.pick([random.next(), 1]));
    this.inFlight.clear();
    if (power) this.root.losePower(random, random.pick([0, 0.3, 0.5, 0.8, 1]));
    eachTables(this.root, (tables) => tables.restarted());
  }

  /** Do one thing to the disk. Never settles in a process that is dead. */
  operate<Value>(name: string, microseconds: number, work: DiskWork<Value>): Promise<Value> {
    const { machine, random } = this;
    const owner = machine.process;
    if (!owner.alive) return new Promise(() => undefined);
    this.operations += 1;
    machine.note(name, this.operations);
    const verdict = this.gate(name);
    if (verdict?.type === 'crash' && verdict.when === 'before') {
      this.crash(verdict.power);
      return new Promise(() => undefined);
    }
    const one: InFlight = { name, work };
    this.inFlight.add(one);
    const took =
      microseconds * (0.5 + random.next()) + (verdict?.type === 'slow' ? verdict.ms : this.slowMs) * 1000;
    return new Promise((resolve, reject) => {
      machine.after(took, () => {
        this.inFlight.delete(one);
        try {
          if (verdict?.type === 'crash') {
            work(verdict.when === 'after' ? 1 : random.next());
            return this.crash(verdict.power);
          }
          if (verdict?.type === 'error') {
            if (verdict.share > 0) attempt(work, verdict.share);
            return reject(failure(verdict.code, name));
          }
          resolve(work(1));
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  /** The port of the store. */
  readonly files: StoreFiles = {
    open: (path, mode) => this.open(path, mode),
    readdir: (path) => this.operate(`${roleOf(path)}.list`, 30, () => [...this.folder(path).shown.keys()]),
    size: (path) =>
      this.operate(`${roleOf(path)}.stat`, 20, () => {
        const node = this.node(path);
        return node instanceof FileNode ? node.shown.length : 4096;
      }),
    mkdir: (path) =>
      this.operate(`${roleOf(path)}.mkdir`, 60, (share) => {
        let folder = this.root;
        if (share >= 0.5)
          for (const name of partsOf(path)) {
            const found = folder.shown.get(name) ?? new Folder();
            if (!folder.shown.has(name)) folder.set(name, found);
            folder = found as Folder;
          }
      }),
    rename: (from, to) =>
      this.operate(`${roleOf(to)}.rename`, 60, (share) => {
        if (share < 0.5) return;
        const [folder, name] = this.place(from);
        folder.rename(name, nameOf(to), this.node(from));
      }),
    remove: (path) =>
      this.operate(`${roleOf(path)}.remove`, 60, (share) => {
        const [folder, name] = this.place(path);
        const node = folder.shown.get(name);
        if (share < 1 && node instanceof Folder) {
          for (const below of [...node.shown.keys()]) if (this.random.chance(share)) node.remove(below);
        } else if (share >= 0.5) folder.remove(name);
      }),
    copyFile: (from, to) =>
      this.operate(`${roleOf(to)}.copy`, 300, (share) => {
        const bytes = Buffer.from(this.file(from).shown.view);
        this.make(to).write(0, bytes.subarray(0, Math.floor(bytes.length * share)), false);
      }),
    chmod: (path) => this.operate(`${roleOf(path)}.chmod`, 20, () => void this.node(path)),
    syncDirectory: (path) =>
      this.operate(`${roleOf(path)}.sync-names`, 400, (share) => {
        if (share === 1) this.folder(path).sync();
      }),
    realpath: (path) =>
      this.operate(`${roleOf(path)}.realpath`, 20, () => (this.node(path), `/${partsOf(path).join('/')}`)),
    freeBytes: () => this.operate('home.free', 20, () => (this.full ? 0 : 1e12)),
  };

  private async open(path: string, mode: OpenMode): Promise<OpenFile> {
    const role = roleOf(path);
    const verb = mode === 'read' || mode === 'existing' ? 'open' : 'create';
    const file = await this.operate(`${role}.${verb}`, 40, (share) => {
      if (mode === 'read' || mode === 'existing') return this.file(path);
      const [folder, name] = this.place(path);
      const found = folder.shown.get(name);
      if (share < 0.5) return undefined as never;
      if (!(found instanceof FileNode)) return this.make(path);
      if (mode === 'new') found.truncate(0);
      return found;
    });
    return {
      size: () => this.operate(`${role}.stat`, 10, () => file.shown.length),
      read: (buffer, position) =>
        this.operate(`${role}.read`, 60, () => file.shown.view.copy(buffer, 0, position)),
      write: (given, position) => {
        const bytes = Buffer.from(given); // the caller may use its buffer again once it has died
        return this.operate(`${role}.write`, mode === 'log' ? 300 : 40, (share) => {
          const part = share === 1 ? bytes : bytes.subarray(0, Math.floor(bytes.length * share));
          file.write(position, part, mode === 'log');
        });
      },
      truncate: (length) =>
        this.operate(`${role}.truncate`, 40, (share) => {
          if (share >= 0.5) file.truncate(length);
        }),
      sync: () =>
        this.operate(`${role}.sync`, 500, (share) => {
          if (share === 1) file.sync();
          else file.failSync();
        }),
      close: () => this.operate(`${role}.close`, 5, () => undefined),
    };
  }

  folder(path: string): Folder {
    const node = this.node(path);
    if (!(node instanceof Folder)) throw failure('ENOTDIR', path);
    return node;
  }

  file(path: string): FileNode {
    const node = this.node(path);
    if (!(node instanceof FileNode)) throw failure('EISDIR', path);
    return node;
  }

  node(path: string): Node {
    let node: Node = this.root;
    for (const name of partsOf(path)) {
      const next: Node | undefined = node instanceof Folder ? node.shown.get(name) : undefined;
      if (next === undefined) throw failure('ENOENT', path);
      node = next;
    }
    return node;
  }

  has(path: string): boolean {
    try {
      this.node(path);
      return true;
    } catch {
      return false;
    }
  }

  private place(path: string): readonly [Folder, string] {
    const parts = partsOf(path);
    return [this.folder(parts.slice(0, -1).join('/')), parts.at(-1)!];
  }

  private make(path: string): FileNode {
    const [folder, name] = this.place(path);
    const file = new FileNode();
    folder.set(name, file);
    return file;
  }
}

/** Which of the store's files a path is: half of an operation's name. */
export function roleOf(path: string): string {
  return place(path).role;
}

/** A path taken apart, once: the same few come again and again. */
function place(path: string): { readonly parts: readonly string[]; readonly role: string } {
  let known = places.get(path);
  if (known === undefined) {
    const parts = path.split('/').filter((part) => part !== '');
    if (parts[0] === 'alias') parts[0] = 'home'; // a symbolic link
    known = { parts, role: roleOfFile(path, parts.at(-1) ?? '') };
    if (places.size > 10_000) places.clear();
    places.set(path, known);
  }
  return known;
}

const places = new Map<string, ReturnType<typeof place>>();

function roleOfFile(path: string, name: string): string {
  if (name.startsWith('segment-')) return 'segment';
  if (name.startsWith('base')) return 'base';
  if (name.startsWith('checkpoint')) return 'checkpoint';
  if (name.startsWith('store-opening')) return 'note';
  if (name.startsWith('store.json')) return 'marker';
  if (name.startsWith('store-copy')) return 'copy';
  if (name === 'lock' || path.includes('/lock/')) return 'lock';
  if (name.startsWith('store') || path.includes('/store')) return 'tables';
  return 'home';
}

export function failure(code: string, what: string): Error {
  const sentences: Readonly<Record<string, string>> = {
    ENOSPC: 'No space left on device',
    EIO: 'Input/output error',
    ENOENT: 'no such file or directory',
  };
  return Object.assign(new Error(`${code}: ${sentences[code] ?? code}, ${what}`), { code });
}

function attempt(work: DiskWork<unknown>, share: number): void {
  try {
    work(share);
  } catch {
    // it would have failed anyway
  }
}

export function eachTables(folder: Folder, visit: (tables: NonNullable<Folder['tables']>) => void): void {
  if (folder.tables !== undefined) visit(folder.tables);
  for (const node of folder.shown.values()) if (node instanceof Folder) eachTables(node, visit);
}

const partsOf = (path: string): readonly string[] => place(path).parts;
const nameOf = (path: string): string => partsOf(path).at(-1) ?? '';
