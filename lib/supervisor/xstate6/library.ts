/**
 * The members of XState 6 that are used here, written down: the host brings its own copy, and its names still move
 * from one alpha to the next. Tried with 6.0.0-alpha.52.
 */
export interface XState6 {
  createDurable(logic: object, adapter: object): DurableExecution;
  createActor(logic: unknown, options: { readonly input: unknown }): Actor6;
  initialTransition(logic: unknown, input: unknown): readonly [unknown, readonly unknown[]];
  isTypeSchema(schema: unknown): boolean;
  deliverEvent(source: unknown, target: unknown, event: { readonly type: string }): void;
  stopActor(actor: unknown): void;
  terminateActor(actor: unknown, termination: unknown): void;
}

/** Of `createDurable`: pure steps. */
export interface DurableExecution {
  initialTransition(input: unknown): readonly [Snapshot6, readonly TaggedEffect[]];
  transition(
    snapshot: Snapshot6,
    event: { readonly type: string },
  ): readonly [Snapshot6, readonly TaggedEffect[]];
}

export interface TaggedEffect {
  readonly effect: Effect6;
}

/** An effect as XState 6 hands it out; `kind` is `action`, `emit` or `builtin`. */
export interface Effect6 {
  readonly kind: string;
  readonly type: string;
  readonly id?: string;
  readonly delay?: number;
  readonly event?: { readonly type: string };
  readonly input?: unknown;
  readonly source?: Reference6;
  readonly target?: Reference6 | string;
  readonly actor?: Reference6;
  readonly params?: { readonly action: unknown; readonly args: readonly unknown[] };
}

export interface Reference6 {
  readonly id: string;
  readonly src?: unknown;
  readonly registryKey?: string;
}

export interface Timer6 {
  readonly id: string;
  readonly delay: number;
  readonly type: string;
  readonly event: { readonly type: string };
  readonly target: Reference6 | string;
}

export interface Snapshot6 {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly context: Readonly<Record<string, unknown>>;
  readonly children: Readonly<Record<string, Reference6>>;
  readonly timers?: Readonly<Record<string, Timer6>>;
  /** That it is in. */
  readonly nodes: readonly Node6[];
  can(event: { readonly type: string }): boolean;
}

export interface Machine6 {
  readonly id: string;
  readonly version?: string;
  readonly options: { maxIterations: number };
  readonly root: Node6;
  readonly schemas?: Schemas6;
  readonly sources: {
    readonly actors?: Readonly<Record<string, unknown>>;
    readonly actions?: Readonly<Record<string, (...args: unknown[]) => unknown>>;
  };
  initialTransition(input: unknown, scope: object): unknown;
  transition(snapshot: Snapshot6, event: { readonly type: string }, scope: object): unknown;
  getPersistedSnapshot(
    snapshot: Snapshot6,
    options: { readonly embedChildren: boolean },
  ): Record<string, unknown>;
  restoreSnapshot(persisted: object): Snapshot6;
}

export interface Node6 {
  readonly path: readonly string[];
  readonly ownEvents: readonly string[];
  readonly states: Readonly<Record<string, Node6>>;
  readonly invoke: readonly { readonly id: string; readonly src: unknown }[];
}

/** An actor of an execution that runs, as runtime operations are given it. */
export interface LiveActor6 {
  readonly address: string;
  /** Of this incarnation of it; only a handle of an actor elsewhere has none. */
  readonly sessionId?: string | undefined;
  /** A machine has a `root`. */
  readonly logic?: object;
  start(): unknown;
}

/** An action that a host executes. */
export interface LiveAction6 {
  exec(runtime: object): unknown;
}

interface Schemas6 {
  readonly input?: unknown;
  readonly events?: Readonly<Record<string, unknown>>;
}

/** An actor of XState's own, in which the body of async logic runs. */
export interface Actor6 {
  readonly system: { runtime?: object };
  getSnapshot(): { readonly status: string; readonly output?: unknown };
  subscribe(observer: { error(error: unknown): void; complete(): void }): unknown;
  start(): unknown;
  stop(): unknown;
}
