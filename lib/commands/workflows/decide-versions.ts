import type { Json } from '../../../machines/outputs.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { App } from '../app.js';
import { optionsOf, type Request } from '../request.js';
import { followSchedule } from '../workflow-runs/follow-schedule.js';

/** Versions of workflows that an agent wrote, and that a person must approve before they start. */

/**
 * Those that wait, longest first, at most 1,000: what each holds that an agent may not do unapproved, and the version
 * before it that was approved last (null: none of the latest 100).
 */
export async function pendingVersions({ supervisor }: App): Promise<readonly Json[]> {
  const { items } = await supervisor.list('workflow', { index: 'pending', limit: 1_000 });
  return Promise.all(
    items.map(async ({ id, row }) => {
      const known = await supervisor.rows({ kind: 'workflow', id }, 'authority', { last: 100 });
      const approved = known.findLast((one) => one.row.state === 'approved');
      return { ...(row as Readonly<Record<string, Json>>), approvedVersion: approved?.row.version ?? null };
    }),
  );
}

export interface VersionNamed {
  readonly workflowId: string;
  readonly version: number;
}

/**
 * Approve or reject exactly these versions, one after the other: one that has changed meanwhile says so and keeps
 * no other from being decided.
 * @example await decideVersions(request, 'approve', [{ workflowId: 'digest', version: 3 }])
 */
export async function decideVersions(
  request: Request,
  decision: 'approve' | 'reject',
  versions: readonly VersionNamed[],
): Promise<readonly Json[]> {
  const outcomes: Json[] = [];
  for (const { workflowId, version } of versions) {
    const event = { type: 'version.decide', version, decision } as const;
    const { app } = request;
    const view = await app.supervisor.ask('workflow', workflowId, event, optionsOf(request));
    if (isRefusal(view)) {
      outcomes.push({ workflowId, version, code: view.code, error: view.message });
      continue;
    }
    await followSchedule(app, workflowId);
    await app.subscribers?.poll(app);
    outcomes.push({ workflowId, version, authority: view.view.authority ?? null });
  }
  return outcomes;
}
