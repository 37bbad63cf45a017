import { anchoredRule, commonRules, ruleAllows, type Asked } from './tool-rule.js';

/** What an agent may do without permission, and what it has asked. */

/** `ask` every time, or not for what the rules of `allow` name (`Bash(git *)`, `mcp__gw__*`), or never (`full`). */
export type ToolPolicy = { readonly mode: 'ask' | 'allow-list' | 'full'; readonly allow: readonly string[] };

/** A tool that the running turn may use only after a person said so. `n` is its row in `permissions`. */
export type PermissionAsked = {
  readonly id: string;
  readonly n: number;
  readonly tool: string;
  readonly title: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** The rule that "always" stands for; null where only this one use can be allowed. Absent before there were any. */
  readonly rule?: string | null;
};

/** What a session is told of tools. */
export type ToolEvent =
  /** `text` is what the tool would be given, as the person who decides reads it. */
  | {
      readonly type: 'permission.asked';
      readonly permissionId: string;
      readonly turnId: string;
      readonly tool: string;
      readonly title: string;
      readonly text: string;
      readonly waitMs: number;
      /** What "always" would allow. Absent: only this one use can be allowed. */
      readonly rule?: string;
    }
  | {
      readonly type: 'permission.decided';
      readonly permissionId: string;
      readonly decision: 'allow' | 'deny';
      readonly note?: string;
      readonly always?: boolean;
      /** With `always`: another rule than the one that was offered. */
      readonly rule?: string;
    }
  | { readonly type: 'permission.expired'; readonly permissionId: string }
  /** Mode and rules from now on, also for the turn that runs. */
  | { readonly type: 'permissions.set'; readonly toolPolicy: ToolPolicy };

/** What a person may choose for a session: ask for everything, for all but changes of files in its folder, or never. */
export type PermissionMode = (typeof permissionModes)[number];
export const permissionModes = ['ask', 'edits', 'full'] as const;

/** `policyOfMode('edits')` allows `Edit(**)`, below the working folder once it is anchored. */
export const policyOfMode = (mode: PermissionMode): ToolPolicy =>
  mode === 'edits' ? { mode: 'allow-list', allow: ['Edit(**)'] } : { mode, allow: [] };

/** May the agent use it without permission? */
export const mayUse = ({ mode, allow }: ToolPolicy, asked: Asked): boolean =>
  mode === 'full' || (mode === 'allow-list' && allow.some((rule) => ruleAllows(rule, asked)));

/** Its rules of files hold for that folder, also where they are handed on. */
export const anchored = (policy: ToolPolicy, cwd: string): ToolPolicy => ({
  ...policy,
  allow: policy.allow.map((rule) => anchoredRule(rule, cwd)),
});

/** What both policies let pass. */
export function atMost(own: ToolPolicy, most: ToolPolicy): ToolPolicy {
  if (most.mode === 'full') return own;
  if (own.mode === 'full') return most;
  if (own.mode === 'ask' || most.mode === 'ask') return { mode: 'ask', allow: [] };
  return { mode: 'allow-list', allow: commonRules(own.allow, most.allow) };
}
