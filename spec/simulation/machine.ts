import { seeded, type Random } from '../crash/random.js';

/**
 * One simulated machine: its time, and the only order in which anything happens on it. Whatever is asynchronous
 * in the code under test (disk, timeouts, `setImmediate`) ends up here as a task; tasks run one at a time, each
 * followed by all the microtasks that it set off. So one seed decides everything, and a wait costs nothing.
 *
 * Time is counted in whole microseconds since the machine was switched on. Tasks belong to the process that made
 * them and go with it when it dies.
 */
export class Machine {
  now = 0;
  /** How far the wall clock was set off by hand, or by a sleep of the machine. */
  wallAheadMs = 0;
  /** Part of `wallAheadMs` during which the machine slept: the clock since boot tells it, the monotonic one not. */
  sleptMs = 0;
  process: SimulatedProcess;
  /** Of everything that happened, in order: the same for the same seed, to the byte. */
  digest = 0x811c9dc5;
  tasks = 0;
  /** How timeouts keep their time; faults change it for a while. */
  lateMsMax = 1;
  earlyMsMax = 0;
  readonly random: Random;
  private readonly heap: Task[] = [];
  private order = 0;
  private lastImmediate = 0;
  private processes = 1;

  constructor(seed: number) {
    this.random = streamOf(seed, 'machine');
    this.process = new SimulatedProcess(1, 0);
  }

  /** Wall time, epoch ms. */
  get wall(): number {
    return epochMs + Math.floor(this.now / 1000) + this.wallAheadMs;
  }

  /** Milliseconds since this process began, with their fractions: what `performance.now()` tells. */
  get monotonic(): number {
    return (this.now - this.process.began) / 1000;
  }

  /** A new process takes the place of one that is dead. */
  boot(): SimulatedProcess {
    this.process = new SimulatedProcess((this.processes += 1), this.now);
    this.lastImmediate = 0;
    return this.process;
  }

  /** Run `task` after so many microseconds; `owner` null: the world outside, which no crash ends. */
  after(microseconds: number, task: () => void, owner: SimulatedProcess | null = this.process): Task {
    const made: Task = {
      at: this.now + Math.max(0, Math.floor(microseconds)),
      order: (this.order += 1),
      run: task,
      owner,
      cancelled: false,
    };
    push(this.heap, made);
    return made;
  }

  timeout(ms: number, task: () => void): Task {
    // Node truncates to whole milliseconds and counts from the time of the loop's turn, which may lie back
    const whole = Math.max(1, Math.trunc(ms) || 1);
    const off =
      this.random.next() * this.lateMsMax - (this.earlyMsMax > 0 ? this.random.next() * this.earlyMsMax : 0);
    return this.after((whole + Math.max(off, -whole + 0.001)) * 1000, task);
  }

  /** As `setImmediate`: in the order in which they were asked for. */
  immediate(task: () => void): Task {
    this.lastImmediate = Math.max(this.lastImmediate, this.now + this.random.between(1, 30));
    return this.after(this.lastImmediate - this.now, task);
  }

  /** For the world outside: let so much time pass. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms * 1000, resolve, null));
  }

  /** Take note of something that happened. */
  note(what: string, number = 0): void {
    if (traced) process.stdout.write(`${this.now} ${this.process.number} ${what}\n`);
    let hash = hashes.get(what);
    if (hash === undefined) hashes.set(what, (hash = hashOf(what)));
    this.digest = Math.imul(Math.imul(this.digest ^ hash, 0x01000193) ^ number ^ this.now, 0x01000193) >>> 0;
  }

  /**
   * Run until `work` has settled. Rejects with `Stuck` where it waits for something that will never happen, and
   * with `Endless` where the tasks never end.
   */
  run<Value>(work: () => Promise<Value>, tasksMax = 2_000_000): Promise<Value> {
    return new Promise((resolve, reject) => {
      let ended = false;
      const end = (settle: () => void): void => {
        ended = true;
        settle();
      };
      const turn = (): void => {
        for (let count = 0; count < tasksPerTurn; count += 1) {
          drainMicrotasks();
          if (ended) return;
          const task = this.take();
          if (task === undefined) return end(() => reject(new Stuck('nothing is left that could happen')));
          if (this.tasks > tasksMax) return end(() => reject(new Endless(`${tasksMax} tasks and no end`)));
          this.step(task);
        }
        realSetImmediate(turn);
      };
      realSetImmediate(() => {
        work().then(
          (value) => end(() => resolve(value)),
          (error: unknown) => end(() => reject(error as Error)),
        );
        turn();
      });
    });
  }

  private step(task: Task): void {
    if (task.at > this.now) this.now = task.at;
    this.tasks += 1;
    this.digest = Math.imul(this.digest ^ task.at ^ task.order, 0x01000193) >>> 0;
    if (task.owner === null) return task.run();
    try {
      task.run();
    } catch (error) {
      task.owner.fell ??= error;
    }
  }

  /** The next task of someone who lives. */
  private take(): Task | undefined {
    for (;;) {
      const task = pop(this.heap);
      if (task === undefined || (!task.cancelled && task.owner?.alive !== false)) return task;
    }
  }
}

/** One life of the program on the machine. */
export class SimulatedProcess {
  alive = true;
  /** What no one caught: it would have ended a real process. */
  fell: unknown;
  readonly death: Promise<void>;
  private mourn!: () => void;

  constructor(
    readonly number: number,
    readonly began: number,
  ) {
    this.death = new Promise((resolve) => (this.mourn = resolve));
  }

  die(): void {
    this.alive = false;
    this.mourn();
  }
}

export interface Task {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  readonly owner: SimulatedProcess | null;
  cancelled: boolean;
}

export class Stuck extends Error {
  override readonly name = 'Stuck';
}
export class Endless extends Error {
  override readonly name = 'Endless';
}

/** 2026-01-01T00:00:00Z */
export const epochMs = Date.UTC(2026, 0, 1);
/** `SIMULATION_TRACE=1` shows every operation of the disk and every step. */
const traced = process.env['SIMULATION_TRACE'] !== undefined;
const tasksPerTurn = 1_000;
const realSetImmediate = globalThis.setImmediate;
// Runs all that is ready, as Node does between two callbacks of its loop; a real turn of the loop costs five times
// as much.
const drainMicrotasks = (process as unknown as { _tickCallback(): void })._tickCallback;

/** Independent random numbers for each use, so that one more draw here changes nothing there. */
export function streamOf(seed: number, name: string): Random {
  let mixed = (seed ^ 0x9e3779b9) >>> 0;
  mixed = hashOf(name, mixed);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b) >>> 0;
  return seeded(mixed ^ (mixed >>> 13));
}

function hashOf(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}

/** Of the few names of operations and steps. */
const hashes = new Map<string, number>();

const before = (a: Task, b: Task): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Task[], task: Task): void {
  let at = heap.push(task) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (!before(task, heap[above]!)) break;
    heap[at] = heap[above]!;
    at = above;
  }
  heap[at] = task;
}

function pop(heap: Task[]): Task | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let below = at * 2 + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && before(heap[below + 1]!, heap[below]!)) below += 1;
    if (!before(heap[below]!, last)) break;
    heap[at] = heap[below]!;
    at = below;
  }
  heap[at] = last;
  return first;
}
