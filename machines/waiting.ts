/**
 * Something that an actor cannot go on without: a person's or an employee's word. Its kind says what it waits
 * for (`Kind.waitingFor`); the kernel keeps one row for each in the commit in which that changes.
 */
export type Waiting = {
  /** Names it among all that this actor waits for, e.g. the id of a tool permission. */
  readonly id: string;
  /** What is wanted: `permission`, `approval`, `gate`, `activation`, `version`, `budget`, `resume`, `silent`, `trust`, `move` … */
  readonly what: string;
  /** One line for a person. */
  readonly title: string;
  /** Who can end it: `operator` for a person, else the name of an employee. */
  readonly on: string;
  /** What the actor belongs to, where its routes name that too: the workflow of a run, the folder to trust. */
  readonly within?: string;
  /** Of a tool: the permission rule that "always" would keep. */
  readonly rule?: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** When it ends by itself; null: never. */
  readonly until: number | null;
};

export const titleCharsMax = 200;
