/** What the page reads of a run (`GET /api/workflow-definitions/:id/runs/:runId`). */
export interface Run {
  readonly runId: string;
  readonly title: string;
  readonly status: string;
  /** Beyond the concurrency of its workflow: it waits for another run to end. */
  readonly queued: boolean;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly steps: readonly Receipt[];
  readonly parked: {
    readonly nodeId: string;
    readonly gateKey: string;
    readonly kind: string;
    readonly description: string;
    readonly at: string;
    readonly approval: {
      readonly target: string | null;
      readonly canDecide: boolean;
      readonly escalatedAt: string | null;
    };
  } | null;
  readonly errors: readonly { readonly code: string; readonly message: string }[];
  readonly definitionSnapshot: {
    readonly nodes: readonly { readonly id: string; readonly type: string; readonly label: string }[];
    readonly edges: readonly {
      readonly from: string;
      readonly to: string;
      readonly kind: string;
      readonly lane: string | null;
    }[];
  } | null;
}

export interface Receipt {
  readonly nodeId: string;
  readonly label: string;
  readonly type: string;
  readonly status: string;
  readonly attempt: number;
  readonly round?: number;
  readonly [member: string]: unknown;
}

/** An attempt at a step, as `…/receipts` lists them; times are ISO-8601. */
export interface Attempt extends Receipt {
  readonly receipt: number;
  readonly at?: string;
  readonly dispatchedAt?: string;
  readonly settledAt?: string;
  readonly reason?: string;
  readonly detail?: string;
}

/** The API says `running` of a run that is queued; a person looks for the word. */
export const wordOf = ({ status, queued }: Pick<Run, 'status' | 'queued'>): string =>
  queued ? 'queued' : wordOfStep(status);

/** `parked` is the API's word for what waits until someone decides. */
export const wordOfStep = (status: string): string =>
  status === 'parked' ? 'waiting for a decision' : status;
