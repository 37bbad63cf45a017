import type { PermissionMode } from '../../machines/session/tool-policy.js';

/** For options of commands, which load nothing of the machines to start at once. All of them: else it does not compile. */
export const permissionModes = Object.keys({
  ask: true,
  edits: true,
  full: true,
} satisfies Record<PermissionMode, true>);
