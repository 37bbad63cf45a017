import type { ActorKey, Kind } from '../../actors/contracts.js';
import { operator } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { Op } from '../store/contract.js';
import { keys, partsOf } from '../store/keys.js';
import type { Births } from './births.js';
import type { Cell, Cells } from './cells.js';
import type { ActorView, Committed, EventObject, Plan, Turns } from './contract.js';
import { reserved } from './event-names.js';
import { viewOf } from './live.js';
import { notFound, Stage, type StageHouse } from './stage.js';

/**
 * A plan over several actors: takes their turns in one global order (so that two plans never wait for each other in
 * a circle), decides each on its committed revision and writes one batch, all or nothing.
 */
const actorsMax = 16;

interface House extends StageHouse {
  readonly cells: Cells;
  readonly births: Births;
  now(): number;
  steady(): number;
  commit(stage: Stage, cells: readonly Cell[], settled: (error?: unknown) => void): void;
  counter(name: string): { next(): number; readonly op: () => Op };
  peek(key: string): Promise<string | undefined>;
  fault(what: string, error: unknown): Error;
}

export class Plans {
  constructor(private readonly house: House) {}

  async run<Result extends Json>(plan: Plan<Result>, extra: ((result: Json) => readonly Op[]) | undefined, peeks: readonly string[]): Promise<Committed<Result> | Refusal> {
    const order = distinct(plan.actors);
    if (order.length > actorsMax) throw new RangeError(`a plan may name ${actorsMax} actors at most; "${plan.name}" names ${order.length}`);
    const rows = new Map<string, string | undefined>();
    for (const key of peeks) rows.set(key, await this.house.peek(key));
    const held: Cell[] = [];
    try {
      for (const actor of order) held.push(await this.turnOf(actor));
    } catch (error) {
      for (const cell of held) this.house.cells.release(cell);
      if (isRefusal(error)) return error;
      throw error;
    }
    return this.decide(plan, held, extra, rows);
  }

  private turnOf({ kind, id }: ActorKey): Promise<Cell> {
    return new Promise((resolve, reject) => {
      const taken = this.house.cells.enter(kind, id, { run: resolve, fail: reject });
      if (!taken) reject(refuse('BUSY', { kind, id }));
    });
  }

  private decide<Result extends Json>(
    plan: Plan<Result>, held: readonly Cell[], extra: ((result: Json) => readonly Op[]) | undefined, rows: Map<string, string | undefined>,
  ): Promise<Committed<Result> | Refusal> {
    const { house } = this;
    const release = (): void => { for (const cell of held) house.cells.release(cell); };
    const stage = new Stage(house.now(), house.steady(), plan.by ?? operator, plan.name, house);
    let result: Result | Refusal;
    try {
      result = plan.decide(new HeldTurns(house, stage, held, rows, plan.dryRun === true));
    } catch (error) {
      release();
      if (isRefusal(error)) return Promise.resolve(error);
      return Promise.reject(house.fault(`the plan "${plan.name}" threw`, error));
    }
    if (isRefusal(result) || plan.dryRun === true) {
      release();
      return Promise.resolve(isRefusal(result) ? result : { result, seq: 0, replayed: false, steps: stage.steps });
    }
    const answer = result;
    if (extra !== undefined) stage.ops.push(...extra(answer));
    return new Promise((resolve, reject) => {
      house.births.claim(stage, held, (taken) => {
        if (taken !== undefined) {
          release();
          const [, kind, id] = partsOf(taken);
          return resolve(refuse('EXISTS', { kind, id }, `There is a ${kind} ${id} already.`));
        }
        house.commit(stage, held, (error) => {
          if (error !== undefined) reject(error);
          else resolve({ result: answer, seq: stage.tx, replayed: false, steps: stage.steps });
        });
      }, (error) => {
        release();
        reject(error as Error);
      });
    });
  }
}

class HeldTurns implements Turns {
  constructor(
    private readonly house: House, private readonly stage: Stage, private readonly held: readonly Cell[],
    private readonly rows: Map<string, string | undefined>, private readonly rehearsal: boolean,
  ) {}

  get at(): number { return this.stage.at; }

  read({ kind, id }: ActorKey): ActorView | undefined {
    const live = this.stage.current(keys.actor(kind, id), this.committed(kind, id));
    return live === undefined ? undefined : viewOf(this.house.kind(kind), id, live);
  }

  send({ kind: name, id }: ActorKey, event: EventObject, options: { readonly soft?: boolean } = {}): ActorView | Refusal {
    const kind = this.house.kind(name);
    const committed = this.committed(name, id);
    const live = this.stage.current(keys.actor(name, id), committed);
    const refusal = reserved(event) ?? (live === undefined ? notFound(name, id) : this.stage.send(kind, id, committed, event, this.house.facts(kind, live, event)));
    if (refusal === undefined) return this.read({ kind: name, id }) as ActorView;
    if (options.soft === true) return refusal;
    throw refusal;
  }

  create(name: string, id: string, options: { readonly input?: Json; readonly parent?: ActorKey } = {}): ActorView {
    const kind: Kind = this.house.kind(name);
    const known = this.held.some((cell) => cell.kind === name && cell.id === id) ? this.committed(name, id) : undefined;
    if (this.stage.current(keys.actor(name, id), known) !== undefined) throw refuse('EXISTS', { kind: name, id }, `There is a ${name} ${id} already.`);
    const refusal = this.stage.create(kind, id, options.input ?? {}, options.parent ?? null, this.house.facts(kind, undefined, { type: 'kernel.created', input: options.input ?? {} } as { type: string }));
    if (refusal !== undefined) throw refusal;
    return this.read({ kind: name, id }) as ActorView;
  }

  count(counter: string): number {
    const { next, op } = this.house.counter(counter);
    const n = this.rehearsal ? 0 : next();
    if (!this.rehearsal) this.stage.ops.push(op());
    return n;
  }

  put(key: string, value: Json): void {
    this.stage.ops.push([keys.meta(`plan/${key}`), value === null ? null : JSON.stringify(value)]);
  }

  peek(key: string): Json | undefined {
    if (!this.rows.has(key)) throw new RangeError(`the plan did not announce that it would read "${key}"`);
    const text = this.rows.get(key);
    return text === undefined ? undefined : JSON.parse(text) as Json;
  }

  private committed(kind: string, id: string): Cell['live'] {
    const cell = this.held.find((candidate) => candidate.kind === kind && candidate.id === id);
    if (cell !== undefined) return cell.live;
    if (this.stage.next.has(keys.actor(kind, id))) return undefined;
    throw new RangeError(`the plan does not hold the turn of ${kind} ${id}: name it in "actors"`);
  }
}

function distinct(actors: readonly ActorKey[]): ActorKey[] {
  const byKey = new Map(actors.map((actor) => [keys.actor(actor.kind, actor.id), actor]));
  return [...byKey.entries()].sort(([a], [b]) => a < b ? -1 : 1).map(([, actor]) => actor);
}
