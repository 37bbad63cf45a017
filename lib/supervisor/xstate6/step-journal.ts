import type { EffectContext, Json } from '../../../actors/contracts.js';
import { errorData } from '../draft/actions.js';
import { carried } from '../draft/codec.js';

/**
 * The steps of async logic (`enq.step(key, run)`), kept in the row of the effect that runs it: the row goes in the
 * commit that takes the result, and the journal with it. A step whose outcome is there is not run again; one that a
 * crash cut off is.
 */
export class StepJournal {
  private readonly outcomes: Record<string, Outcome>;
  private readonly underway = new Map<string, Promise<unknown>>();

  constructor(
    private readonly context: Pick<EffectContext, 'checkpoint' | 'checkpointed' | 'reason' | 'signal'>,
  ) {
    const { steps = {} } = (context.checkpointed ?? {}) as { readonly steps?: Record<string, Outcome> };
    this.outcomes = { ...steps };
  }

  run(key: string, step: () => unknown): Promise<unknown> {
    const known = this.underway.get(key) ?? this.outcome(key, step);
    this.underway.set(key, known);
    return known;
  }

  /** Until nothing of this run is on its way to the store. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.underway.values());
  }

  private async outcome(key: string, step: () => unknown): Promise<unknown> {
    if (!Object.hasOwn(this.outcomes, key)) {
      this.context.signal.throwIfAborted();
      const outcome = await outcomeOf(key, step);
      if (gone.has(this.context.reason())) this.context.signal.throwIfAborted(); // and its row with it
      Object.defineProperty(this.outcomes, key, { value: outcome, enumerable: true });
      await this.context.checkpoint({ steps: this.outcomes });
    }
    const { output, error } = this.outcomes[key] as Outcome;
    if (error !== undefined) throw Object.assign(new Error(error.message), error);
    return output;
  }
}

const gone: ReadonlySet<ReturnType<EffectContext['reason']>> = new Set(['left', 'lost']);

type Outcome = {
  readonly output?: Json;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
};

async function outcomeOf(key: string, step: () => unknown): Promise<Outcome> {
  let output: unknown;
  try {
    output = await step();
  } catch (error) {
    return { error: errorData(error) };
  }
  return output === undefined ? {} : { output: carried(output, `the outcome of the step "${key}"`) };
}
