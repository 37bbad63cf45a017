import type { App } from '../app.js';
import { runsAbove } from '../workflow-runs/read-run.js';

/**
 * Does a message say what these sessions said? They may have sent it themselves, or a cron job or a workflow, which
 * sends what came of their work.
 * @example await isAbout(app, 'cron-fire:daily@1700000000000', ['s-1'])
 */
export async function isAbout(app: App, requestedBy: string, sessions: readonly string[]): Promise<boolean> {
  const [, kind, id = ''] = /^(session|cron-fire|workflow-run):(.+)$/s.exec(requestedBy) ?? [];
  if (kind === 'session') return sessions.includes(id);
  if (kind === 'workflow-run') return isRunOf(app, id, sessions);
  if (kind !== 'cron-fire') return false;
  const fire = (await app.supervisor.get('cron-fire', id))?.view;
  if (fire === undefined) return false;
  if (fire.sessionId != null && sessions.includes(fire.sessionId)) return true;
  return fire.workflowRunId != null && isRunOf(app, fire.workflowRunId, sessions);
}

/** Also of a run that this one is a step of, whose input it was given. */
async function isRunOf(app: App, runId: string, sessions: readonly string[]): Promise<boolean> {
  const runs = await runsAbove(app, runId);
  // They worked at a step, asked for the run, or are told of its end: wherever it names them
  const said = JSON.stringify(runs);
  if (sessions.some((id) => said.includes(`"${id}"`))) return true;
  for (const id of sessions) {
    const from = (await app.supervisor.get('session', id))?.view.sourceRef ?? '';
    if (runs.some((run) => from.startsWith(`workflow-run:${run.runId}:`))) return true; // an attempt before the last
  }
  return false;
}
