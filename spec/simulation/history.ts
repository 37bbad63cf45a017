import { pino } from 'pino';
import { openDatabase } from '../../lib/store/database.js';
import { StoreError } from '../../lib/store/contract.js';
import { openLevelStore, type LevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { systemEnvironment } from '../../lib/environment.js';
import { system } from '../../machines/caller.js';
import type { Random } from '../crash/random.js';
import { Disk } from './disk.js';
import { Faults } from './faults.js';
import { switchTo } from './globals.js';
import { Machine, streamOf, type SimulatedProcess } from './machine.js';
import { keys } from '../../lib/store/keys.js';
import { Broken, must } from './model.js';
import { simulatedTables } from './open-tables.js';
import { allOperations, type Life, type Operation, type Plan, type Step } from './plan.js';
import { checkRows, owed } from './rows.js';
import type { Tables } from './tables.js';
import { Watcher } from './watcher.js';
import { ofTheDisk, type World, type WorldOf } from './world.js';

/** What one history came to. */
export interface Outcome {
  readonly seed: number;
  /** Why it is wrong; undefined: all held. */
  readonly problem: string | undefined;
  /** Entries of the log, and faults that were met. */
  readonly events: number;
  readonly faults: number;
  readonly faultKinds: readonly string[];
  readonly lives: number;
  readonly simulatedMs: number;
  readonly operations: number;
  readonly acknowledged: number;
  /** The same for the same plan, to the byte. */
  readonly digest: string;
  readonly coverage: Faults['coverage'];
}

export const home = '/home';

/** Run one history from its plan. The real kernel on the real store; everything below them is simulated. */
export async function runHistory(plan: Plan, worldOf: WorldOf): Promise<Outcome> {
  const machine = new Machine(plan.seed);
  switchTo(machine, plan.seed);
  const history = new History(machine, plan, worldOf(machine));
  const fell = (error: unknown): void => {
    if (machine.process.alive) machine.process.fell ??= error;
  };
  process.on('unhandledRejection', fell);
  let problem: string | undefined;
  try {
    await machine.run(() => history.run());
  } catch (error) {
    problem = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (!(error instanceof Broken)) problem += `\n${String((error as Error).stack)}`;
  } finally {
    process.off('unhandledRejection', fell);
    switchTo(undefined);
  }
  return history.outcome(problem);
}

class Gone extends Error {}

class History {
  private readonly disk: Disk;
  private readonly faults: Faults;
  private readonly watcher = new Watcher();
  /** Who came last to follow the log. */
  private follower: Watcher | undefined;
  private readonly random: Random;
  private readonly log;
  /** The only copy that may be damaged now. */
  private damaged: 'database' | 'copy' | undefined;
  private lives = 0;
  /** Lives of the plan that are over. */
  private ended = 0;
  private calmSince = Infinity;
  /** When a clock leapt: it makes due what its timeout brings later, by the longest pause of a retry at most. */
  private leaptAt = -Infinity;
  private idle: string | undefined;
  private version: 1 | 2 = 1;
  private events = 0;
  private supervisor: Supervisor | undefined;

  constructor(
    private readonly machine: Machine,
    private readonly plan: Plan,
    private readonly world: World,
  ) {
    this.disk = new Disk(machine, plan.seed);
    this.faults = new Faults(this.disk, () => this.damaged === 'copy');
    this.random = streamOf(plan.seed, 'history');
    machine.earlyMsMax = plan.settings.earlyMsMax;
    machine.lateMsMax = plan.settings.lateMsMax;
    const { SIMULATION_LOG: level } = process.env;
    const write = (line: string): void => {
      if (level !== undefined) process.stdout.write(`${machine.now} ${line}`);
      // No actor idle with work, once faults have been over for a while
      const since = Math.max(this.calmSince, this.leaptAt + longestPause);
      if (line.includes('"turnHeld":false') && machine.now > since + 15e6) this.idle ??= line;
    };
    this.log = pino({ level: level ?? 'warn', base: null }, { write });
  }

  async run(): Promise<void> {
    this.machine.process.die();
    for (const life of this.plan.lives) {
      await this.live(life);
      this.ended += 1;
    }
    // Faults are over. A process that dies all the same is started again, but not for ever.
    const last: Life = {
      version: this.version,
      steps: [{ do: 'mend' }, { do: 'calm' }],
      faults: [],
      end: 'stop',
    };
    for (let tries = 0; !(await this.live(last)); tries += 1)
      must(tries < 6, 'the home could not be opened and used any more, though no fault came');
  }

  outcome(problem: string | undefined): Outcome {
    const { machine, faults, world, plan } = this;
    return {
      seed: plan.seed,
      problem,
      events: this.events,
      faults: faults.met,
      faultKinds: [...faults.kinds],
      lives: this.lives,
      simulatedMs: Math.floor(machine.now / 1000),
      operations: this.disk.operations,
      acknowledged: world.acknowledged,
      digest: (machine.digest >>> 0).toString(16).padStart(8, '0'),
      coverage: faults.coverage,
    };
  }

  /** True: it came to the end that was meant for it. */
  private async live(life: Life): Promise<boolean> {
    const { machine, faults } = this;
    await machine.sleep(this.random.between(1, 3_000));
    const process = machine.boot();
    this.lives += 1;
    faults.phase = 'opening';
    this.calmSince = Infinity;
    faults.arm(life.faults);
    const done = await Promise.race([
      this.body(life, process).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Gone) return false;
          throw error;
        },
      ),
      process.death.then(() => 'died' as const),
    ]);
    this.events += this.supervisor?.status.events ?? 0;
    this.supervisor = undefined;
    if (process.fell !== undefined) throw fallen(process.fell);
    if (process.alive) this.disk.crash(false);
    return done === true;
  }

  private async body(life: Life, process: SimulatedProcess): Promise<void> {
    const store = await this.open(process);
    if (store === undefined) throw new Gone();
    await this.checkStore(store, process);
    this.version = life.version;
    const environment = systemEnvironment({ log: this.log });
    this.world.begin(process);
    let supervisor: Supervisor;
    try {
      supervisor = this.supervisor = await createSupervisor({
        kinds: this.world.kinds(life.version),
        store,
        environment,
        limits: {
          awakeActorsMax: this.plan.settings.awakeActorsMax,
          mailboxMax: this.plan.settings.mailboxMax,
          keepLogBytes: this.plan.settings.keepLogBytes,
        },
      });
    } catch (error) {
      this.alive(process);
      // A store that was lost on the way up ends the process; the next one begins again.
      if (ofTheDisk(error)) throw new Gone();
      throw error;
    }
    this.alive(process);
    store.onState(({ state }) => {
      if (this.faults.phase !== 'stopping') this.faults.phase = state === 'ready' ? 'running' : 'recovering';
    });
    this.faults.phase = store.state.state === 'ready' ? 'running' : 'recovering';
    // Where no one follows all the time, who comes later reads from the disk
    this.watcher.cut = this.lives > 1 && this.ended < this.plan.lives.length && this.random.chance(0.3);
    if (!this.watcher.cut) this.watcher.follow(supervisor, process);
    this.follower = undefined;
    await this.world.settleIn(supervisor, process, life.version);
    this.alive(process);
    await this.checkActors(supervisor, process, false);
    this.world.again(supervisor, process, this.passedMs);
    for (const step of life.steps) {
      await this.step(step, supervisor, store, process);
      this.alive(process);
    }
    if (life.end !== 'stop') return this.crash(life.end === 'power');
    this.faults.phase = 'stopping';
    let stopped = false;
    const stopping = supervisor.stop({ drainMs: 2_000 }).then(
      () => (stopped = true),
      () => (stopped = true), // the disk may refuse the last flush; what was acknowledged is safe all the same
    );
    await Promise.race([stopping, this.machine.sleep(600_000)]);
    this.alive(process);
    must(stopped, 'the supervisor did not stop within ten minutes');
    await this.askTheStopped(supervisor, process);
  }

  /** The one who comes too late is told so. */
  private async askTheStopped(supervisor: Supervisor, process: SimulatedProcess): Promise<void> {
    const { actor, event } = this.world.anyone;
    const told = new Set<string>();
    const late = (what: string, answer: Promise<unknown>): Promise<unknown> =>
      answer.then(
        () => told.add(what),
        () => told.add(what),
      );
    void late('ask', supervisor.ask(actor.kind, actor.id, event, { by: system('late') }));
    void late('wake', supervisor.handle(actor.kind, actor.id).wake());
    void late('resume', supervisor.resume(actor, { type: 'operator' } as never));
    await this.machine.sleep(5_000);
    this.alive(process);
    for (const what of ['ask', 'wake', 'resume'])
      must(told.has(what), `nobody answers "${what}" after the supervisor has stopped`);
  }

  private get storeOptions(): Parameters<typeof openLevelStore>[0] {
    const { disk, plan } = this;
    const { segmentBytesMax, reserveBytes, checkpointBytes, baseBytesMin, scrubEveryMs } = plan.settings;
    const opens = simulatedTables(disk);
    return {
      directory: home,
      log: this.log,
      segmentBytesMax,
      reserveBytes,
      scrubEveryMs,
      limits: { checkpointBytes, baseBytesMin },
      ports: {
        files: disk.files,
        openDatabase: (directory, options) => openDatabase(disk.files, directory, options, opens),
      },
    };
  }

  private async open(process: SimulatedProcess): Promise<LevelStore | undefined> {
    try {
      return await openLevelStore(this.storeOptions);
    } catch (error) {
      this.alive(process);
      // Where the disk says no and there is no second copy yet, nothing is known of the home: the next start tells
      const isRefused =
        error instanceof StoreError && error.code === 'REFUSED' && /\bEIO\b/.test(error.message);
      must(
        isRefused || (error instanceof StoreError && error.code === 'STORE_UNAVAILABLE'),
        `the home was not opened: ${String(error)}`,
      );
      return undefined;
    }
  }

  /** After every recovery: both copies are sound and equal, and their rows fit together. */
  private async checkStore(store: LevelStore, process: SimulatedProcess): Promise<void> {
    try {
      await this.checkCopies(store, process);
      must(
        store.head.seq >= this.watcher.last,
        `the log ends at ${store.head.seq}, a watcher has seen ${this.watcher.last}`,
      );
      await checkRows(store, this.world.kinds(this.version));
      const floor = Number((await store.get('m/log-floor')) ?? 0);
      must(
        floor === 0 || this.plan.settings.keepLogBytes < 2 ** 31,
        `entries up to ${floor} were forgotten within days`,
      );
    } catch (error) {
      this.alive(process);
      if (ofTheDisk(error)) throw new Gone();
      throw error;
    }
  }

  /** Both copies hold, after a scrub where one was damaged. */
  private async checkCopies(store: LevelStore, process: SimulatedProcess): Promise<void> {
    let report = await store.verify();
    for (let tries = 0; !report.ok && tries < 4; tries += 1) {
      // A fault may have met the check itself
      await this.machine.sleep(5_000);
      // Else the store of a dead process would scrub, and repair, what the next one has opened
      this.alive(process);
      if (this.damaged !== undefined) await store.scrub();
      report = await store.verify();
    }
    this.alive(process);
    // The segment that is being written to is not scrubbed; damage in it may stay until it is full.
    if (this.damaged === 'copy' && !report.ok) return;
    must(report.ok, `verify says: ${report.faults.join('; ')}`);
    if (this.tables?.isDamagedUnseen !== true) this.damaged = undefined;
  }

  private async checkActors(
    supervisor: Supervisor,
    process: SimulatedProcess,
    settled: boolean,
  ): Promise<void> {
    await this.world.check(supervisor, process, settled);
    this.alive(process);
    must(this.watcher.problem === undefined, this.watcher.problem ?? '');
  }

  private async step(
    step: Step,
    supervisor: Supervisor,
    store: LevelStore,
    process: SimulatedProcess,
  ): Promise<void> {
    const { machine, faults } = this;
    machine.note(step.do);
    if (isOperation(step)) {
      this.world.ask(supervisor, process, this.passedMs, step);
      return;
    }
    switch (step.do) {
      case 'pass':
        return this.pass(step.ms, store, process);
      case 'follow':
        await machine.sleep(step.afterMs);
        return this.followAlso(step.back, supervisor, store, process);
      case 'open-again':
        return this.openAgain(step.path, process);
      case 'calm':
        return this.calm(supervisor, store, process);
      case 'wall':
        faults.note('wall clock set');
        machine.wallAheadMs += step.ms;
        this.leaptAt = machine.now;
        return;
      case 'sleep':
        faults.note('machine slept');
        machine.wallAheadMs += step.ms;
        machine.sleptMs += step.ms;
        this.leaptAt = machine.now;
        return;
      case 'stall':
        faults.note('process stalled');
        machine.now += step.ms * 1000;
        return;
      case 'upkeep':
        await this.upkeep(step.task, supervisor, store);
        return;
      case 'mend':
        return this.world.repair(supervisor);
      case 'damage':
        return this.damage(step, store);
    }
  }

  /** No one who is well is held up, and the one who follows sees what is there. */
  private async pass(ms: number, store: LevelStore, process: SimulatedProcess): Promise<void> {
    const { machine, faults } = this;
    const { seq } = store.head;
    await machine.sleep(ms);
    this.alive(process);
    const isQuiet = store.state.state === 'ready' && machine.now - faults.lastAt > quietAfter;
    if (!isQuiet) return;
    const overdue = this.world.overdue(faults.lastAt + quietAfter);
    must(overdue === undefined, `${overdue} was not answered, though its actor is well`);
    if (ms < 60) return;
    for (const { last, cut } of [this.watcher, this.follower ?? this.watcher])
      must(cut || last >= seq, `a watcher stands at ${last} long after entry ${seq}`);
  }

  private followAlso(
    back: number,
    supervisor: Supervisor,
    store: LevelStore,
    process: SimulatedProcess,
  ): void {
    must(this.follower?.problem === undefined, this.follower?.problem ?? '');
    this.follower?.leave();
    this.follower = new Watcher(Math.max(0, store.head.seq - back));
    this.follower.follow(supervisor, process);
  }

  /** A home belongs to one, however its path is spelled. */
  private async openAgain(path: string, process: SimulatedProcess): Promise<void> {
    let refused = 'it was opened twice';
    try {
      await openLevelStore({ ...this.storeOptions, directory: path });
    } catch (error) {
      refused = (error as { code?: string }).code ?? String(error);
    }
    this.alive(process);
    must(['LOCKED', 'STORE_UNAVAILABLE'].includes(refused), `the home was opened as ${path}: ${refused}`);
  }

  private async upkeep(
    task: (Step & { do: 'upkeep' })['task'],
    supervisor: Supervisor,
    store: LevelStore,
  ): Promise<void> {
    const ignored = (error: unknown): void => {
      if (!(error instanceof StoreError) && !ofTheDisk(error)) throw error;
    };
    if (task === 'checkpoint') await store.checkpoint().catch(ignored);
    if (task === 'compact') await store.compact().catch(ignored);
    if (task === 'scrub') await store.scrub().catch(ignored);
    if (task === 'verify') await store.verify().catch(ignored);
    if (task === 'read') await this.world.read(supervisor);
  }

  /** One copy at a time: with both damaged no one could keep the promise. */
  private damage({ copy, how }: Step & { do: 'damage' }, store: LevelStore): void {
    if (this.damaged !== undefined && this.damaged !== copy) return;
    // What the database has not taken over yet lies in the second copy alone
    const last = keys.log(store.head.seq);
    if (copy === 'copy' && this.tables?.entries(last).length !== 1) return;
    const what =
      copy === 'database' ? this.tables?.damage(how, this.random) : flipInCopy(this.disk, this.random);
    if (what === undefined) return;
    this.log.warn({ what }, 'damage');
    this.damaged = copy;
    this.faults.note(`damaged ${copy}`);
    this.machine.note(what);
  }

  /** Faults stop; everything that is owed comes in bounded time, without a restart and without anybody's help. */
  private async calm(supervisor: Supervisor, store: LevelStore, process: SimulatedProcess): Promise<void> {
    this.faults.arm([]);
    this.calmSince = this.machine.now;
    const end = this.machine.now + 180e6 + this.world.calmMs * 1000;
    let left: readonly string[] = ['?'];
    for (let pause = 500; left.length > 0 && this.machine.now < end; pause = Math.min(pause * 1.5, 30_000)) {
      // Who was cut off comes again
      if (this.watcher.cut) this.watcher.follow(supervisor, process);
      await this.machine.sleep(pause);
      this.alive(process);
      const unread = (error: unknown): string[] => {
        if (!ofTheDisk(error)) throw error;
        return ['the store cannot be read'];
      };
      left = await owed(store, this.tables, (key) => this.world.mayRest(key)).catch(unread);
      if (left.length === 0) left = await this.world.owes(supervisor).catch(unread);
      if (left.length === 0 && this.watcher.cut) left = ['a watcher that was cut off'];
      // What it reads may have met a slow disk a moment before the faults stopped (148206)
      if (left.length === 0 && this.watcher.last < store.head.seq)
        left = ['a watcher that has not caught up'];
      this.alive(process);
    }
    must(left.length === 0, `still owed long after all faults were over: ${left.slice(0, 3).join(', ')}`);
    must(store.state.state === 'ready', `the store is ${store.state.state} long after all faults were over`);
    await this.machine.sleep(100);
    this.alive(process);
    must(this.idle === undefined, this.idle ?? '');
    this.calmSince = Infinity;
    must(
      this.watcher.last === store.head.seq,
      `a watcher stands at ${this.watcher.last}, the log at ${store.head.seq}`,
    );
    // A row of a list whose key was damaged reads as absent until the scrub (fleet 52)
    if (this.damaged === 'database') await this.checkCopies(store, process);
    await this.checkActors(supervisor, process, true);
    // The next recovery looks again: mostly that is enough
    if (this.plan.lives.length > this.ended && !this.random.chance(0.25)) return;
    await this.checkCopies(store, process);
    await checkRows(store, this.world.kinds(this.version));
    await this.checkWeight(process);
  }

  /** Retention keeps up, whatever was written; and something still is, where one who failed has rested. */
  private async checkWeight(process: SimulatedProcess): Promise<void> {
    const { keepLogBytes } = this.plan.settings;
    if (keepLogBytes >= 2 ** 31) return;
    const bound = keepLogBytes * 1.5 + 5_000;
    let bytes = Infinity;
    for (let tries = 0; bytes >= bound && tries < 4; tries += 1) {
      await this.machine.sleep(12_000); // two turns of housekeeping
      this.alive(process);
      bytes = (this.tables?.entries('l/') ?? []).reduce((sum, [, value]) => sum + value.length, 0);
    }
    must(bytes < bound, `the log has ${bytes} bytes, and should have ${keepLogBytes}`);
  }

  private crash(power: boolean): void {
    this.faults.note(power ? 'power cut' : 'killed');
    this.disk.crash(power && this.damaged !== 'copy');
  }

  /** Undefined while the store is being rebuilt. */
  private get tables(): Tables | undefined {
    return this.disk.has(`${home}/store`) ? this.disk.folder(`${home}/store`).tables : undefined;
  }

  /** Real time, sleep included. */
  private get passedMs(): number {
    return this.machine.now / 1000 + this.machine.sleptMs;
  }

  /** Nothing that a dead process left running may go on. */
  private alive(process: SimulatedProcess): void {
    if (!process.alive) throw new Gone();
    if (process.fell !== undefined) throw fallen(process.fell);
  }
}

/** Of an actor that fails again and again, microseconds. */
const longestPause = 60e6;

/** After a fault: what waits for a retry, or behind what does, may take as long. */
const quietAfter = 20e6;

const names: ReadonlySet<string> = new Set(allOperations);
const isOperation = (step: Step): step is Step & { readonly do: Operation } => names.has(step.do);

function fallen(error: unknown): Broken {
  return new Broken(
    `nobody caught, and it would have ended the process: ${error instanceof Error ? String(error.stack) : String(error)}`,
  );
}

/** One bit in one file of the second copy. */
function flipInCopy(disk: Disk, random: Random): string | undefined {
  if (!disk.has(`${home}/store-copy`)) return undefined;
  const names = [...disk.folder(`${home}/store-copy`).shown.keys()].filter((name) =>
    /^(?:segment-|base-|checkpoint\.json$)/.test(name),
  );
  if (names.length === 0) return undefined;
  // The smallest of them is the easiest to miss
  const name =
    names.includes('checkpoint.json') && random.chance(0.4) ? 'checkpoint.json' : random.pick(names);
  const file = disk.file(`${home}/store-copy/${name}`);
  if (file.shown.length === 0) return undefined;
  const at = random.between(0, file.shown.length - 1);
  file.flip(at, random.between(0, 7));
  return `a bit flipped in ${name} at ${at} of ${file.shown.length}`;
}
