import type { StepActor, WorkflowDefinition, WorkflowNode } from '../../../machines/graph/definition.js';
import type { Json } from '../../../machines/outputs.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { App } from '../app.js';
import { definitionAt } from './definitions.js';

/** Receipts as the API shows them: with what the definition says of their node, and the attempt's input. */

/** All receipts of a run, oldest first: every attempt of every round. */
export async function listReceipts(
  app: App,
  view: RunView,
  query: {
    readonly after?: number | undefined;
    /** The same. */
    readonly cursor?: number | undefined;
    readonly limit: number;
  },
): Promise<Json> {
  const { cursor, after = cursor ?? 0, limit } = query;
  const definition = await definitionAt(app, view.workflowId, view.definitionVersion);
  const rows = await app.supervisor.rows({ kind: 'workflow-run', id: view.runId }, 'receipts', {
    after,
    limit,
  });
  const receipts = await Promise.all(
    rows.map(({ n, row }) => receiptOf(app, view, definition, Number(n), row)),
  );
  const last = rows.length === limit ? rows.at(-1)?.n : undefined;
  return {
    receipts,
    total: view.receipts,
    nextAfter: last === undefined ? null : Number(last),
    nextCursor: last === undefined ? null : String(last),
  };
}

/** One per node but for triggers, which do nothing; in order: the newest, or that it is pending. */
export function newestReceipts(
  app: App,
  view: RunView,
  definition: WorkflowDefinition | undefined,
): Promise<readonly Json[]> {
  return Promise.all(
    view.order
      .filter((nodeId) => typeOf(definition, nodeId) !== 'trigger')
      .map(async (nodeId): Promise<Json> => {
        const step = view.steps[nodeId];
        if (step === undefined)
          return {
            nodeId,
            ...partOf(definition, nodeId),
            status: 'pending',
            attempt: 0,
            round: view.rounds,
            at: null,
          };
        const [row] = await app.supervisor.rows({ kind: 'workflow-run', id: view.runId }, 'receipts', {
          after: step.row - 1,
          limit: 1,
        });
        return receiptOf(app, view, definition, step.row, row?.row ?? { nodeId, status: step.status });
      }),
  );
}

async function receiptOf(
  { supervisor }: App,
  { runId }: RunView,
  definition: WorkflowDefinition | undefined,
  n: number,
  row: Json,
): Promise<Json> {
  const receipt = row as { readonly nodeId: string; readonly [member: string]: Json };
  const [input] =
    receipt['dispatchedAt'] === undefined
      ? []
      : await supervisor.rows({ kind: 'workflow-run', id: runId }, 'inputs', { after: n - 1, limit: 1 });
  const { outcome, sessionId } = receipt;
  return {
    receipt: n,
    ...partOf(definition, receipt.nodeId),
    ...receipt,
    ...(input?.n === n ? { input: input.row } : {}),
    ...(outcome === undefined || sessionId === undefined
      ? {}
      : { outcome: { sessionId, ...(outcome as { readonly [member: string]: Json }) } }),
  };
}

const typeOf = (definition: WorkflowDefinition | undefined, nodeId: string): string | undefined =>
  definition?.nodes.find(({ id }) => id === nodeId)?.type;

/** Label and actor stand in the definition. */
function partOf(
  definition: WorkflowDefinition | undefined,
  nodeId: string,
): { readonly label: string; readonly type: string; readonly actor: Json } {
  const node = definition?.nodes.find(({ id }) => id === nodeId);
  return { label: node?.label ?? nodeId, type: node?.type ?? 'step', actor: actorOf(node) };
}

function actorOf(node: WorkflowNode | undefined): Json {
  if (node?.type !== 'step') return null;
  const { actor }: { readonly actor: StepActor } = node;
  return {
    kind: actor.kind,
    ref:
      'ref' in actor
        ? actor.ref
        : actor.kind === 'connector-send'
          ? actor.connector
          : actor.kind === 'workflow'
            ? actor.workflowId
            : actor.kind === 'work-item'
              ? actor.operation
              : null,
  };
}
