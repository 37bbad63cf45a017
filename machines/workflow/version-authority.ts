import { callerName, isTrusted, type Caller } from '../caller.js';
import { isSessionActor, type StepNode, type WorkflowDefinition } from '../graph/definition.js';

/**
 * With whose rights a version of a definition may act. One that a person wrote or approved lends that person's
 * rights, for exactly its steps, to those whom it lists. One that an agent wrote and that no one approved acts
 * with no more than its author and its starter both have; where it holds what an agent may never do unapproved, it
 * does not start before a person has approved exactly this version.
 */
export interface VersionAuthority {
  readonly version: number;
  /** `operator`, `device:<id>`, `session:<id>`. */
  readonly writtenBy: string;
  readonly state: 'approved' | 'unapproved' | 'pending_approval' | 'rejected';
  /** The person whose rights it lends. */
  readonly approvedBy: string | null;
  /** What an agent may not do in it unapproved: `the step "post" sends through a connector`. */
  readonly reasons: readonly string[];
  /** Of what is written, but for its status; null: not known. */
  readonly digest: string | null;
}

/** As callers see it. */
export type ShownAuthority = Omit<VersionAuthority, 'digest'>;

/** What is written, and what must be known to say who lends it rights. */
export interface Writing {
  readonly definition: WorkflowDefinition;
  readonly version: number;
  readonly by: Caller;
  /** The whole definition was sent, not a change of it. */
  readonly whole: boolean;
  readonly digest: string | null;
  /** By employee that the definition names: who stands above. */
  readonly above: Readonly<Record<string, readonly string[]>>;
}

/**
 * The authority of the version that is written now. A change of the status alone leaves it as it was. A person's
 * change of a part of what an agent wrote approves nothing: the rest may be what no one read.
 */
export function authorityOfVersion(
  { definition, version, by, whole, digest, above }: Writing,
  before?: VersionAuthority,
): VersionAuthority {
  if (before !== undefined && digest !== null && digest === before.digest) return { ...before, version };
  const writtenBy = callerName(by);
  if (isTrusted(by) && (before === undefined || whole || before.state === 'approved'))
    return { version, writtenBy, state: 'approved', approvedBy: writtenBy, reasons: [], digest };
  const employee = by.type === 'session' ? by.employee : null;
  const reasons =
    by.type === 'session'
      ? reserved(definition, employee, above)
      : [...new Set([...(before?.reasons ?? []), 'a part of it was changed, the rest is unapproved'])];
  return {
    version,
    writtenBy: by.type === 'session' ? writtenBy : (before?.writtenBy ?? writtenBy),
    state: reasons.length > 0 ? 'pending_approval' : 'unapproved',
    approvedBy: null,
    reasons,
    digest,
  };
}

/**
 * The authority of the first version of a workflow, `source` being that of the version that it copies. A person who
 * copies what no one approved has approved nothing: the copy stands where its source stands.
 */
export function authorityOfFirst(writing: Writing, source?: ShownAuthority): VersionAuthority {
  const own = authorityOfVersion(writing);
  if (source === undefined || source.state === 'approved' || own.state !== 'approved') return own;
  return { ...source, version: own.version, approvedBy: null, digest: own.digest };
}

/** What in this definition an agent of this employee may not do before a person has approved it. */
export function reserved(
  { nodes }: WorkflowDefinition,
  employee: string | null,
  above: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  const isBelow = (name: string): boolean =>
    employee !== null && (name === employee || above[name]?.includes(employee) === true);
  return nodes.flatMap((node): readonly string[] => {
    if (node.type === 'step') return stepReasons(node, isBelow);
    if (node.type !== 'trigger') return [];
    const { trigger } = node;
    if (trigger.kind === 'schedule') return ['it starts by the clock'];
    const listens = trigger.kind === 'todo-status-change';
    return listens && (trigger.filter.assignee === null || !isBelow(trigger.filter.assignee))
      ? ['it starts when the work items of others change']
      : [];
  });
}

function stepReasons(
  { id, actor, options }: StepNode,
  isBelow: (name: string) => boolean,
): readonly string[] {
  const step = `the step "${id}"`;
  if (actor.kind === 'http') return [`${step} sends a request`];
  if (actor.kind === 'connector-send') return [`${step} sends through a connector`];
  if (!isSessionActor(actor)) return [];
  return [
    ...(actor.kind === 'employee' && !isBelow(actor.ref)
      ? [`${step} is done by ${actor.ref}, who does not stand below its author`]
      : []),
    ...(options.session.mode === 'existing' ? [`${step} speaks in a session that is there already`] : []),
  ];
}
