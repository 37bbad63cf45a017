import { followMissedWorkers } from './commands/missed-workers.js';
import { alignConnectors } from './commands/connectors.js';
import { followClock } from './commands/cron.js';
import { followSchedules } from './commands/workflow-runs/follow-schedule.js';
import {
  reportInterruptedTurns,
  type InterruptedTurns,
} from './commands/sessions/report-interrupted-turns.js';
import { resumeErasures } from './commands/sessions/erase-contents.js';
import { dropRested } from './commands/sessions/clean-work.js';
import { dropOutput } from './commands/sessions/drop-output.js';
import { homeId } from '../actors/home/kind.js';
import { noBackup, type BackupState } from '../machines/home/machine.js';
import { daily } from './commands/daily.js';
import { shipAudit } from './records/audit/ship-audit.js';
import { auditTargets, type AuditSettings } from './records/audit/targets.js';
import { announceFact } from './records/records.js';
import { scheduleBackups, type BackupSchedule, type ScheduledBackups } from './home/scheduled-backups.js';
import type { App } from './commands/app.js';
import type { Environment } from './environment.js';
import type { Opened } from './opened.js';
import { version } from './version.js';

/** Those who act by themselves: on changes of work items, due reviews, the clock, and what the last life left. */
export async function startFollowing(app: App, opened: Opened, interrupted: InterruptedTurns): Promise<void> {
  const { supervisor, connectors } = app;
  const { log } = supervisor.environment;
  for (const follower of [app.subscribers, app.reviews, app.notifications]) {
    opened.add(() => follower?.close());
    await follower?.poll(app);
  }
  const clock = followClock(app, failed(log, 'could not notify cron jobs that the clock was set back'));
  opened.add(() => clock.close());
  const missed = followMissedWorkers(app, failed(log, 'could not report which workers turns wait for'));
  opened.add(() => missed.close());
  const reporting = reportInterruptedTurns(
    supervisor,
    interrupted,
    failed(log, 'could not report interrupted turns'),
  );
  opened.add(() => reporting.close());
  const erasing = new AbortController();
  opened.add(() => erasing.abort());
  void resumeErasures(app, {
    signal: erasing.signal,
    onWaiting: (sessions) => log.warn({ sessions }, 'an erasure waits for sessions at work'),
  }).catch(failed(log, 'could not finish an erasure'));
  const notCleaned = failed(log, 'could not take away an old worktree');
  const cleaning = daily(app, () => dropRested(app, notCleaned), notCleaned);
  opened.add(() => cleaning.close());
  const notDropped = failed(log, 'could not drop old results of tools');
  const dropping = daily(app, () => dropOutput(app, notDropped), notDropped);
  opened.add(() => dropping.close());
  void followSchedules(app).catch(failed(log, 'could not check the schedules of workflows'));
  if (connectors === undefined) return;
  for (const [connector, reason] of (await alignConnectors(supervisor, connectors)).errors)
    log.error({ connector, reason }, 'could not apply the configuration of a connector');
}

/** Backups by schedule; one that could not be made is logged, published and shown among what waits. */
export function followBackups(
  { supervisor }: App,
  opened: Opened,
  schedule: Pick<BackupSchedule, 'settings' | 'layout' | 'stage'>,
): ScheduledBackups {
  const { clock, log } = supervisor.environment;
  const backups = scheduleBackups({
    ...schedule,
    version,
    clock,
    made: ({ target, seq, files, bytes, newBytes, include, removed }) => {
      const made = { target, seq, files, bytes, newBytes, include, removed };
      log.info(made, 'a backup was made and restored on trial');
      void announceFact(supervisor, 'backup:made', { target, seq, newBytes });
    },
    off: () => {
      const settle = async (): Promise<void> => {
        const home = await supervisor.get('home', homeId);
        const { failing } = (home?.view as { readonly backup: BackupState } | undefined)?.backup ?? noBackup;
        if (failing !== null) await announceFact(supervisor, 'backup:off', {});
      };
      settle().catch(failed(log, 'could not note that no backups are made any more'));
    },
    failed: (error, { to }) => {
      log.error({ err: error, to }, 'a backup could not be made');
      void announceFact(supervisor, 'backup:failed', { to, reason: error.message });
    },
  });
  opened.add(() => backups.close());
  return backups;
}

/** The audit log, passed on to where config.yaml says. */
export function followAudit(
  { records, supervisor }: App,
  opened: Opened,
  { folder, settings }: { readonly folder: string; readonly settings: AuditSettings },
): void {
  const targets = auditTargets(settings);
  if (records === undefined || targets.length === 0) return;
  const { log, clock } = supervisor.environment;
  const shipping = shipAudit({
    folder,
    targets,
    clock,
    onWritten: records.audit.onWritten,
    failed: (error, to) => log.error({ err: error, to }, 'could not pass on the audit log'),
  });
  opened.add(async () => {
    await records.audit.flush(); // what was decided a moment ago is passed on, too
    await shipping.close();
  });
}

/** Logs what a follower could not do. */
export const failed =
  (log: Environment['log'], what: string) =>
  (error: unknown): void =>
    log.error({ err: error }, what);
