/** Where and how the turns of a session run. Plain JSON. */

/** Which worker on another machine: by its name once that is known, else by all of these labels. */
export type Placement = { readonly worker: string | null; readonly labels: readonly string[] };

/** What is found about the place of a turn as it begins: how its agent is confined, and what its project sets. */
export type TurnBegan = {
  readonly type: 'turn.began';
  readonly turnId: string;
  readonly sandbox?: SandboxInForce;
  readonly untrusted?: UntrustedSettings;
  readonly silence?: SilenceRule;
  /** The worker that runs it; its session stays there. */
  readonly worker?: string;
};

/** A level of `agents.sandbox`, and why it is not the one that was asked for. */
export type SandboxInForce = {
  readonly level: string;
  readonly asked: string;
  readonly reason: string | null;
};

/** Files of a project that permit tools or run programs, `.claude/settings.json (hooks)`, and their hash. */
export type UntrustedSettings = {
  readonly folder: string;
  readonly sha256: string;
  readonly files: readonly string[];
};

/** How long a turn may be silent, and what is done then. */
export type SilenceRule = { readonly ms: number; readonly action: 'show' | 'end' };
