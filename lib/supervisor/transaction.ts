import type { ActorKey, Kind } from '../../actors/contracts.js';
import { operator } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { Op, Store } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';
import type { ActorCell, Claim } from './cells/actor-cell.js';
import type { ActorCells, Cell } from './cells/actor-cells.js';
import type { Commits } from './commit.js';
import type { ActorView, Committed, EventObject, Transaction, TransactionContext } from './contract.js';
import { viewOf } from './draft/actor-state.js';
import { assertAtOnce, assertJson, isPlain, jsonText, ownCopy } from './draft/codec.js';
import type { Draft } from './draft/draft.js';
import { addressOf, notFound, reserved } from './draft/admission.js';
import type { Kernel } from './kernel.js';

/**
 * A plan over several actors: takes their turns in one global order (so that two plans never wait for each
 * other in a circle), decides each on its committed revision and writes one batch, all or nothing.
 */
const actorsMax = 16;

export class Transactions {
  readonly sequences: Sequences;

  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
  ) {
    this.sequences = new Sequences(kernel.store);
  }

  async run<Result extends Json>(
    plan: Transaction<Result>,
    extra: ((result: Json) => readonly Op[]) | undefined,
    peeks: readonly string[],
  ): Promise<Committed<Result> | Refusal> {
    const order = distinct(plan.actors);
    if (order.length > actorsMax)
      throw new RangeError(
        `a transaction may name at most ${actorsMax} actors; "${plan.name}" names ${order.length}`,
      );
    const rows = new Map<string, string | undefined>();
    for (const key of peeks) rows.set(key, await this.kernel.store.get(rowKey(key)));
    const full = order.find(({ kind, id }) => !this.kernel.cells.hasRoom(kind, id));
    if (full !== undefined) return refuse('BUSY', { kind: full.kind, id: full.id });
    const held = await takeTurns(this.kernel.cells, order);
    return this.decide(plan, held, extra, rows);
  }

  private async decide<Result extends Json>(
    plan: Transaction<Result>,
    held: readonly Cell[],
    extra: ((result: Json) => readonly Op[]) | undefined,
    rows: Map<string, string | undefined>,
  ): Promise<Committed<Result> | Refusal> {
    const { kernel } = this;
    const rehearsal = plan.dryRun === true;
    let committing = false;
    try {
      const draft = this.commits.draft({
        by: plan.by ?? operator,
        onBehalfOf: plan.onBehalfOf,
        cause: causeOf(plan.name, kernel.environment.causality?.current()),
      });
      const turns = new HeldTransaction(kernel, this.sequences, draft, held, rows, rehearsal);
      const result = this.resultOf(plan, turns, draft, extra);
      if (isRefusal(result)) return result;
      const taken = await this.takenOf(draft, held, rehearsal);
      if (taken !== undefined) {
        const [, kind, id] = partsOf(taken);
        return refuse('EXISTS', { kind, id }, `${kind} ${id} already exists.`);
      }
      if (rehearsal) return { result, position: 0, replayed: false, steps: draft.steps };
      draft.ops.push(...turns.counterRows());
      committing = true;
      await new Promise<void>((resolve, reject) => {
        this.commits.commit(draft, held, (error) =>
          error === undefined ? resolve() : reject(error as Error),
        );
      });
      return { result, position: draft.position, replayed: false, steps: draft.steps };
    } finally {
      // Whatever happened, the actors are let go; a commit does so itself
      if (!committing) for (const cell of held) kernel.cells.release(cell);
    }
  }

  /** What the plan decides; everything that it wants stored is in the draft, as text. */
  private resultOf<Result extends Json>(
    plan: Transaction<Result>,
    turns: TransactionContext,
    draft: Draft,
    extra: ((result: Json) => readonly Op[]) | undefined,
  ): Result | Refusal {
    try {
      const result = plan.run(turns);
      // What an async `run` does after its first await would be part of no commit
      assertAtOnce(
        result,
        'run must answer at once, not with a promise: what it awaits belongs before the transaction',
      );
      if (draft.torn) throw new TypeError('a step threw, and the transaction continued anyway');
      if (isRefusal(result) || extra === undefined) return result;
      if (result !== undefined) assertJson(result, 'result'); // a replay must answer the same
      draft.ops.push(...extra(result));
      return result;
    } catch (error) {
      if (isRefusal(error)) return error;
      throw this.kernel.fault(`the transaction "${plan.name}" threw`, error);
    }
  }

  /** The id of an actor to be created that belongs to another. A rehearsal asks and claims nothing. */
  private takenOf(draft: Draft, held: readonly Cell[], rehearsal: boolean): Promise<string | undefined> {
    const { reservations } = this.commits;
    return new Promise((resolve, reject) => {
      if (rehearsal) reservations.check(draft, held, resolve, reject);
      else reservations.claim(draft, held, resolve, reject);
    });
  }
}

class HeldTransaction implements TransactionContext {
  private readonly counters = new Set<string>();

  constructor(
    private readonly kernel: Kernel,
    private readonly sequences: Sequences,
    private readonly draft: Draft,
    private readonly held: readonly Cell[],
    private readonly rows: Map<string, string | undefined>,
    private readonly rehearsal: boolean,
  ) {}

  get at(): number {
    return this.draft.at;
  }

  read({ kind, id }: ActorKey): ActorView | undefined {
    const state = this.draft.current(keys.actor(kind, id), this.committed(kind, id));
    return state === undefined ? undefined : viewOf(this.kernel.kinds.of(kind), id, state);
  }

  send(
    { kind: name, id }: ActorKey,
    event: EventObject,
    options: { readonly soft?: boolean } = {},
  ): ActorView | Refusal {
    const kind = this.kernel.kinds.of(name);
    const committed = this.committed(name, id);
    const state = this.draft.current(keys.actor(name, id), committed);
    const refusal =
      reserved(event) ??
      (state === undefined ? notFound(name, id) : this.draft.send(kind, id, committed, ownCopy(event)));
    if (refusal === undefined) return this.read({ kind: name, id }) as ActorView;
    if (options.soft === true) return refusal;
    throw refusal;
  }

  create(
    name: string,
    id: string,
    options: { readonly input?: Json; readonly parent?: ActorKey } = {},
  ): ActorView {
    const kind: Kind = this.kernel.kinds.of(name);
    if (!isPlain(options.input ?? {}, true))
      throw refuse('BAD_REQUEST', { kind: name, id }, 'The input of an actor must be plain JSON.');
    const known = this.held.some((cell) => cell.kind === name && cell.id === id)
      ? this.committed(name, id)
      : undefined;
    if (this.draft.current(keys.actor(name, id), known) !== undefined)
      throw refuse('EXISTS', { kind: name, id }, `${name} ${id} already exists.`);
    const refusal = this.draft.create(
      kind,
      id,
      ownCopy((options.input ?? {}) as object) as Json,
      options.parent == null ? null : addressOf(options.parent, 'parent'),
    );
    if (refusal !== undefined) throw refusal;
    return this.read({ kind: name, id }) as ActorView;
  }

  next(counter: string): number {
    if (this.rehearsal) return 0;
    this.counters.add(counter);
    return this.sequences.of(counter).next();
  }

  /**
   * The rows of the counters, as of now: to be asked for when the commit is under way. Another plan may have
   * counted on and committed since this one did, and must not be taken back.
   */
  counterRows(): readonly Op[] {
    return [...this.counters].map((counter) => this.sequences.of(counter).op());
  }

  put(key: string, value: Json): void {
    this.draft.ops.push([rowKey(key), value === null ? null : jsonText(value, `row "${key}"`)]);
  }

  get(key: string): Json | undefined {
    if (!this.rows.has(key)) throw new RangeError(`the transaction reads "${key}" without declaring it`);
    const text = this.rows.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  }

  private committed(kind: string, id: string): Cell['state'] {
    const cell = this.held.find((candidate) => candidate.kind === kind && candidate.id === id);
    if (cell !== undefined) return cell.state;
    if (this.draft.next.has(keys.actor(kind, id))) return undefined;
    throw new RangeError(`the transaction does not include ${kind} ${id}: name it in "actors"`);
  }
}

/** Where a transaction's own row lies. */
const rowKey = (key: string): string => keys.meta(`plan/${key}`);

/**
 * Durable counters (the number in `TRP-12`): counted in memory, written in the batch of the one who counts. Gaps
 * are legal.
 */
export class Sequences {
  private readonly counts = new Map<string, number>();

  constructor(private readonly store: Store) {}

  async load(): Promise<void> {
    for (let range = prefix(sequencesStart); ;) {
      const page = await this.store.page({ ...range, limit: sequencesPage });
      for (const [key, value] of page)
        this.counts.set((partsOf(key)[1] as string).slice('counter/'.length), Number(value));
      const last = page.at(-1);
      if (last === undefined || page.length < sequencesPage) return;
      range = { ...range, gte: `${last[0]}\x00` };
    }
  }

  of(name: string): { next(): number; readonly op: () => Op } {
    return {
      next: () => {
        const count = (this.counts.get(name) ?? 0) + 1;
        this.counts.set(name, count);
        return count;
      },
      op: () => [keys.meta(`counter/${name}`), String(this.counts.get(name))],
    };
  }
}

const sequencesStart = keys.meta('counter/');
const sequencesPage = 1_000;

function distinct(actors: readonly ActorKey[]): ActorKey[] {
  const byKey = new Map(actors.map((actor) => [keys.actor(actor.kind, actor.id), actor]));
  return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, actor]) => actor);
}

/**
 * The turns of several actors at once. A plan first waits in every mailbox until what was there before it is
 * done, and holds nothing meanwhile. Then it stands in line, at all its actors in the same moment: the line is
 * the one global order. First in line everywhere, it keeps new jobs from beginning; it takes the turns when all
 * of them are free, which takes one commit, and takes all or none. An actor that begins to rest after a failure
 * sends the plan back, so that the others go on. So plans cannot wait for each other in a circle, none is held
 * up by an actor that rests or is far behind, and every plan comes to its turn.
 *
 * @example
 * const cells = await takeTurns(kernel.cells, [{ kind: 'counter', id: 'a' }, { kind: 'counter', id: 'b' }]);
 */
export function takeTurns(cells: ActorCells, actors: readonly ActorKey[]): Promise<ActorCell[]> {
  if (actors.length === 0) return Promise.resolve([]);
  return new Promise((resolve, reject) => new JointTurns(cells, actors, resolve, reject).enter());
}

class JointTurns implements Claim {
  /** Actors at which what was there before is not done yet. */
  private behind: number;
  private claimed: ActorCell[] = [];
  private over = false;

  constructor(
    private readonly cells: ActorCells,
    private readonly actors: readonly ActorKey[],
    private readonly resolve: (cells: ActorCell[]) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.behind = actors.length;
  }

  enter(): void {
    for (const { kind, id } of this.actors) this.cells.enter(kind, id, this.place);
  }

  private readonly place = {
    run: (cell: ActorCell): void => {
      this.cells.release(cell);
      this.behind -= 1;
      if (this.behind === 0 && !this.over) this.standInLine();
    },
    fail: (error: unknown): void => this.fail(error),
  };

  private standInLine(): void {
    this.claimed = this.actors.map(({ kind, id }) => this.cells.claim(kind, id, this));
    this.attempt();
  }

  attempt(): boolean {
    const { cells, claimed } = this;
    if (this.over || claimed.some(({ claims }) => claims?.[0] !== this)) return false;
    const resting = claimed.filter((cell) => cells.rests(cell));
    if (resting.length > 0) {
      this.goBack(resting);
      return false;
    }
    if (!cells.takeAll(claimed)) return true;
    this.over = true;
    cells.unclaim(claimed, this);
    this.resolve(claimed);
    return true;
  }

  /** To the head of the queues of those that rest; the others go on. */
  private goBack(resting: readonly ActorCell[]): void {
    const left = this.claimed;
    this.claimed = [];
    this.behind = resting.length;
    this.cells.unclaim(left, this);
    for (const cell of resting) this.cells.insert(cell, [this.place]);
    for (const cell of left) this.cells.pump(cell);
  }

  fail(error: unknown): void {
    if (this.over) return;
    this.over = true;
    const left = this.claimed;
    this.cells.unclaim(left, this);
    this.reject(error);
    for (const cell of left) this.cells.pump(cell);
  }
}

const causeOf = (name: string, behind: string | undefined): string =>
  behind === undefined ? name : `${name} ${behind}`;
