import { writeRow, sendToActor, type Json, type Decision } from '../outputs.js';
import { isoTime } from '../sortable.js';
import type { EvidenceResult, RunContext, RunStatus } from './context.js';
import { parkedGates } from './gates.js';

/** Whom a run reports to: the session that asked for it, and the step of another run that it is. */

/** It waits for someone; perhaps from the start, and the event of creation has no stamp. */
export function reportParked(context: RunContext): Decision<RunContext> {
  const where = parkedGates(context.steps)
    .map(
      ([, { nodeId, kind, target }]) =>
        `${kind} at "${nodeId}"${target === null ? '' : ` (routed to ${target})`}`,
    )
    .join(', ');
  return episode(context, context.updatedAt, 'parked', 'parked', `It waits for: ${where}.`);
}

/** It has ended, and its evidence is kept as far as that was possible. */
export function reportEnded(
  context: RunContext,
  status: RunStatus,
  at: number,
  { evidence, result }: EvidenceResult,
): Decision<RunContext> {
  const error = context.errors.at(-1)?.message ?? null;
  const words =
    error ??
    (result === undefined || Object.keys(result).length === 0
      ? ''
      : `Result: ${JSON.stringify(result).slice(0, 2_000)}`);
  const { set, outputs } = episode(context, at, 'terminal', status, words);
  const { parent, reportTo } = context;
  const outcome = status === 'completed' ? 'succeeded' : status === 'cancelled' ? 'interrupted' : 'failed';
  return {
    set: { ...set, evidence },
    outputs: [
      ...(result === undefined ? [] : [writeRow('results', 1, result)]),
      ...(outputs ?? []),
      ...(parent === null
        ? []
        : [
            sendToActor(
              { kind: 'workflow-run', id: parent.runId },
              {
                type: 'step.ended',
                nodeId: parent.nodeId,
                round: parent.round,
                attempt: parent.attempt,
                worker: { kind: 'workflow-run', id: context.id },
                costUsd: context.costUsd,
                outcome,
                text: `The run ${context.id} ${status}.`,
                error,
                ...(result === undefined ? {} : { fields: result as Json }),
              },
            ),
          ]),
      ...(reportTo === null
        ? []
        : [
            sendToActor(reportTo, {
              type: 'work.ended',
              runId: context.id,
              outcome,
              text: `The run ${context.id} of "${context.title}" ${status}. ${words}`.trim(),
              error,
            }),
          ]),
    ],
  };
}

function episode(
  context: RunContext,
  at: number,
  kind: 'parked' | 'terminal',
  outcome: string,
  words: string,
): Decision<RunContext> {
  const { report, id, title } = context;
  if (report === null || report.mode === 'silent') return { set: {}, outputs: [] };
  const sequence = context.reports + 1;
  const token = `${id}:${sequence}`;
  const summary = `Workflow run ${id} ("${title}") is ${outcome}. ${words}`.trim();
  return {
    set: { reports: sequence },
    outputs: [
      writeRow('reports', sequence, { sequence, token, kind, outcome, createdAt: isoTime(at), summary }),
      sendToActor(
        { kind: 'session', id: report.sessionId },
        {
          type: 'message.post',
          message: {
            id: token.slice(-64),
            content: summary,
            role: 'notification',
            kind: 'callback',
            meta: { kind: 'workflow-run', runId: id, workflowId: context.workflowId, outcome },
          },
        },
      ),
    ],
  };
}
