/**
 * A defect put back: small changes of the compiled code, made while it is loaded. Each `from` must occur exactly once
 * in the kernel, the store, the machines, effects and commands together, so that a change of the code that makes a planted fault void is noticed. No
 * files are named: they may move.
 */
export interface Planted {
  readonly name: string;
  /** The finding it puts back, or what it takes away. */
  readonly what: string;
  readonly edits: readonly Edit[];
  /** Where it is met. Default: the workshop. */
  readonly world?: 'fleet';
}

export interface Edit {
  readonly from: string;
  readonly to: string;
}

/** Below dist/: where defects are planted. */
export const folders = ['lib/store', 'lib/supervisor', 'lib/commands', 'machines', 'actors'] as const;
