import type { Kind } from '../../actors/contracts.js';
import { isPerson, operator, type Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { Op } from '../store/contract.js';
import { ownCopy } from './draft/codec.js';
import type {
  ActorView,
  AskOptions,
  Committed,
  EventObject,
  Transaction,
  Supervisor,
  Idempotency,
} from './contract.js';
import type { Deliverer, Outcome } from './delivery/deliver.js';
import type { Transactions } from './transaction.js';
import { assertCaller, invalidId, reserved } from './draft/admission.js';
import type { Kernel } from './kernel.js';
import { viewOf, type ActorState } from './draft/actor-state.js';
import { keys } from '../store/keys.js';

const untilMsMax = 25_000;

/**
 * What callers from outside may ask: one event, one new actor, one transaction. Each answer leaves after its commit.
 */
export class Requests {
  private readonly keys: IdempotencyKeys;
  /** Requests of people and agents that are under way. */
  private waiting = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly deliverer: Deliverer,
    private readonly transactions: Transactions,
  ) {
    this.keys = new IdempotencyKeys(kernel);
  }

  readonly ask: Supervisor['ask'] = async (name, id, event, options = {}) => {
    const kind = this.kernel.kinds.of(name);
    checkOptions(options);
    const by = options.by ?? operator;
    const refusal =
      reserved(event) ?? this.closed(by, fromOutside(by) && kind.startsWork?.includes(event.type) === true);
    if (refusal !== undefined) return refusal;
    const through = this.begin(by);
    if (isRefusal(through)) return through;
    const { idempotency } = options;
    if (idempotency === undefined || options.dryRun === true)
      return this.deliver(kind, id, event, by, options, undefined, through);
    return this.keys
      .once(
        idempotency,
        (rows) => this.deliver(kind, id, event, by, options, rows({ kind: name, id }), through),
        () => this.replay(name, id),
      )
      .finally(through);
  };

  readonly spawn: Supervisor['spawn'] = async (name, options) => {
    const id = options.id ?? this.kernel.environment.ids.next();
    const plan: Transaction<{ id: string }> = {
      name: `spawn ${name}`,
      actors: [{ kind: name, id }],
      by: options.by ?? operator,
      ...(options.onBehalfOf === undefined ? {} : { onBehalfOf: options.onBehalfOf }),
      ...(options.idempotency === undefined ? {} : { idempotency: options.idempotency }),
      ...(options.dryRun === undefined ? {} : { dryRun: options.dryRun }),
      run: (turns) => {
        created = turns.create(name, id, {
          input: options.input ?? {},
          ...(options.parent === undefined ? {} : { parent: options.parent }),
        });
        return { id };
      },
    };
    let created: ActorView | undefined;
    return this.transact(plan).then(async (done) => {
      if (isRefusal(done)) return done;
      if (done.replayed) return this.replay(name, done.result.id);
      if (options.dryRun === true) return { ...(created as ActorView), steps: done.steps };
      return { ...(created as ActorView), position: done.position };
    });
  };

  readonly transact: Supervisor['transact'] = async <Result extends Json>(plan: Transaction<Result>) => {
    checkTransaction(plan);
    for (const { kind, id } of plan.actors) {
      this.kernel.kinds.of(kind);
      const invalid = invalidId(id);
      if (invalid !== undefined) return invalid;
    }
    const refusal = this.closed(plan.by ?? operator, plan.startsWork ?? fromOutside(plan.by ?? operator));
    if (refusal !== undefined) return refusal;
    const through = this.begin(plan.by ?? operator);
    if (isRefusal(through)) return through;
    const run = (extra?: (result: Json) => readonly Op[]): Promise<Committed<Result> | Refusal> =>
      this.transactions.run(plan, extra, plan.reads ?? []);
    try {
      if (plan.idempotency === undefined || plan.dryRun === true) return await run();
      return await this.keys.once(plan.idempotency, run, async (row) => ({
        result: row.result as Result,
        position: 0,
        replayed: true,
        steps: [],
      }));
    } finally {
      through();
    }
  };

  /** Why nothing new is taken at the moment; `newWork` only concerns what begins work. */
  private closed(by: Caller, newWork: boolean): Refusal | undefined {
    const { state, failing } = this.kernel.root;
    if (state === 'stopped' || (state === 'draining' && fromOutside(by))) return refuse('DRAINING');
    return newWork && failing.disk !== undefined ? refuse('DISK_LOW') : undefined;
  }

  /**
   * What waits is memory, and people can ask faster than a disk writes: beyond a bound they are turned away.
   * Never the system, which finishes what runs. What is returned ends the wait, once.
   */
  private begin(by: Caller): (() => void) | Refusal {
    if (!fromOutside(by)) return nothing;
    if (this.waiting >= this.kernel.limits.requestsMax) return refuse('OVERLOADED');
    this.waiting += 1;
    let waits = true;
    return () => {
      if (waits) this.waiting -= 1;
      waits = false;
    };
  }

  private deliver(
    kind: Kind,
    id: string,
    event: EventObject,
    by: Caller,
    options: AskOptions,
    extra: readonly Op[] | undefined,
    through: () => void,
  ): Promise<ActorView | Refusal> {
    return new Promise((resolve, reject) => {
      this.deliverer.deliver(kind, id, {
        event: ownCopy(event),
        by,
        onBehalfOf: options.onBehalfOf,
        cause: this.kernel.environment.causality?.current() ?? null,
        rehearse: options.dryRun === true,
        ...(extra === undefined ? {} : { extra }),
        answer: (outcome) => {
          through(); // who waits "until" waits for others
          if (outcome.type === 'failed')
            return reject(outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error)));
          try {
            resolve(
              outcome.type === 'done' && options.until !== undefined
                ? this.until(kind, id, outcome.state, outcome.position, options)
                : answerOf(kind, id, outcome),
            );
          } catch (error) {
            // the kind's view or the caller's predicate threw; what is committed stays committed
            const taken = outcome.type === 'done' ? `has taken "${event.type}", but` : 'is not changed, and';
            reject(this.kernel.fault(`${kind.kind} ${id} ${taken} cannot be shown`, error));
          }
        },
      });
    });
  }

  /** Wait until the actor reaches what the caller asked for. A caller that goes away cancels nothing. */
  private until(
    kind: Kind,
    id: string,
    state: ActorState,
    position: number,
    options: AskOptions,
  ): Promise<ActorView> {
    const { until = () => true } = options;
    const first = viewOf(kind, id, state);
    if (until(first)) return Promise.resolve({ ...first, position });
    if (this.kernel.cells.isClosed) return Promise.resolve({ ...first, pending: true });
    return new Promise((resolve, reject) => {
      let latest = first;
      const end = (): void => {
        cancel();
        ignore();
        this.kernel.closing.delete(late);
      };
      const late = (): void => {
        end();
        resolve({ ...latest, pending: true });
      };
      const ignore = this.kernel.cells.listen(kind.kind, id, (next) => {
        if (next === undefined) return;
        try {
          latest = viewOf(kind, id, next);
          if (!until(latest)) return;
          end();
          resolve(latest);
        } catch (error) {
          end();
          reject(error as Error);
        }
      });
      const cancel = this.kernel.environment.clock.timeout(
        Math.min(options.timeoutMs ?? untilMsMax, untilMsMax),
        late,
      );
      this.kernel.closing.add(late);
    });
  }

  private async replay(name: string, id: string): Promise<ActorView | Refusal> {
    const state = await this.kernel.cells.read(name, id);
    return state === undefined
      ? refuse('NOT_FOUND', { kind: name, id })
      : { ...viewOf(this.kernel.kinds.of(name), id, state), replayed: true };
  }
}

const nothing = (): void => undefined;

function answerOf(
  kind: Kind,
  id: string,
  outcome: Exclude<Outcome, { type: 'failed' }>,
): ActorView | Refusal {
  switch (outcome.type) {
    case 'refused':
      return outcome.refusal;
    case 'rehearsed':
      return { ...viewOf(kind, id, outcome.state), steps: outcome.steps };
    case 'done':
      return { ...viewOf(kind, id, outcome.state), position: outcome.position };
  }
}

/** People and agents are turned away, the kernel's own work goes on. */
export const fromOutside = (by: Caller): boolean => isPerson(by) || by.type === 'session';

/**
 * What a compiler would refuse in a request, for hosts without one. A caller that is a name passed for no one whom a
 * policy knows, and a key that is a text made all requests one: what is wrong throws before anything is decided.
 *
 * @throws TypeError that names the member and says what it takes
 */
function checkOptions({ by, onBehalfOf, idempotency, until }: AskOptions): void {
  if (by !== undefined) assertCaller(by, 'by');
  if (onBehalfOf !== undefined) {
    // Of an empty list, no one would be asked whether it is allowed
    if (!Array.isArray(onBehalfOf) || onBehalfOf.length === 0)
      throw new TypeError(
        "onBehalfOf must be a list of callers like { type: 'operator' }, with one at least",
      );
    for (const cause of onBehalfOf as readonly unknown[]) assertCaller(cause, 'onBehalfOf');
  }
  if (idempotency !== undefined && !isIdempotency(idempotency))
    throw new TypeError('idempotency must be { key, scope, hash }, each a text');
  if (until !== undefined && typeof until !== 'function')
    throw new TypeError('until must be a function of the view that answers true or false');
}

/** The same of a transaction. @throws TypeError that names the member and says what it takes */
function checkTransaction(plan: Omit<Transaction<Json>, 'run'> & { readonly run: unknown }): void {
  if (typeof plan.name !== 'string') throw new TypeError('name must say what the transaction does');
  const { actors }: { readonly actors: unknown } = plan;
  if (!Array.isArray(actors) || actors.some((actor) => actor == null))
    throw new TypeError('actors must be a list of { kind, id }');
  if (typeof plan.run !== 'function') throw new TypeError('run must be a function of the transaction');
  checkOptions({
    ...(plan.by === undefined ? {} : { by: plan.by }),
    ...(plan.onBehalfOf === undefined ? {} : { onBehalfOf: plan.onBehalfOf }),
    ...(plan.idempotency === undefined ? {} : { idempotency: plan.idempotency }),
  });
}

function isIdempotency(value: unknown): boolean {
  const { key, scope, hash } = Object(value) as Record<string, unknown>;
  return [key, scope, hash].every((part) => typeof part === 'string');
}

/**
 * Durable idempotency keys: the row is written in the create's own batch, so the act and the memory of it
 * cannot part. A twin that arrives while the first is under way waits for it.
 */
export const keptMs = 24 * 3600 * 1000;

export interface KeyRow {
  readonly hash: string;
  readonly result: Json;
}

export class IdempotencyKeys {
  private readonly underway = new Map<string, Promise<unknown>>();

  constructor(private readonly kernel: Kernel) {}

  /** Run `act` unless the key is known. `replay` answers from what was kept. */
  async once<Answer>(
    { scope, key, hash }: Idempotency,
    act: (rows: (result: Json) => readonly Op[]) => Promise<Answer>,
    replay: (row: KeyRow) => Promise<Answer>,
  ): Promise<Answer | Refusal> {
    const place = keys.idempotency(scope, key);
    for (let twin = this.underway.get(place); twin !== undefined; twin = this.underway.get(place))
      await twin.catch(() => undefined);
    const work = this.attempt(place, hash, act, replay);
    this.underway.set(place, work);
    try {
      return await work;
    } finally {
      if (this.underway.get(place) === work) this.underway.delete(place);
    }
  }

  private async attempt<Answer>(
    place: string,
    hash: string,
    act: (rows: (result: Json) => readonly Op[]) => Promise<Answer>,
    replay: (row: KeyRow) => Promise<Answer>,
  ): Promise<Answer | Refusal> {
    const kept = await this.kernel.store.get(place);
    if (kept !== undefined) {
      const row = JSON.parse(kept) as KeyRow;
      return row.hash === hash ? replay(row) : refuse('IDEMPOTENCY_CONFLICT');
    }
    const due = this.kernel.retention.now() + keptMs;
    return act((result) => [
      [place, JSON.stringify({ hash, result })],
      [keys.expiry(due, place), '1'],
    ]);
  }
}
