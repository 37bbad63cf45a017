import type { AtMostOnceEffect, EffectContext } from '../contracts.js';

/** Nothing that an effect answers, sends or shows holds what `redact` takes out. */
export function redactedEffect<In, Out>(
  effect: AtMostOnceEffect<In, Out>,
  redact: <Value>(value: Value) => Value,
): AtMostOnceEffect<In, Out> {
  const around = (context: EffectContext): EffectContext =>
    Object.assign(Object.create(context) as EffectContext, {
      send: (event) => context.send(redact(event)),
      progress: (event, payload) => context.progress(event, redact(payload)),
      checkpoint: (data) => context.checkpoint(redact(data)),
    } satisfies Partial<EffectContext>);
  return {
    ...effect,
    run: async (input, context) => redact(await effect.run(input, around(context))),
  };
}
