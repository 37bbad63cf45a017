import type {
  ActionActor,
  SessionActor,
  StepOptions,
  WorkflowDefinition,
} from '../../machines/graph/definition.js';
import type { Attempted, StepOutcome } from '../../machines/workflow-run/context.js';

/**
 * What the effects of a run may reach. A gateway wires all of it (lib/commands/workflow-runs/ports.ts); a
 * program of your own may give less, and steps that need the rest fail with a sentence. Every operation is given a
 * key under which it may be repeated; `signal` aborts when the step is left.
 */
export interface WorkflowPorts {
  /** A version of a definition, for ever the same. */
  definition(workflowId: string, version: number): Promise<WorkflowDefinition | undefined>;
  openSession?(input: StepSession): Promise<Opened>;
  startRun?(input: ChildRun): Promise<Opened>;
  send?(input: ActionCall<'connector-send'>): Promise<StepOutcome>;
  request?(input: ActionCall<'http'>): Promise<StepOutcome>;
  workItem?(input: ActionCall<'work-item'>): Promise<StepOutcome>;
  /** Keep these files as evidence; `off`: no evidence is kept. */
  keepEvidence?(
    workflowId: string,
    runId: string,
    files: Readonly<Record<string, string>>,
  ): Promise<'written' | 'off'>;
  /** A run has ended: the next one that waits for room may begin. */
  admitNext?(workflowId: string): Promise<void>;
}

/** The place of an operation: which attempt of which run, and the key that it may be repeated under. */
export interface Placed extends Attempted {
  readonly runId: string;
  readonly workflowId: string;
  readonly key: string;
  readonly signal: AbortSignal;
}

/** An action with its texts filled in. */
export type ActionCall<Kind extends ActionActor['kind']> = Placed & {
  readonly action: Extract<ActionActor, { readonly kind: Kind }>;
};

export interface StepSession extends Placed {
  readonly actor: SessionActor;
  readonly prompt: string;
  readonly title: string;
  readonly options: StepOptions;
}

export type ChildRun = ActionCall<'workflow'>;

/** The address of what was opened, or why it could not be. */
export type Opened = { readonly id: string } | { readonly refused: string };
