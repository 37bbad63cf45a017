/**
 * Settings that are read where they are used, and so can change under a running gateway. All others are built
 * in.
 */
export const liveKeys: readonly string[] = [
  'gateway.allowedHosts',
  'gateway.allowedOrigins',
  'gateway.allowFileCustomPaths',
  'gateway.allowFileOpen',
  'gateway.socketsMax',
  'portal.companyName',
  'portal.companyPrefix',
  'portal.timeZone',
  'sessions.interruptOnNewMessage',
  'sessions.roots',
  'sessions.cwd',
  'sessions.worktree',
  'sessions.commitTurns',
  'sessions.keepWorktreeDays',
  'sessions.keepToolOutput',
  'sessions.turnDeadlineMinutes',
  'sessions.silenceMinutes',
  'sessions.silenceAction',
  'agents.sandbox',
  'agents.sandboxRequired',
  'agents.sandboxHosts',
  'agents.memoryMegabytesMax',
  'agents.resume',
  'agents.quotas',
  'agents.tools',
  'notify.to',
  'notify.command',
  'notify.push',
  'notify.what',
  'notify.afterSeconds',
  'notify.timeoutSeconds',
  'notify.url',
  'backup.to',
  'backup.everyHours',
  'backup.keep',
  'backup.include',
  'backup.encrypt',
  'backup.secretsFile',
  'backup.endpoint',
  'backup.region',
  'budgets.enforce',
  'logging.level',
];

/** Takes effect by `POST /api/connectors/reload`. */
export const reloadKey = 'connectors.instances';

export const isLive = (key: string): boolean => liveKeys.includes(key);
