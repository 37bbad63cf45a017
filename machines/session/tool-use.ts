/**
 * What a tool would do, in the words of permission rules, whatever the engine calls the tool: run a command, change
 * or read files, fetch from a host. A tool that does none of it is known by its name alone.
 */
export type ToolUse =
  | { readonly tool: 'Bash'; readonly command: string }
  /** Absolute paths, of which none leads through `..`; in both ways where a link leads elsewhere. */
  | { readonly tool: 'Edit' | 'Read'; readonly paths: readonly string[] }
  /** A name in lower case, without a port. */
  | { readonly tool: 'WebFetch'; readonly host: string };
