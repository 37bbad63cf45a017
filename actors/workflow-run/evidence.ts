import { parsePath, readPath } from '../../machines/graph/paths.js';
import type { Json } from '../../machines/outputs.js';
import type { EvidenceCall, EvidenceResult } from '../../machines/workflow-run/context.js';
import type { EffectContext, AtLeastOnceEffect } from '../contracts.js';
import type { WorkflowPorts } from './ports.js';
import { scopeOf } from './prompt.js';

/**
 * Keeps a run as files: `run.json` and `receipts.jsonl`, written whole whenever it parks and when it has
 * ended. They are outputs and are never read back. A run that has ended also learns here what it gives back,
 * and lets the next one in.
 */
export function workflowEvidenceEffect(
  portsOf: (context: EffectContext) => WorkflowPorts,
): AtLeastOnceEffect<EvidenceCall, EvidenceResult> {
  return {
    guarantee: 'at-least-once',
    async run(call, context) {
      const ports = portsOf(context);
      const ended = call.status !== 'parked';
      if (ended) await ports.admitNext?.(call.workflowId);
      const result = call.status === 'completed' ? await resultOf(ports, call, context) : undefined;
      const kept = await keep(ports, call, context, result);
      return { ...kept, ...(result === undefined ? {} : { result }) };
    },
  };
}

async function keep(
  ports: WorkflowPorts,
  { workflowId, runId, definitionVersion, status }: EvidenceCall,
  context: EffectContext,
  result: Json | undefined,
): Promise<Pick<EvidenceResult, 'evidence' | 'reason'>> {
  if (ports.keepEvidence === undefined) return { evidence: 'off' };
  try {
    const [receipts, given, reports] = await Promise.all([
      context.rows('receipts', { last: receiptsMax }),
      context.rows('given'),
      context.rows('reports'),
    ]);
    const run = {
      runId,
      workflowId,
      definitionVersion,
      status,
      ...(given[0] as object | undefined),
      ...(result === undefined ? {} : { result }),
      reports,
    };
    return {
      evidence: await ports.keepEvidence(workflowId, runId, {
        'run.json': `${JSON.stringify(run, null, 2)}\n`,
        'receipts.jsonl': receipts.map((receipt) => `${JSON.stringify(receipt)}\n`).join(''),
      }),
    };
  } catch (error) {
    // the run itself is safe in the store; that its copy could not be written must not keep it from ending
    return { evidence: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

const receiptsMax = 100_000;

/** What the ends that were reached name, read from the outcomes. */
async function resultOf(
  ports: WorkflowPorts,
  { workflowId, definitionVersion, runId }: EvidenceCall,
  context: EffectContext,
): Promise<EvidenceResult['result']> {
  const definition = await ports.definition(workflowId, definitionVersion);
  const ends =
    definition?.nodes.flatMap((node) =>
      node.type === 'end' ? Object.entries(node.result).map(([name, path]) => ({ name, path })) : [],
    ) ?? [];
  if (ends.length === 0) return undefined;
  const scope = await scopeOf({ id: runId, rounds: 1, status: 'completed' }, context);
  const found = ends.map(({ name, path }) => {
    const parsed = parsePath(path, (id) => Object.hasOwn(scope.steps, id));
    return [name, parsed === undefined ? undefined : readPath(parsed, scope)] as const;
  });
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}
