import type { Kind } from '../../actors/contracts.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import { systemEnvironment, type Environment } from '../environment.js';
import type { Store } from '../store/contract.js';
import { ActorHandle } from './as-actor.js';
import { Commits } from './commit.js';
import type { Supervisor } from './contract.js';
import { DeadLetters } from './delivery/dead-letters.js';
import { Deliverer } from './delivery/deliver.js';
import { Dispatch } from './delivery/dispatch.js';
import { Failures } from './failures.js';
import { Inbox } from './delivery/inbox.js';
import { KernelInspection } from './inspection.js';
import { Kernel } from './kernel.js';
import { Kinds } from './draft/kinds.js';
import { defaultLimits } from './options.js';
import { Queries } from './queries.js';
import { countTail } from './totals.js';
import { Requests } from './requests.js';
import { Transactions } from './transaction.js';

/**
 * A supervisor that runs nothing: what is in the store can be read as it was left, no timer fires, no effect goes
 * on, and every event is refused. Opening it may bring lists of an older build up to this one's, so the store must be
 * a copy that no one else uses.
 *
 * @example const reader = await openReader({ kinds, store, why: 'Its gateway is stopped.' });
 */
export async function openReader({
  kinds: given,
  store,
  environment = systemEnvironment(),
  why,
}: {
  readonly kinds: readonly Kind[];
  readonly store: Store;
  readonly environment?: Environment;
  /** A sentence: what each event is refused with. */
  readonly why: string;
}): Promise<Supervisor> {
  const kinds = new Kinds(given, {});
  const kernel = new Kernel(environment, store, kinds, defaultLimits);
  const commits = new Commits(kernel);
  const failures = new Failures(kernel, commits);
  const deliverer = new Deliverer(kernel, commits, failures.deadLetter);
  const inbox = new Inbox(kernel, commits, deliverer, new Dispatch(kernel, deliverer));
  const deadLetters = new DeadLetters(kernel, commits, inbox);
  const requests = new Requests(kernel, deliverer, new Transactions(kernel, commits));
  const queries = new Queries(kernel, commits);
  await countTail(kernel.store);
  await kernel.generations.load();
  await commits.committer.totals.load();
  await deadLetters.load();
  const no = async (): Promise<Refusal> => refuse('CONFLICT', {}, why);
  const fails = async (): Promise<never> => {
    throw new Error(why);
  };
  return {
    environment,
    spawn: no,
    ask: no,
    transact: no,
    retry: no,
    dismiss: no,
    resume: no,
    get: queries.get,
    list: queries.list,
    iterate: queries.iterate,
    countRange: queries.countRange,
    rowsAt: queries.rowsAt,
    totals: queries.totals,
    waiting: queries.waiting,
    rows: queries.rows,
    keyValues: queries.keyValues,
    why: queries.why,
    history: queries.history,
    past: queries.past,
    watch: (watching) => kernel.log.watch(watching),
    onProgress: () => () => undefined, // nothing progresses
    handle: (kind, id) => new ActorHandle(kernel, requests, kind, id),
    deadLetters: (query) => deadLetters.page(query),
    setFact: (name, value) => kinds.setFact(name, value),
    get status() {
      return statusOf(kernel);
    },
    retention: { status: fails, allow: fails, dismiss: fails, erase: no },
    inspection: new KernelInspection(kernel, commits, failures),
    rest: () => Promise.resolve(),
    stop: async () => {
      kernel.log.close();
      await store.close();
    },
  };
}

const statusOf = ({ store }: Kernel): Supervisor['status'] => ({
  state: 'stopped',
  reasons: [],
  diskLow: false,
  store: store.state,
  position: store.head.seq,
  awake: 0,
  commits: 0,
  events: 0,
  effects: 0,
  restarts: 0,
  stalled: 0,
  stalledTotal: 0,
  retentionHeldMs: 0,
  reindexing: [],
});
