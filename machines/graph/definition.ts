import type { Json } from '../outputs.js';
import type { Condition } from './conditions.js';
import type { ValueShape } from './value-shape.js';

/**
 * A workflow definition in its normal form: what `parseDefinition` makes of anything that a person or an
 * agent wrote, what is stored as one immutable version (row `versions`, n = version, of the actor
 * `workflow/<id>`; `status` and `updatedAt` as they were then), and what a run is frozen to. Plain JSON;
 * every member with a default is there.
 *
 * **How a graph runs.** The trigger node is done at creation. A node is ready when every edge into it is decided
 * and one at least was *taken*; when all were *dead* it is skipped and all edges out of it are dead, so
 * nothing waits for a path that cannot come. (A `merge` of mode `any` is ready with the first taken edge, and
 * takes no second one in the same round.) An edge is taken when its source ended well and all its conditions
 * hold; an edge of lane `error` only when its source failed. A `switch` of mode `first` takes the first edge,
 * in the order of `edges`, whose conditions hold, with edges without conditions last; of mode `all` each that
 * holds. A `loop` edge leads back: taking it starts the next round of all nodes between its ends, at most
 * `maxRounds` times, afterwards it is dead. The run has completed when nothing is left to do.
 */
export interface WorkflowDefinition {
  /** Version of this shape. */
  readonly schemaVersion: 1;
  /** Given at creation; never changes. */
  readonly id: string;
  /** `[a-z0-9]+(-[a-z0-9]+)*`, unique among the definitions that are not retired. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Null: none. */
  readonly description: string | null;
  /** 1 at creation, one more with every write. */
  readonly version: number;
  /** Only an active one is run. */
  readonly status: WorkflowStatus;
  /** Employee whose definition it is. */
  readonly owner: string | null;
  /** Null: of no department. */
  readonly department: string | null;
  /** Employees who may run and cancel it beside its owner and managers. */
  readonly runners: readonly string[];
  /** Employee who conducts the runs. */
  readonly orchestrator: string | null;
  /** What a run must be given. Absent members of an absent shape: anything. */
  readonly input: ValueShape | null;
  /** Its steps; ids are unique. */
  readonly nodes: readonly WorkflowNode[];
  /** What follows what. */
  readonly edges: readonly WorkflowEdge[];
  /** Gates before the first step of a run. */
  readonly runGates: readonly Gate[];
  /** Bounds of all loops together; null: none. */
  readonly loop: LoopPolicy | null;
  /** Runs at once, 1 to 8; further ones wait. */
  readonly concurrency: number;
  /** Whether the places at which an editor draws the nodes are made, moved or set by hand: `source`; `version` of that. */
  readonly layout: { readonly source: 'generated' | 'normalized' | 'manual'; readonly version: 1 };
  /** As `callerName` writes it. */
  readonly createdBy: string;
  /** ISO-8601. */
  readonly createdAt: string;
  /** ISO 8601, UTC. */
  readonly updatedAt: string;
}

/** How a workflow is, in the words of the API. */
export type WorkflowStatus = 'active' | 'paused' | 'retired';

export interface LoopPolicy {
  /** Ceiling of the loop edges that name none. */
  readonly maxRoundsPerRun: number | null;
  /** No edge leads back any more once all of these hold. */
  readonly stopWhen: readonly Condition[];
  /** A schedule starts no more runs after this many, or after this time (ISO-8601). */
  readonly maxRuns: number | null;
  readonly until: string | null;
}

interface NodeBase {
  /** `[A-Za-z0-9_][A-Za-z0-9._-]*`, at most 128 characters; 119 where it wakes by the clock. */
  readonly id: string;
  readonly label: string;
  readonly position: { readonly x: number; readonly y: number };
}

/** A node of a definition, by its type. */
export type WorkflowNode =
  | TriggerNode
  | StepNode
  | GateNode
  | SwitchNode
  | FailNode
  | WaitNode
  | MergeNode
  | EndNode;

export interface TriggerNode extends NodeBase {
  readonly type: 'trigger';
  readonly trigger: Trigger;
}

/**
 * How runs begin. `manual` (also by an agent or another workflow) is always possible. Webhooks and polls are
 * bindings beside the definition.
 */
export type Trigger =
  | { readonly kind: 'manual' }
  | {
      readonly kind: 'schedule';
      readonly cron: string;
      readonly timezone: string;
      readonly until: string | null;
    }
  | {
      readonly kind: 'todo-status-change';
      readonly toStatus: string;
      readonly fromStatus: string | null;
      readonly filter: {
        readonly source: string | null;
        readonly department: string | null;
        readonly assignee: string | null;
      };
    };

export interface StepNode extends NodeBase {
  readonly type: 'step';
  readonly actor: StepActor;
  readonly role: string | null;
  /** What an agent is told. May hold `{{path}}`. */
  readonly instructions: string;
  readonly cadence: string | null;
  /** Gates before this step; each parks the run at this node. */
  readonly gates: readonly Gate[];
  /** An optional step that fails is `skipped`, and the run goes on as if it had succeeded. */
  readonly optional: boolean;
  /** What `outcome.fields` must look like. Absent: whatever the agent says last. */
  readonly output: ValueShape | null;
  readonly options: StepOptions;
}

/**
 * Who does a step: an agent in a session of its own, or a plain action. Texts may hold `{{path}}`, see
 * paths.ts.
 */
export type StepActor = SessionActor | ActionActor;
export type SessionActor =
  | { readonly kind: 'employee'; readonly ref: string }
  | { readonly kind: 'engine'; readonly ref: string };
export type ActionActor =
  | { readonly kind: 'noop' }
  | {
      readonly kind: 'connector-send';
      readonly connector: string;
      readonly channel: string;
      readonly text: string;
      readonly thread: string | null;
    }
  | {
      readonly kind: 'http';
      readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Strings in it may hold `{{path}}`. */
      readonly body: Json;
    }
  | {
      readonly kind: 'work-item';
      readonly operation: WorkItemOperation;
      readonly id: string | null;
      readonly fields: Readonly<Record<string, Json>>;
    }
  | {
      readonly kind: 'workflow';
      readonly workflowId: string;
      readonly input: Readonly<Record<string, Json>>;
    };
/**
 * `create` needs fields.title; the others need `id`: `status` fields.status (and note), `assign`
 * fields.assignee, `comment` fields.text, `archive` maybe fields.note.
 */
export type WorkItemOperation = 'create' | 'status' | 'assign' | 'comment' | 'archive';

export interface StepOptions {
  readonly model: string | null;
  readonly effort: string | null;
  /** What the steps after it are shown of this one. */
  readonly output: 'handoff' | 'full' | 'none';
  /** `maxAttempts` 1 to 5 counts the first. Default: once more after `interrupted`. */
  readonly retry: {
    readonly maxAttempts: number;
    readonly on: readonly RetryCause[];
    readonly delayMs: number;
  };
  readonly onError: 'fail-run' | 'continue' | 'error-edge';
  /** Each attempt's deadline. */
  readonly timeoutMs: number;
  readonly session: { readonly mode: 'fresh' | 'workflow' | 'existing'; readonly sessionId: string | null };
}
export type RetryCause = 'error' | 'no-output' | 'interrupted' | 'timeout';

/**
 * A place where a run waits for someone or something. `approval`: a person or manager. `artifact`: an
 * outcome before it names an artifact that matches `glob`. `flag`: an outcome before it has a field of that
 * name that is true. Anyone who may decide an approval may also resolve the others by hand.
 */
export interface Gate {
  readonly id: string;
  readonly kind: 'approval' | 'artifact' | 'flag';
  readonly glob: string | null;
  readonly flag: string | null;
  /** A name for the approval; an employee's name routes it to them. */
  readonly approvalRef: string | null;
  readonly description: string;
  /** The gate is rejected when no one came until then. Always set for artifact and flag. */
  readonly timeoutMs: number | null;
}

export interface GateNode extends NodeBase {
  readonly type: 'gate';
  readonly gate: Gate;
}
export interface SwitchNode extends NodeBase {
  readonly type: 'switch';
  readonly switchMode: 'firstMatch' | 'allMatches';
}
/** Reaching it fails the run. */
export interface FailNode extends NodeBase {
  readonly type: 'fail';
  readonly failMessage: string;
}
/** One of the two is set. */
export interface WaitNode extends NodeBase {
  readonly type: 'wait';
  readonly waitMinutes: number | null;
  readonly waitUntil: string | null;
}
/** `all` waits for every live edge, `any` for the first. */
export interface MergeNode extends NodeBase {
  readonly type: 'merge';
  readonly mode: 'all' | 'any';
}
/**
 * The end of a branch. `result` names what a run gives back, e.g. `{answer:
 * 'steps.think.outcome.fields.answer'}`.
 */
export interface EndNode extends NodeBase {
  readonly type: 'end';
  readonly result: Readonly<Record<string, string>>;
}

/** An edge of a definition, from one node to another. */
export interface WorkflowEdge {
  /** Unique among the edges. */
  readonly id: string;
  /** Id of the node that it leaves. */
  readonly from: string;
  /** Id of the node that it enters. */
  readonly to: string;
  /** `handoff` also hands the outcome of its source on to its target as context; `loop` leads back. */
  readonly kind: 'sequence' | 'handoff' | 'loop';
  /** `error`: taken where the source failed. Null: where it succeeded. */
  readonly lane: 'error' | null;
  /** For people; null: none. */
  readonly label: string | null;
  /** All must hold. At most 8. */
  readonly when: readonly Condition[];
  /** Set on loop edges only: how often it may be taken in one run. */
  readonly maxRounds: number | null;
}

/** An agent does this step, in a session; otherwise it is a plain action. */
export const isSessionActor = (actor: StepActor): actor is SessionActor =>
  actor.kind === 'employee' || actor.kind === 'engine';

/**
 * Bounds of a definition. The numbers of times are minutes where they say so.
 * @example const isTooLarge = ({ nodes }: WorkflowDefinition) => nodes.length > definitionLimits.nodesMax;
 */
export const definitionLimits = {
  nodesMax: 96,
  edgesMax: 384,
  edgesPerNodeMax: 4,
  definitionBytesMax: 256 * 1024,
  idCharsMax: 128,
  /**
   * Of a workflow that wakes by the clock: its cron job is called `workflow:<id>`, and ids of jobs have at
   * most 128 characters.
   */
  scheduledIdCharsMax: 119,
  titleCharsMax: 200,
  descriptionCharsMax: 4_000,
  instructionsCharsMax: 32_000,
  failMessageCharsMax: 500,
  minutesMax: 10_080,
  attemptsMax: 5,
  retryDelayMsMax: 3_600_000,
  concurrencyMax: 8,
  roundsMax: 1_000,
  gatesMax: 8,
  conditionsMax: 8,
  runnersMax: 64,
  /** Of a step that names none. */
  stepTimeoutMs: 24 * 3_600_000,
  /** Of an artifact or flag gate that names none: a week. */
  gateTimeoutMs: 10_080 * 60_000,
} as const;
