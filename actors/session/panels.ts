import type { SessionContext } from '../../machines/session/context.js';
import type { Panel } from '../panel.js';

/** What a session has used so far, and what it belongs to, for its page in the inspector. */
export function sessionPanels({
  totalTurns,
  totalCost,
  usage,
  lastContextTokens,
  contextWindow,
  workItemId,
  sandbox,
}: SessionContext): readonly Panel[] {
  return [
    {
      type: 'key-values',
      title: 'Used so far',
      values: {
        turns: totalTurns,
        dollars: Math.round(totalCost * 10_000) / 10_000,
        'tokens read': usage.inputTokens,
        'of them cached': usage.cachedTokens,
        'tokens written': usage.outputTokens,
        'tokens of its context': lastContextTokens,
        ...(contextWindow != null && { 'that its context holds': contextWindow }),
        confinement: sandbox?.level ?? null,
      },
    },
    ...(workItemId === null
      ? []
      : [
          {
            type: 'links' as const,
            title: 'Works on',
            links: [{ label: workItemId, to: { kind: 'work-item', id: workItemId } }],
          },
        ]),
  ];
}
