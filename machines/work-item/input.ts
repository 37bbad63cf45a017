import type { Caller } from '../caller.js';

/** What a work item is created with. Plain JSON; times are epoch milliseconds. */

export type VerifyPolicy = {
  readonly mode: 'trust' | 'verify' | 'thorough';
  /** 1..20 */
  readonly maxRounds?: number;
  readonly verifier?: { readonly employee?: string; readonly engine?: string; readonly model?: string };
};

/** `input` of the machine; the kernel adds `id`, `at`, `by`, `facts`. */
export interface WorkItemInput {
  /** `TRP-7`: prefix and number. */
  readonly id: string;
  /** Epoch milliseconds of the creation. */
  readonly at: number;
  /** Who creates it. */
  readonly by?: Caller;
  /** With whose rights, where not with those of `by`. */
  readonly onBehalfOf?: Caller;
  /** The organisation, as of now. */
  readonly facts?: WorkItemFacts;
  /** One line. */
  readonly title: string;
  /** Markdown; null: none. */
  readonly body: string | null;
  /** What must hold when it is done; null: nothing is said. */
  readonly acceptance: string | null;
  /** Employee who works on it; null: no one. */
  readonly assignee: string | null;
  /** Null: of no department. */
  readonly department: string | null;
  /** 0 to 3; default 2. */
  readonly priority?: number;
  /** Whether and by whom attempts are reviewed; null: they are trusted. */
  readonly verifyPolicy: VerifyPolicy | null;
  /** Where it comes from: `api`, `session` … */
  readonly source: string;
  /** The source's own name of it; null: none. */
  readonly sourceRef: string | null;
  /** A caller's name: `operator`, `session:<id>` … */
  readonly createdBy: string;
  /** Work item that it is a part of; null: none. */
  readonly parentId?: string | null;
  /** With a parent: the item at the top of the tree, and how far below it this one hangs (1 to 3). */
  readonly rootId?: string | null;
  /** See `rootId`. */
  readonly depth?: number;
  /** Epoch milliseconds; null: never. */
  readonly dueAt?: number | null;
  /** In the order given. */
  readonly labels?: readonly string[];
}

/** What the roster says of a name. */
export type NamedEmployee = {
  /** It is an employee's. */
  readonly known: boolean;
  /** Theirs; null: they are of none, or unknown. */
  readonly department: string | null;
  /** An employee of a like name, for who misspelt it; null: none is like it. */
  readonly suggestion: string | null;
};

/**
 * What a decision must know of the organisation, judged at decision time by the kind's `facts`. Without a
 * roster everything is null or empty, and the operator is the (virtual) root. Callers are compared by their
 * employee.
 */
export type WorkItemFacts = {
  /** The root employee (COO); null: the operator is the root. */
  readonly root: string | null;
  /** Who stands above the item's owner, nearest first. To the nearest approvals are routed by default. */
  readonly managers: readonly string[];
  /** Employees of executive rank. */
  readonly executives: readonly string[];
  /**
   * About the employee whom the event names (assignee or target of an approval); null: no one, or there is no
   * roster.
   */
  readonly named: NamedEmployee | null;
  /** The same about the verifier whom the event names. Absent: none is named, or there is no roster. */
  readonly verifier?: Omit<NamedEmployee, 'department'>;
};
