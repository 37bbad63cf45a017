import type { Kind } from '../../actors/contracts.js';
import type { Caller } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import { StoreError } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';
import { systemWorld } from '../world.js';
import type { ActorKey } from '../../actors/contracts.js';
import type { DeadLetter, Limits, Supervisor, SupervisorOptions, SupervisorStatus } from './contract.js';
import { defineKind } from './define-kind.js';
import type { OutboxRow } from './effects.js';
import { ActorHandle } from './handle.js';
import { Housekeeping } from './housekeeping.js';
import type { Inspection } from './inspectable.js';
import { KernelInspection } from './inspection.js';
import { Kernel } from './kernel.js';
import { Reading } from './reading.js';
import { settle } from './places.js';
import { fromOutside, Requests } from './requests.js';
import { resume } from './resume.js';
import { RootSystem } from './root-system.js';

export const defaultLimits: Limits = {
  awakeActorsMax: 20_000, mailboxMax: 1_000, snapshotBytesMax: 64 * 1024, keepLogDays: 30, keepLogBytes: 2 * 1024 ** 3,
};

/**
 * Open a supervisor over a store: what was in flight when the last one ended goes on.
 *
 * @example
 * const supervisor = await createSupervisor({ kinds: [counter], store: memoryStore() });
 * await supervisor.spawn('counter', { id: 'c1' });
 * await supervisor.ask('counter', 'c1', { type: 'add', n: 2 });
 */
export async function createSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const world = options.world ?? systemWorld();
  const kinds = new Map<string, Kind>();
  for (const kind of options.kinds) {
    if (kinds.has(kind.kind)) throw new TypeError(`two kinds are called "${kind.kind}"`);
    kinds.set(kind.kind, defineKind(kind));
  }
  const kernel = new Kernel(world, options.store, kinds, { ...defaultLimits, ...options.limits }, options.facts ?? {}, () => housekeeping.floor);
  const root = new RootSystem(world.log, () => world.now());
  kernel.escalated = (actor, reason) => root.failed('actors', `${actor.kind} ${actor.id}: ${reason}`);
  kernel.recovered = () => root.recovered('actors');
  const requests = new Requests(kernel);
  const housekeeping: Housekeeping = new Housekeeping(kernel, (low) => low ? root.failed('disk', 'less than 200 MB are free') : root.recovered('disk'));
  requests.closed = (by, newWork) => closed(root, housekeeping, by, newWork);
  const ignoreStore = options.store.onState((state) => state.state === 'ready' ? root.recovered('store') : root.failed('store', state.reason));
  await boot(kernel, housekeeping);
  root.booted();
  return new Running(kernel, root, requests, housekeeping, ignoreStore);
}

/** O(pending): counters, inboxes, outboxes and due timers are read; no actor at rest is. */
async function boot(kernel: Kernel, housekeeping: Housekeeping): Promise<void> {
  await settle(kernel.store);
  await kernel.committer.lead.takeUp(kernel.world);
  await kernel.counters.load();
  await kernel.committer.tallies.load();
  await housekeeping.start();
  // Everything is read before anything is done: what the first deliveries write must not be taken for an earlier life's.
  const inbox: { to: ActorKey; key: string; value: string }[] = [];
  await eachRow(kernel, 'i/', (parts, key, value) => { inbox.push({ to: { kind: parts[1] as string, id: parts[2] as string }, key, value }); });
  const outbox = new Map<string, { actor: ActorKey; key: string; row: OutboxRow }[]>();
  await eachRow(kernel, 'o/', (parts, key, value) => {
    const actor = { kind: parts[1] as string, id: parts[2] as string };
    const place = keys.actor(actor.kind, actor.id);
    const rows = outbox.get(place) ?? [];
    rows.push({ actor, key: parts[3] as string, row: JSON.parse(value) as OutboxRow });
    outbox.set(place, rows);
  });
  for (const rows of outbox.values()) void takeUpInOrder(kernel, rows);
  for (const { to, key, value } of inbox) kernel.inbox.take(to, key, value);
  await kernel.wheel.start();
}

/** What an earlier life left behind is cleaned up first; only then does the same actor act anew. */
async function takeUpInOrder(kernel: Kernel, rows: readonly { actor: ActorKey; key: string; row: OutboxRow }[]): Promise<void> {
  const noted = rows.filter(({ row }) => row.note !== undefined);
  const fresh = rows.filter(({ row }) => row.note === undefined);
  for (const part of [noted, fresh]) {
    await Promise.all(part.map(({ actor, key, row }) => kernel.takeUp(actor, key, row)
      .catch((error: unknown) => kernel.fault(`the effect ${row.src} of ${actor.kind} ${actor.id} could not be taken up`, error))));
  }
}

async function eachRow(kernel: Kernel, start: string, visit: (parts: string[], key: string, value: string) => void): Promise<void> {
  for (let range = prefix(start) as { gte: string; lt: string };;) {
    const page = await kernel.store.page({ ...range, limit: 1000 });
    for (const [key, value] of page) visit(partsOf(key), key, value);
    const last = page.at(-1);
    if (last === undefined || page.length < 1000) return;
    range = { ...range, gte: `${last[0]}\x00` };
  }
}

function closed(root: RootSystem, housekeeping: Housekeeping, by: Caller, newWork: boolean): Refusal | undefined {
  if (fromOutside(by) && (root.state === 'draining' || root.state === 'stopped')) return refuse('DRAINING');
  return housekeeping.diskLow && newWork ? refuse('DISK_LOW') : undefined;
}

class Running implements Supervisor {
  private readonly reading: Reading;
  readonly inspection: Inspection;
  private stopping: Promise<void> | undefined;
  private readonly retrying = new Map<string, Promise<true | Refusal>>();
  readonly world;

  constructor(
    private readonly kernel: Kernel, private readonly root: RootSystem, private readonly requests: Requests,
    private readonly housekeeping: Housekeeping, private readonly ignoreStore: () => void,
  ) {
    this.world = kernel.world;
    this.reading = new Reading(kernel);
    this.inspection = new KernelInspection(kernel, root);
  }

  spawn: Supervisor['spawn'] = (kind, options) => this.requests.spawn(kind, options);
  ask: Supervisor['ask'] = (kind, id, event, options) => this.requests.ask(kind, id, event, options);
  transact: Supervisor['transact'] = (plan) => this.requests.transact(plan);
  get: Supervisor['get'] = (kind, id) => this.reading.get(kind, id);
  list: Supervisor['list'] = (kind, query) => this.reading.list(kind, query);
  records: Supervisor['records'] = (kind, query) => this.reading.records(kind, query);
  count: Supervisor['count'] = (kind, query) => this.reading.count(kind, query);
  listed: Supervisor['listed'] = (kind, index, places) => this.reading.listed(kind, index, places);
  counts: Supervisor['counts'] = (kind) => this.kernel.committer.tallies.of(kind);
  rows: Supervisor['rows'] = (actor, collection, query) => this.reading.rows(actor, collection, query);
  meta: Supervisor['meta'] = (start) => this.reading.meta(start);
  why: Supervisor['why'] = (actor, by) => this.reading.why(actor, by);
  watch: Supervisor['watch'] = (options) => this.kernel.log.watch(options);
  handle: Supervisor['handle'] = (kind, id) => new ActorHandle(this.kernel, this.requests, kind, id);
  deadLetters: Supervisor['deadLetters'] = (query) => this.kernel.faults.letters(query?.limit);

  onProgress: Supervisor['onProgress'] = (listener) => {
    this.kernel.progressListeners.add(listener);
    return () => { this.kernel.progressListeners.delete(listener); };
  };

  history: Supervisor['history'] = async (actor, query) => {
    const live = await this.kernel.cells.read(actor.kind, actor.id);
    return live === undefined ? [] : this.kernel.log.history(actor, live.seq, query);
  };

  past: Supervisor['past'] = async (actor, at) => {
    const live = await this.kernel.cells.read(actor.kind, actor.id);
    return live === undefined ? undefined : this.kernel.log.past(this.kernel.kind(actor.kind), actor, live.seq, at);
  };

  learn(name: string, value: unknown): void {
    this.kernel.facts_ = { ...this.kernel.facts_, [name]: value };
  }

  /** Who asks while it is being done is told of the same deed: having read the letter, too, a second one would do it twice. */
  retry(deadLetterId: string, by: Caller): Promise<true | Refusal> {
    const underway = this.retrying.get(deadLetterId) ?? this.putBack(deadLetterId, by).finally(() => { this.retrying.delete(deadLetterId); });
    this.retrying.set(deadLetterId, underway);
    return underway;
  }

  private async putBack(deadLetterId: string, by: Caller): Promise<true | Refusal> {
    const key = keys.deadLetter(deadLetterId);
    const text = await this.kernel.store.get(key);
    if (text === undefined) return refuse('NOT_FOUND', { id: deadLetterId }, `There is no dead letter ${deadLetterId}.`);
    const letter = JSON.parse(text) as DeadLetter & { readonly by: Caller };
    const inbox = keys.inbox(letter.actor.kind, letter.actor.id, this.kernel.store.head.seq, `retry.${deadLetterId}`);
    const row = JSON.stringify({ event: letter.event, by: letter.by, cause: `dead letter ${deadLetterId}, retried by ${by.type}` });
    await this.kernel.writeOps([[key, null], [inbox, row]]);
    this.kernel.inbox.take(letter.actor, inbox, row);
    return true;
  }

  resume: Supervisor['resume'] = (actor, by) => resume(this.kernel, actor, by);

  get status(): SupervisorStatus {
    const { kernel, root } = this;
    return {
      state: root.state, reasons: root.reasons, diskLow: this.housekeeping.diskLow, store: kernel.store.state, seq: kernel.store.head.seq, awake: kernel.cells.awake,
      commits: kernel.committer.commits, events: kernel.events, effects: kernel.effects.inFlight, restarts: kernel.faults.restarts,
    };
  }

  stop(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.stopping ??= this.drain(options.drainMs ?? 10_000);
    return this.stopping;
  }

  /** In this order: nothing new, timers rest, effects settle and their results are written, then the store closes. */
  private async drain(drainMs: number): Promise<void> {
    const { kernel } = this;
    this.root.draining();
    kernel.wheel.stop();
    let cancel = (): void => undefined;
    const deadline = new Promise<void>((resolve) => { cancel = kernel.world.timeout(drainMs, resolve); });
    await kernel.effects.stop(deadline);
    let late = false;
    void deadline.then(() => { late = true; });
    while (!late && (!kernel.committer.idle || kernel.cells.busy)) await new Promise((resolve) => { setImmediate(resolve); });
    cancel();
    for (const end of [...kernel.closing]) end();
    const resting = this.housekeeping.stop(); // before the cells close: it would wait for a turn that nobody gets any more
    kernel.cells.close(new StoreError('STORE_UNAVAILABLE', 'the supervisor has stopped; nothing was written'));
    await resting;
    kernel.log.close();
    this.ignoreStore();
    await kernel.store.close();
    this.root.stopped();
  }
}
