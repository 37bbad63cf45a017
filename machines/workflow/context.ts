import { callerName, operator, type Caller } from '../caller.js';
import type { Trigger, WorkflowDefinition, WorkflowStatus } from '../graph/definition.js';
import { parseDefinition, type ReadDefinition } from '../graph/read-definition.js';
import { writeRow, type Json, type Stamp } from '../outputs.js';
import { isoTime } from '../sortable.js';
import { authorityOfFirst, type ShownAuthority, type VersionAuthority } from './version-authority.js';

/**
 * What a workflow knows of itself: the head of its newest version. The definitions are rows `versions`, one
 * per version.
 */
export interface WorkflowContext {
  /** Id of the definition. */
  readonly id: string;
  /** Unique among those that are not retired. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Newest version, from 1. */
  readonly version: number;
  /** Employee whose definition it is; null: none. */
  readonly owner: string | null;
  /** Null: of no department. */
  readonly department: string | null;
  /** Employees who may run it beside its owner and managers. */
  readonly runners: readonly string[];
  /** Most runs at once. */
  readonly concurrency: number;
  /** What starts runs by itself. */
  readonly trigger: Trigger;
  /** Nodes of the newest version. */
  readonly nodeCount: number;
  /** Edges of the newest version. */
  readonly edgeCount: number;
  /** As `callerName` writes it. */
  readonly createdBy: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Who wrote the newest version. */
  readonly updatedBy: string;
  /** Epoch milliseconds of its writing. */
  readonly updatedAt: number;
  /** Of the newest version; those of all versions are rows `authority`. */
  readonly authority: VersionAuthority;
  /** The newest `version` whose evidence files are written (0: none), and the `fault` of the last writing. */
  readonly evidence: { readonly version: number; readonly fault: string | null };
}

/** What a workflow is created with. */
export interface WorkflowInput {
  /** Id of the definition. */
  readonly id: string;
  /** Epoch milliseconds of the creation. */
  readonly at: number;
  /** Who creates it. */
  readonly by?: Caller;
  /** The organisation, as of now. */
  readonly facts?: WorkflowFacts;
  /** As someone wrote it; its id, version, times and maker are not looked at. */
  readonly definition: Json;
  /** Of the version that it is a copy of. */
  readonly copies?: ShownAuthority;
}

/**
 * What a decision must know of the organisation. `of` are the owner and department as stored, `to` as wished.
 */
export interface WorkflowFacts {
  /** The root employee; null: there is no roster, and the operator is the root. */
  readonly root: string | null;
  /** Employees who manage the department. */
  readonly managers: { readonly of: readonly string[]; readonly to: readonly string[] };
  /** Of what is written: a digest of all but its status, and who stands above the employees that it names. */
  readonly digest?: string | null;
  /** By employee whom it names: who stands above, nearest first. */
  readonly above?: Readonly<Record<string, readonly string[]>>;
}

/** What a workflow takes. */
export type WorkflowEvent =
  /** The next version, whole, as someone wrote it; `expectedVersion`: the newest one that they had read. */
  | (Stamp<WorkflowFacts> & {
      readonly type: 'definition.update';
      readonly definition: Json;
      readonly expectedVersion: number;
      /** The whole definition was sent, not a change of a part of it. */
      readonly whole?: boolean;
    })
  /** A person lends exactly this `version` their rights, or lets it never start. */
  | (Stamp<WorkflowFacts> & {
      readonly type: 'version.decide';
      readonly version: number;
      readonly decision: 'approve' | 'reject';
    })
  /** The machine to itself. */
  | (Stamp & { readonly type: 'version.written' });

export type WorkflowEventOf<Type extends WorkflowEvent['type']> = Extract<
  WorkflowEvent,
  { readonly type: Type }
>;

/** The evidence of everything up to this version is wanted. */
export interface EvidenceInput {
  readonly id: string;
  readonly version: number;
}
export interface EvidenceOutput {
  readonly version: number;
}

export function firstContext(input: WorkflowInput): WorkflowContext {
  const writer = input.by ?? operator;
  const by = callerName(writer);
  const { definition } = readingOf(input.definition, input.id);
  return {
    ...headOf(definition),
    id: input.id,
    version: 1,
    createdBy: by,
    createdAt: input.at,
    updatedBy: by,
    updatedAt: input.at,
    authority: authorityOfFirst(
      { definition, version: 1, by: writer, whole: true, ...knownOf(input.facts) },
      input.copies,
    ),
    evidence: { version: 0, fault: null },
  };
}

/** What facts say of what is written. */
export const knownOf = (facts: WorkflowFacts | undefined) => ({
  digest: facts?.digest ?? null,
  above: facts?.above ?? {},
});

/** What was written, in its normal form, with its faults. */
export const readingOf = (definition: unknown, id: string): ReadDefinition =>
  parseDefinition(definition, { stamp: { id, version: 1, createdBy: '', createdAt: '', updatedAt: '' } });

export function headOf(
  definition: WorkflowDefinition,
): Pick<
  WorkflowContext,
  | 'name'
  | 'title'
  | 'owner'
  | 'department'
  | 'runners'
  | 'concurrency'
  | 'trigger'
  | 'nodeCount'
  | 'edgeCount'
> {
  const { name, title, owner, department, runners, concurrency, nodes, edges } = definition;
  const trigger = nodes.find((node) => node.type === 'trigger');
  return {
    name,
    title,
    owner,
    department,
    runners,
    concurrency,
    trigger: trigger?.type === 'trigger' ? trigger.trigger : { kind: 'manual' },
    nodeCount: nodes.length,
    edgeCount: edges.length,
  };
}

/** The rows of a workflow by collection, each under the number of its version. */
export interface WorkflowRows {
  readonly versions: WorkflowDefinition;
  readonly authority: VersionAuthority;
}

export const authorityRow = ({ authority }: WorkflowContext) =>
  writeRow('authority', authority.version, { ...authority });

/** The row of a version: what a run is frozen to. */
export const versionRow = (
  definition: WorkflowDefinition,
  context: WorkflowContext,
  status: WorkflowStatus,
) =>
  writeRow('versions', context.version, {
    ...definition,
    id: context.id,
    version: context.version,
    status,
    createdBy: context.createdBy,
    createdAt: isoTime(context.createdAt),
    updatedAt: isoTime(context.updatedAt),
  } as never); // JSON by construction; an interface is no record to the compiler
