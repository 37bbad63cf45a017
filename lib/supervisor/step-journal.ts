import type { EffectContext, Json } from '../../actors/contracts.js';
import type { Op, Store } from '../store/contract.js';
import { pageMax, prefix } from '../store/keys.js';
import { errorData } from './draft/actions.js';
import { carried } from './draft/codec.js';

/**
 * The steps of one effect (`context.step(name, run)`), each a row of its own: what ten thousand steps write is ten
 * thousand rows, each as long as its own outcome. They go in the commit that takes the effect's result. A step whose
 * outcome is there is not run again; one that a crash cut off is.
 */
export class StepJournal {
  private readonly underway = new Map<string, Promise<unknown>>();
  private readonly rows = new Set<string>();
  private outcomes: Promise<ReadonlyMap<string, string>> | undefined;
  private closed = false;

  constructor(
    private readonly store: StepStore,
    /** Where the row of a step stands. */
    private readonly place: (name: string) => string,
    private readonly effect: Pick<EffectContext, 'reason' | 'signal'>,
  ) {}

  run(name: string, step: () => unknown): Promise<unknown> {
    const known = this.underway.get(name) ?? this.outcome(name, step);
    this.underway.set(name, known);
    return known;
  }

  /** The rows of this run and of earlier ones, once none is on its way to the store; no step begins any more. */
  async close(): Promise<readonly string[]> {
    this.closed = true;
    await Promise.allSettled([...this.underway.values()]);
    await this.stored();
    return [...this.rows];
  }

  private async outcome(name: string, step: () => unknown): Promise<unknown> {
    if (name === '' || name.length > nameMax)
      throw new RangeError(`The name of a step has 1 to ${nameMax} characters.`);
    const place = this.place(name);
    let text = (await this.stored()).get(place);
    if (text === undefined) {
      this.effect.signal.throwIfAborted();
      if (this.closed) throw new TypeError(`The step "${name}" began after its effect had ended.`);
      text = JSON.stringify(await outcomeOf(name, step));
      if (gone.has(this.effect.reason())) this.effect.signal.throwIfAborted(); // and its row with it
      this.rows.add(place);
      await this.store.write([[place, text]]);
    }
    const { output, error } = JSON.parse(text) as Outcome;
    if (error !== undefined) throw Object.assign(new Error(error.message), error);
    return output;
  }

  /** What earlier runs have left, read once. */
  private stored(): Promise<ReadonlyMap<string, string>> {
    this.outcomes ??= this.store.read(this.place('')).then((rows) => {
      for (const [place] of rows) this.rows.add(place);
      return new Map(rows);
    });
    return this.outcomes;
  }
}

export interface StepStore {
  /** All rows whose keys begin so. */
  read(start: string): Promise<[key: string, value: string][]>;
  write(ops: readonly Op[]): Promise<void>;
}

const nameMax = 200;
const gone: ReadonlySet<ReturnType<EffectContext['reason']>> = new Set(['left', 'lost']);

type Outcome = {
  readonly output?: Json;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
};

async function outcomeOf(name: string, step: () => unknown): Promise<Outcome> {
  let output: unknown;
  try {
    output = await step();
  } catch (error) {
    return { error: errorData(error) };
  }
  return output === undefined ? {} : { output: carried(output, `the outcome of the step "${name}"`) };
}

/** All rows whose keys begin so. */
export async function rowsBelow(store: Store, start: string): Promise<[key: string, value: string][]> {
  const found: [key: string, value: string][] = [];
  const { gte, lt } = prefix(start);
  for (let after = gte; ;) {
    const page = await store.page({ gt: after, lt, limit: pageMax });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < pageMax) return found;
    after = last[0];
  }
}
