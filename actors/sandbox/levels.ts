/**
 * How far an agent is kept from the machine it runs on, each level within the one before.
 *
 * - `off`: as the user who runs the gateway.
 * - `home`: sees nothing of the gateway's home but its own folder, and no process but its own; nothing of it
 *   outlives its turn.
 * - `workspace`: also writes only its working folder and a private temporary folder, and sees no keys, cloud
 *   credentials or browsers of the user.
 * - `strict`: also has no network but its gateway and named hosts.
 */
export const sandboxLevels = ['off', 'home', 'workspace', 'strict'] as const;
export type SandboxLevel = (typeof sandboxLevels)[number];

/** The narrower of two levels. `narrower('home', 'strict')` → `'strict'` */
export const narrower = (one: SandboxLevel, other: SandboxLevel): SandboxLevel =>
  sandboxLevels.indexOf(one) >= sandboxLevels.indexOf(other) ? one : other;

export const isWithin = (level: SandboxLevel, outer: SandboxLevel): boolean =>
  sandboxLevels.indexOf(level) >= sandboxLevels.indexOf(outer);
