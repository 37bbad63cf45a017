import type { SessionContext, Usage } from './context.js';

/** What a turn has used, added to what the session used before, and how full its context is now. */
export function spent(context: SessionContext, usage: Usage | undefined): Partial<SessionContext> {
  if (usage === undefined) return {};
  const { inputTokens = 0, outputTokens = 0, cachedTokens = 0, costUsd = 0, contextTokens } = usage;
  const contextWindow = (contextTokens === undefined ? undefined : usage.contextWindow) ?? null;
  return {
    usage: {
      inputTokens: context.usage.inputTokens + inputTokens,
      outputTokens: context.usage.outputTokens + outputTokens,
      cachedTokens: context.usage.cachedTokens + cachedTokens,
    },
    totalCost: context.totalCost + costUsd,
    lastContextTokens:
      contextTokens ??
      (usage.inputTokens === undefined ? context.lastContextTokens : inputTokens + outputTokens),
    ...(contextWindow !== (context.contextWindow ?? null) && { contextWindow }),
  };
}

/** What it costs from here on is what this piece of work costs. */
export const engagement = (context: SessionContext): Partial<SessionContext> =>
  context.engaged ? {} : { engaged: true, costBefore: context.totalCost };

/**
 * Absent where the engine did not say: nothing is not zero. Rounded, because sums of floats show their dust.
 */
export function costOf({ totalCost, costBefore = 0 }: SessionContext): { readonly costUsd?: number } {
  return totalCost > costBefore ? { costUsd: Math.round((totalCost - costBefore) * 1e6) / 1e6 } : {};
}
