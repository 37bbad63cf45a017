/** What an agent may do without asking a person, and what it has asked. */

/** `ask` every time, or not for the tools of `allow` (`Bash`, `mcp__gw__*`), or never (`full`). */
export type ToolPolicy = { readonly mode: 'ask' | 'allow-list' | 'full'; readonly allow: readonly string[] };

/** A tool that the running turn may use only after a person said so. `n` is its row in `permissions`. */
export type PermissionAsked = {
  readonly id: string;
  readonly n: number;
  readonly tool: string;
  readonly title: string;
  readonly askedAt: number;
  readonly expiresAt: number;
};
