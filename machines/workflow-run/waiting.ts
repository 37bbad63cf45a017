import { excerpt } from '../excerpt.js';
import { titleCharsMax, type Waiting } from '../waiting.js';
import { parkedGates } from './gates.js';
import { gatesOf, graphOf } from './graph.js';
import type { RunSnapshot } from './view.js';

/** Its closed gates; but where its work item shows an approval as its own, that item waits, not the run. */
export const runWaiting = ({ context }: RunSnapshot): readonly Waiting[] =>
  parkedGates(context.steps)
    .filter(([, { kind }]) => kind !== 'approval' || context.workItemId === null)
    .map(([gateKey, { kind, nodeId, gateId, target, targetKind, at, escalatedAt }]) => ({
      id: gateKey,
      what: 'gate',
      title: excerpt(`${context.title}: ${gateId} (${kind})`, titleCharsMax),
      within: context.workflowId,
      on: escalatedAt !== null || targetKind === 'virtual' || target === null ? 'operator' : target,
      since: at,
      until: deadlineOf(context, nodeId, gateId, at),
    }));

/** When the gate rejects by itself. */
function deadlineOf(
  context: RunSnapshot['context'],
  nodeId: string,
  gateId: string,
  at: number,
): number | null {
  const node = graphOf(context).nodes.find(({ id }) => id === nodeId);
  const rules = node && gatesOf(node).find(({ id }) => id === gateId);
  return rules?.timeoutMs == null ? null : at + rules.timeoutMs;
}
