import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import timers from 'node:timers/promises';
import { streamOf, type Machine, type Task } from './machine.js';

/**
 * Puts a simulated machine below everything in this process that asks for time or chance: clocks, timers, ids.
 * The code under test is not changed for it and pays nothing in production; the price is that this process can do
 * nothing else, so the simulation runs in a process of its own.
 */
let machine: Machine | undefined;
let chance = streamOf(0, 'ids');

/** From now on time passes on this machine. */
export function switchTo(next: Machine | undefined, seed = 0): void {
  machine = next;
  chance = streamOf(seed, 'ids');
}

const RealDate = Date;
const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
const realNow = performance.now.bind(performance);

/** Once per process, before the code under test is called. */
export function installGlobals(): void {
  class SimulatedDate extends RealDate {
    constructor(...given: [] | [number]) {
      if (given.length === 0) super(machine?.wall ?? RealDate.now());
      else super(...given);
    }
    static override now(): number {
      return machine?.wall ?? RealDate.now();
    }
    static override [Symbol.hasInstance](value: unknown): boolean {
      return Object.prototype.toString.call(value) === '[object Date]';
    }
  }
  globalThis.Date = SimulatedDate as unknown as DateConstructor;
  performance.now = () => machine?.monotonic ?? realNow();
  os.uptime = () => (machine === undefined ? 0 : 1_000 + machine.now / 1e6 + machine.sleptMs / 1000);
  const simulated = {
    setTimeout: (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
      new Timer(
        (task) => machine!.timeout(ms, task),
        () => run(...given),
      ),
    setInterval: (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
      new Timer(
        (task) => machine!.timeout(ms, task),
        () => run(...given),
        true,
      ),
    setImmediate: (run: (...given: unknown[]) => void, ...given: unknown[]) =>
      new Timer(
        (task) => machine!.immediate(task),
        () => run(...given),
      ),
    clear: (timer: unknown): void => {
      if (timer instanceof Timer) timer.cancel();
    },
  };
  const either = (name: keyof typeof real, instead: unknown): unknown =>
    Object.assign(
      (...given: unknown[]) =>
        ((machine === undefined ? real[name] : instead) as (...all: unknown[]) => unknown)(...given),
      real[name],
    );
  Object.assign(globalThis, {
    setTimeout: either('setTimeout', simulated.setTimeout),
    setInterval: either('setInterval', simulated.setInterval),
    setImmediate: either('setImmediate', simulated.setImmediate),
    clearTimeout: either('clearTimeout', simulated.clear),
    clearInterval: either('clearInterval', simulated.clear),
    clearImmediate: either('clearImmediate', simulated.clear),
  });
  (timers as { setTimeout: unknown }).setTimeout = waitFor;
  const bytes = (count: number): Buffer =>
    Buffer.from(Array.from({ length: count }, () => chance.between(0, 255)));
  Object.assign(crypto, {
    randomBytes: bytes,
    randomUUID: () => {
      const digits = bytes(16).toString('hex');
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
    },
  });
  const { readFileSync } = fs;
  // The name of this boot, which is asked for once per process
  fs.readFileSync = ((path: string, ...given: []) =>
    path === '/proc/sys/kernel/random/boot_id'
      ? 'simulated'
      : readFileSync(path, ...given)) as typeof readFileSync;
  // Folders of agents are there and no one's process runs, at once: a real disk answers in an order of its own
  const own = { ...fs.promises } as unknown as Record<string, (path: string, ...given: unknown[]) => unknown>;
  const instead = (simulated: RegExp, name: string, answer: (path: string) => unknown) => ({
    [name]: async (path: string, ...given: unknown[]) =>
      machine !== undefined && simulated.test(path) ? answer(path) : own[name]!(path, ...given),
  });
  Object.assign(
    fs.promises,
    instead(/^\/home/, 'mkdir', () => undefined),
    instead(/^\/home/, 'stat', () => ({ isDirectory: (): boolean => true })),
    instead(/^\/home/, 'realpath', (path) => path),
    instead(/^\/proc$/, 'readdir', () => []),
    instead(/^\/proc\//, 'readFile', () => {
      throw Object.assign(new Error('ENOENT: no such process'), { code: 'ENOENT' });
    }),
  );
  Math.random = () => chance.next();
  syncBuiltinESMExports();
}

class Timer {
  private task: Task;
  constructor(
    private readonly arm: (run: () => void) => Task,
    private readonly run: () => void,
    again = false,
  ) {
    const fire = (): void => {
      if (again) this.task = this.arm(fire);
      this.run();
    };
    this.task = arm(fire);
  }
  cancel(): void {
    this.task.cancelled = true;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  refresh(): this {
    this.task.cancelled = true;
    this.task = this.arm(this.run);
    return this;
  }
}

/** As `setTimeout` of node:timers/promises. */
function waitFor<Value>(ms = 1, value?: Value, { signal }: { signal?: AbortSignal } = {}): Promise<Value> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new DOMException('The operation was aborted', 'AbortError'));
    if (signal?.aborted === true) return gone();
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value as Value);
    }, ms);
    const onAbort = (): void => {
      clearTimeout(timer);
      gone();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
