/** What is found about the place of a turn as it begins: how its agent is confined, and what its project sets. */
export type TurnBegan = {
  readonly type: 'turn.began';
  readonly turnId: string;
  readonly sandbox?: SandboxInForce;
  readonly untrusted?: UntrustedSettings;
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
