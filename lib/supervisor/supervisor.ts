import type { AnyKinds } from '../../actors/inference.js';
import type { Supervisor, SupervisorOptions, SupervisorStatus } from './contract.js';
import { systemEnvironment } from '../environment.js';
import { type Store, StoreError } from '../store/contract.js';
import { ActorHandle } from './as-actor.js';
import { Backlog } from './delivery/backlog.js';
import { Commits } from './commit.js';
import { DeadLetters, Resumption } from './delivery/dead-letters.js';
import { Kinds } from './draft/kinds.js';
import { Deliverer } from './delivery/deliver.js';
import { Dispatch } from './delivery/dispatch.js';
import { scopeFault } from './draft/driver.js';
import { settle } from './draft/indexes.js';
import { Effects } from './effects.js';
import { Failures } from './failures.js';
import { Housekeeping } from './housekeeping/housekeeping.js';
import { Inbox } from './delivery/inbox.js';
import { KernelInspection } from './inspection.js';
import { Kernel } from './kernel.js';
import { limitsOf } from './options.js';
import { ownedRead, ownedWrite } from './ownership.js';
import { Queries } from './queries.js';
import { Requests } from './requests.js';
import { openTimers, type TimerWheel } from './timers.js';
import { countTail } from './totals.js';
import { Transactions } from './transaction.js';

/**
 * Open a supervisor over a store: what was in flight when the last one ended goes on.
 *
 *
 * Throws a TypeError for kinds that cannot run together; rejects with the store's `StoreError`.
 * @example
 *   const supervisor = await createSupervisor({ kinds: [counter], store: memoryStore() });
 *   await supervisor.spawn('counter', { id: 'c1' });
 *   await supervisor.ask('counter', 'c1', { type: 'add', n: 2 });
 */
export async function createSupervisor<const Given extends AnyKinds>(
  options: SupervisorOptions<Given>,
): Promise<Supervisor<Given>> {
  const { store, environment = systemEnvironment() } = options;
  if (typeof (store as Partial<typeof store> | undefined)?.write !== 'function')
    throw new TypeError('store must be an open store: memoryStore(), or await levelStore({ directory })');
  if (inUse.has(store))
    throw new TypeError(
      'another supervisor uses this store: give all kinds to one, or a store of its own to each',
    );
  const kinds = new Kinds(options.kinds, options.facts ?? {});
  const kernel = new Kernel(environment, store, kinds, limitsOf(options.limits));
  const commits = new Commits(kernel);
  const failures = new Failures(kernel, commits);
  const deliverer = new Deliverer(kernel, commits, failures.deadLetter);
  const dispatch = new Dispatch(kernel, deliverer);
  const effects = new Effects(kernel, commits, dispatch, () => supervisor);
  const timers = openTimers(kernel, commits, dispatch);
  const inbox = new Inbox(kernel, commits, deliverer, dispatch);
  const backlog = new Backlog(kernel, inbox, effects, failures);
  const deadLetters = new DeadLetters(kernel, commits, inbox);
  const transactions = new Transactions(kernel, commits);
  const housekeeping = new Housekeeping(kernel, commits, deadLetters);
  const parts = { kernel, commits, transactions, effects, timers, backlog, housekeeping };
  const requests = new Requests(kernel, deliverer, transactions);
  const queries = new Queries(kernel, commits);
  const resumption = new Resumption(kernel, commits, failures, inbox, timers);
  if (scopeFault !== undefined)
    environment.log.warn(
      { reason: scopeFault },
      'XState 5 is stepped by its public functions, at half the speed',
    );
  const { root } = kernel;
  const ignoreStore = store.onState((state) =>
    state.state === 'ready'
      ? root.recovered('store')
      : state.state === 'lost'
        ? void kernel.ownership.lose(state.reason)
        : root.failed('store', state.reason),
  );
  kernel.ownership.ended.add((loss) => {
    end(parts, loss);
    options.onLost?.(loss.message);
  });
  const { ownership } = kernel;
  let stopping: Promise<void> | undefined;
  const supervisor: Supervisor = {
    environment,
    spawn: ownedWrite(ownership, requests.spawn),
    ask: ownedWrite(ownership, requests.ask),
    transact: ownedWrite(ownership, requests.transact),
    get: ownedRead(ownership, queries.get),
    list: ownedRead(ownership, queries.list),
    iterate: ownedRead(ownership, queries.iterate),
    countRange: ownedRead(ownership, queries.countRange),
    rowsAt: ownedRead(ownership, queries.rowsAt),
    totals: queries.totals,
    waiting: ownedRead(ownership, queries.waiting),
    rows: ownedRead(ownership, queries.rows),
    keyValues: ownedRead(ownership, queries.keyValues),
    why: ownedRead(ownership, queries.why),
    history: ownedRead(ownership, queries.history),
    past: ownedRead(ownership, queries.past),
    watch: (watching) => kernel.log.watch(watching),
    onProgress(listener) {
      kernel.progressListeners.add(listener);
      return () => {
        kernel.progressListeners.delete(listener);
      };
    },
    handle: (kind, id) => new ActorHandle(kernel, requests, kind, id),
    deadLetters: (query) => deadLetters.page(query),
    retry: (deadLetterId, by) => deadLetters.retry(deadLetterId, by),
    dismiss: (deadLetterId) => deadLetters.dismiss(deadLetterId),
    resume: (actor, by) => resumption.resume(actor, by),
    setFact: (name, value) => kinds.setFact(name, value),
    get status() {
      return statusOf(parts, failures);
    },
    retention: housekeeping,
    inspection: new KernelInspection(kernel, commits, failures),
    rest: ({ withinMs = 5_000 } = {}) => endEffects(parts, withinMs),
    stop: ({ drainMs = 10_000 } = {}) =>
      (stopping ??= drain(parts, drainMs).then(async () => {
        ignoreStore();
        await store.close();
        inUse.delete(store);
        root.stopped();
      })),
  };
  inUse.add(store);
  try {
    await boot(parts);
  } catch (error) {
    inUse.delete(store);
    throw error;
  }
  root.booted();
  return supervisor as Supervisor<Given>; // at run time kinds go by name; their types are the face's
}

/** A second supervisor would begin what the first one has begun, and take the store from it. */
const inUse = new WeakSet<Store>();

interface Parts {
  readonly kernel: Kernel;
  readonly commits: Commits;
  readonly transactions: Transactions;
  readonly effects: Effects;
  readonly timers: TimerWheel;
  readonly backlog: Backlog;
  readonly housekeeping: Housekeeping;
}

/** O(pending): counters, names of actors with something to do and the first due timers are read. */
async function boot({ kernel, commits, transactions, timers, backlog, housekeeping }: Parts): Promise<void> {
  const { skew, totals } = commits.committer;
  await settle(kernel.store);
  await countTail(kernel.store);
  // Side by side: each is a round trip where the store is a database, and clients wait
  await Promise.all([
    skew.load(kernel.environment),
    transactions.sequences.load(),
    kernel.generations.load().then(() => totals.load()), // counts of an earlier generation are none
  ]);
  await housekeeping.start();
  await backlog.scan();
  kernel.intake.check();
  await timers.start();
}

function statusOf(
  { kernel, commits, effects, housekeeping }: Parts,
  { restarts }: Failures,
): SupervisorStatus {
  const { root, store, cells, retention } = kernel;
  return {
    state: root.state,
    reasons: root.reasons,
    diskLow: housekeeping.diskLow,
    store: store.state,
    position: store.head.seq,
    awake: cells.awake,
    commits: commits.committer.commits,
    events: commits.committer.events,
    effects: effects.inFlight,
    restarts,
    stalled: cells.watchdog.stalled,
    stalledTotal: cells.watchdog.stalledTotal,
    retentionHeldMs: retention.heldMs,
    reindexing: housekeeping.reindexing.progress,
  };
}

/** Another process owns the home. Nothing is drained: what is under way is that owner's now. */
function end({ kernel, effects, timers, backlog, housekeeping }: Parts, loss: StoreError): void {
  kernel.root.lost(loss.message);
  timers.stop();
  backlog.stop();
  kernel.intake.stop();
  effects.lose();
  kernel.cells.close(loss, true);
  for (const answer of [...kernel.closing]) answer();
  void housekeeping.stop();
  kernel.log.close();
}

/** Deciding goes on: another owner takes over soon, and begins what is asked for until then. */
async function endEffects({ kernel, effects }: Parts, withinMs: number): Promise<void> {
  const { deadline, cancel } = deadlineIn(kernel, withinMs);
  await effects.stop(deadline);
  cancel();
}

function deadlineIn({ environment }: Kernel, ms: number) {
  let cancel = (): void => undefined;
  const deadline = new Promise<void>((resolve) => {
    cancel = environment.clock.timeout(ms, resolve);
  });
  return { deadline, cancel };
}

/**
 * In this order: nothing new, timers rest, effects settle and their results are written, then the store
 * may close.
 */
async function drain(
  { kernel, commits, effects, timers, backlog, housekeeping }: Parts,
  drainMs: number,
): Promise<void> {
  kernel.root.draining();
  timers.stop();
  backlog.stop();
  const { deadline, cancel } = deadlineIn(kernel, drainMs);
  await effects.stop(deadline);
  let late = false;
  void deadline.then(() => {
    late = true;
  });
  // Mostly a turn of the loop is enough. What waits for a disk, or behind a failure, must not cost a processor.
  for (
    let turns = 0;
    !late && (!commits.committer.idle || kernel.cells.busy || !kernel.intake.idle);
    turns += 1
  )
    await new Promise((resolve) => {
      if (turns < quickTurns) setImmediate(resolve);
      else setTimeout(resolve, slowTurnMs);
    });
  // So that the next start, of an older version too, has nothing to count
  if (!late && commits.committer.totals.areBehind)
    await Promise.race([commits.write([]).catch(() => undefined), deadline]);
  cancel();
  if (late)
    kernel.environment.log.warn(
      {
        drainMs,
        effects: effects.inFlight,
        cellsBusy: kernel.cells.busy,
        commitsIdle: commits.committer.idle,
        intakeIdle: kernel.intake.idle,
      },
      'stopped while something was under way',
    );
  for (const end of [...kernel.closing]) end();
  // Before the cells close: it would wait for a turn that is never given any more
  const resting = housekeeping.stop();
  kernel.intake.stop();
  kernel.cells.close(new StoreError('STORE_UNAVAILABLE', 'the supervisor has stopped; nothing was written'));
  await resting;
  kernel.log.close();
}

const quickTurns = 100;
const slowTurnMs = 5;
