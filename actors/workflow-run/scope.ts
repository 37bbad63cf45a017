import type { Scope, StepScope } from '../../machines/graph/paths.js';
import type { Json } from '../../machines/outputs.js';
import type { EffectContext } from '../contracts.js';

/**
 * What texts and results of a run may name: the latest outcome of each step, the input and the trigger, as
 * its own rows tell.
 */
export async function scopeOf(run: Scope['run'], context: Pick<EffectContext, 'rows'>): Promise<Scope> {
  const [outcomes, given] = await Promise.all([context.rows('outcomes'), context.rows('given')]);
  const {
    input = null,
    payload = null,
    trigger = {},
  } = (given[0] ?? {}) as { input?: Json; payload?: Json; trigger?: Scope['trigger'] };
  const steps = Object.fromEntries(
    outcomes.map((row) => [(row as { nodeId: string }).nodeId, row as Json & StepScope]),
  ); // as the run wrote it
  return { steps, run, trigger: { ...trigger, payload }, input };
}
