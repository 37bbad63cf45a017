import { keep, tell, type Json, type Wish } from '../ground.js';
import { isoTime } from '../iso-time.js';
import type { EvidenceResult, RunContext } from './context.js';

/** Whom a run tells of itself: the session that asked for it, and the step of another run that it is. */

/** It waits for somebody. */
export function tellParked(context: RunContext, at: number): { readonly set: Partial<RunContext>; readonly wishes: readonly Wish[] } {
  const where = Object.values(context.gates).map(({ nodeId, kind, target }) => `${kind} at "${nodeId}"${target === null ? '' : ` (routed to ${target})`}`).join(', ');
  return episode(context, at, 'parked', 'parked', `It waits for: ${where}.`);
}

/** It has ended, and its evidence is kept as far as that was possible. */
export function tellEnded(context: RunContext, at: number, { evidence, result }: EvidenceResult): { readonly set: Partial<RunContext>; readonly wishes: readonly Wish[] } {
  const error = context.errors.at(-1)?.message ?? null;
  const words = error ?? (result === undefined || Object.keys(result).length === 0 ? '' : `Result: ${JSON.stringify(result).slice(0, 2_000)}`);
  const { set, wishes } = episode(context, at, 'terminal', context.status, words);
  const { parent, reportTo } = context;
  const outcome = context.status === 'completed' ? 'succeeded' : context.status === 'cancelled' ? 'interrupted' : 'failed';
  return {
    set: { ...set, evidence },
    wishes: [
      ...(result === undefined ? [] : [keep('results', 1, result)]),
      ...wishes,
      ...(parent === null ? [] : [tell({ kind: 'workflow-run', id: parent.runId }, {
        type: 'step.ended', nodeId: parent.nodeId, round: parent.round, attempt: parent.attempt, worker: { kind: 'workflow-run', id: context.id }, costUsd: context.costUsd,
        outcome, text: `The run ${context.id} ${context.status}.`, error, ...(result === undefined ? {} : { fields: result as Json }),
      })]),
      ...(reportTo === null ? [] : [tell(reportTo, { type: 'work.ended', runId: context.id, outcome, text: `The run ${context.id} of "${context.title}" ${context.status}. ${words}`.trim(), error })]),
    ],
  };
}

function episode(context: RunContext, at: number, kind: 'parked' | 'terminal', outcome: string, words: string): { readonly set: Partial<RunContext>; readonly wishes: readonly Wish[] } {
  const { report, id, title } = context;
  if (report === null || report.mode === 'silent') return { set: {}, wishes: [] };
  const sequence = context.reports + 1;
  const token = `${id}:${sequence}`;
  const summary = `Workflow run ${id} ("${title}") is ${outcome}. ${words}`.trim();
  return {
    set: { reports: sequence },
    wishes: [
      keep('reports', sequence, { sequence, token, kind, outcome, createdAt: isoTime(at), summary }),
      tell({ kind: 'session', id: report.sessionId }, {
        type: 'message.post',
        message: { id: token.slice(-64), content: summary, role: 'notification', kind: 'callback', meta: { kind: 'workflow-run', runId: id, workflowId: context.workflowId, outcome } },
      }),
    ],
  };
}
