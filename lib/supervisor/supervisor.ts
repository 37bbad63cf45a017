import type { Kind } from '../../actors/contracts.js';
import type { Caller } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import { StoreError } from '../store/contract.js';
import { systemEnvironment } from '../environment.js';
import type { Limits, Retention, Supervisor, SupervisorOptions, SupervisorStatus } from './contract.js';
import { defineKind } from './define-kind.js';
import { ActorHandle } from './as-actor.js';
import { Housekeeping } from './housekeeping/housekeeping.js';
import type { Inspection } from './answers.js';
import { KernelInspection } from './inspection.js';
import { Kernel } from './kernel.js';
import { Reading } from './queries.js';
import { settle } from './draft/indexes.js';
import { fromOutside, Requests } from './requests.js';
import { resume } from './resume.js';
import { RootSystem } from './failures.js';

export const defaultLimits: Limits = {
  awakeActorsMax: 20_000,
  mailboxMax: 1_000,
  requestsMax: 20_000,
  snapshotBytesMax: 64 * 1024,
  keepLogDays: 30,
  keepLogBytes: 2 * 1024 ** 3,
  keepDeadLettersDays: 90,
  deadLettersMax: 10_000,
};

/**
 * Open a supervisor over a store: what was in flight when the last one ended goes on.
 *
 * @example
 * const supervisor = await createSupervisor({ kinds: [counter], store: memoryStore() }); await
 * supervisor.spawn('counter', { id: 'c1' }); await supervisor.ask('counter', 'c1', { type: 'add', n: 2 });
 */
export async function createSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const environment = options.environment ?? systemEnvironment();
  const kinds = new Map<string, Kind>();
  for (const kind of options.kinds) {
    if (kinds.has(kind.kind)) throw new TypeError(`two kinds are named "${kind.kind}"`);
    kinds.set(kind.kind, defineKind(kind));
  }
  const kernel = new Kernel(
    environment,
    options.store,
    kinds,
    { ...defaultLimits, ...options.limits },
    options.facts ?? {},
    () => housekeeping.floor,
  );
  const root = new RootSystem(environment.log, () => environment.clock.now());
  kernel.escalated = (actor, reason) => root.failed('actors', `${actor.kind} ${actor.id}: ${reason}`);
  kernel.recovered = () => root.recovered('actors');
  const requests = new Requests(kernel);
  const housekeeping: Housekeeping = new Housekeeping(kernel, (low) =>
    low ? root.failed('disk', 'less than 200 MB are free') : root.recovered('disk'),
  );
  requests.closed = (by, newWork) => closed(root, housekeeping, by, newWork);
  const ignoreStore = options.store.onState((state) =>
    state.state === 'ready' ? root.recovered('store') : root.failed('store', state.reason),
  );
  const supervisor = new Running(kernel, root, requests, housekeeping, ignoreStore);
  kernel.effects.supervisor = supervisor; // before the boot, which goes on with effects of an earlier life
  await boot(kernel, housekeeping);
  root.booted();
  return supervisor;
}

/** O(pending): counters, names of actors with something to do and the first due timers are read. */
async function boot(kernel: Kernel, housekeeping: Housekeeping): Promise<void> {
  await settle(kernel.store);
  await kernel.committer.lead.resumeEffect(kernel.environment);
  await kernel.sequences.load();
  await kernel.generations.load();
  await kernel.committer.tallies.load();
  await housekeeping.start();
  await kernel.backlog.scan();
  kernel.intake.look();
  await kernel.timers.start();
}

function closed(
  root: RootSystem,
  housekeeping: Housekeeping,
  by: Caller,
  newWork: boolean,
): Refusal | undefined {
  if (root.state === 'stopped' || (fromOutside(by) && root.state === 'draining')) return refuse('DRAINING');
  return housekeeping.diskLow && newWork ? refuse('DISK_LOW') : undefined;
}

class Running implements Supervisor {
  private readonly reading: Reading;
  readonly inspection: Inspection;
  readonly retention: Retention;
  private stopping: Promise<void> | undefined;
  readonly environment;

  constructor(
    private readonly kernel: Kernel,
    private readonly root: RootSystem,
    private readonly requests: Requests,
    private readonly housekeeping: Housekeeping,
    private readonly ignoreStore: () => void,
  ) {
    this.environment = kernel.environment;
    this.reading = new Reading(kernel);
    this.inspection = new KernelInspection(kernel, root);
    this.retention = housekeeping;
  }

  spawn: Supervisor['spawn'] = (kind, options) => this.requests.spawn(kind, options);
  ask: Supervisor['ask'] = (kind, id, event, options) => this.requests.ask(kind, id, event, options);
  transact: Supervisor['transact'] = (plan) => this.requests.transact(plan);
  get: Supervisor['get'] = (kind, id) => this.reading.get(kind, id);
  list: Supervisor['list'] = (kind, query) => this.reading.list(kind, query);
  iterate: Supervisor['iterate'] = (kind, query) => this.reading.records(kind, query);
  countRange: Supervisor['countRange'] = (kind, query) => this.reading.count(kind, query);
  rowsAt: Supervisor['rowsAt'] = (kind, index, places) => this.reading.listed(kind, index, places);
  totals: Supervisor['totals'] = (kind) => this.kernel.committer.tallies.of(kind);
  waiting: Supervisor['waiting'] = (query) => this.reading.waiting(query);
  rows: Supervisor['rows'] = (actor, collection, query) => this.reading.rows(actor, collection, query);
  keyValues: Supervisor['keyValues'] = (start) => this.reading.meta(start);
  why: Supervisor['why'] = (actor, by) => this.reading.why(actor, by);
  watch: Supervisor['watch'] = (options) => this.kernel.log.watch(options);
  handle: Supervisor['handle'] = (kind, id) => new ActorHandle(this.kernel, this.requests, kind, id);
  deadLetters: Supervisor['deadLetters'] = (query) => this.kernel.deadLetters.page(query);

  onProgress: Supervisor['onProgress'] = (listener) => {
    this.kernel.progressListeners.add(listener);
    return () => {
      this.kernel.progressListeners.delete(listener);
    };
  };

  history: Supervisor['history'] = async (actor, query) => {
    const live = await this.kernel.cells.read(actor.kind, actor.id);
    return live === undefined ? [] : this.kernel.log.history(actor, live.seq, query);
  };

  past: Supervisor['past'] = async (actor, at) => {
    const live = await this.kernel.cells.read(actor.kind, actor.id);
    return live === undefined
      ? undefined
      : this.kernel.log.past(this.kernel.kind(actor.kind), actor, live.seq, at);
  };

  setFact(name: string, value: unknown): void {
    this.kernel.factValues = { ...this.kernel.factValues, [name]: value };
  }

  retry: Supervisor['retry'] = (deadLetterId, by) => this.kernel.deadLetters.retry(deadLetterId, by);
  resume: Supervisor['resume'] = (actor, by) => resume(this.kernel, actor, by);

  get status(): SupervisorStatus {
    const { kernel, root } = this;
    return {
      state: root.state,
      reasons: root.reasons,
      diskLow: this.housekeeping.diskLow,
      store: kernel.store.state,
      seq: kernel.store.head.seq,
      awake: kernel.cells.awake,
      commits: kernel.committer.commits,
      events: kernel.events,
      effects: kernel.effects.inFlight,
      restarts: kernel.faults.restarts,
      stalled: kernel.watchdog.stalled,
      stalledTotal: kernel.watchdog.stalledTotal,
      retentionHeldMs: kernel.retention.heldMs,
      reindexing: this.housekeeping.reindexing.progress,
    };
  }

  stop(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.stopping ??= this.drain(options.drainMs ?? 10_000);
    return this.stopping;
  }

  /**
   * In this order: nothing new, timers rest, effects settle and their results are written, then the store
   * closes.
   */
  private async drain(drainMs: number): Promise<void> {
    const { kernel } = this;
    this.root.draining();
    kernel.timers.stop();
    kernel.backlog.stop();
    let cancel = (): void => undefined;
    const deadline = new Promise<void>((resolve) => {
      cancel = kernel.environment.clock.timeout(drainMs, resolve);
    });
    await kernel.effects.stop(deadline);
    let late = false;
    void deadline.then(() => {
      late = true;
    });
    while (!late && (!kernel.committer.idle || kernel.cells.busy || !kernel.intake.idle))
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    cancel();
    for (const end of [...kernel.closing]) end();
    // Before the cells close: it would wait for a turn that nobody gets any more
    const resting = this.housekeeping.stop();
    kernel.intake.stop();
    kernel.cells.close(
      new StoreError('STORE_UNAVAILABLE', 'the supervisor has stopped; nothing was written'),
    );
    await resting;
    kernel.log.close();
    this.ignoreStore();
    await kernel.store.close();
    this.root.stopped();
  }
}
