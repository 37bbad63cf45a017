import type {
  ActorLogic,
  AnyActorRef,
  AnyMachineSnapshot,
  EventObject as XStateEvent,
  Snapshot,
} from 'xstate';
import type { AnyKinds, EventOf, InputOf, KindNamed, ViewOf } from '../../actors/inference.js';
import type { Json } from '../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { ActorView, ActorViewOf, EventObject, Supervisor, AskOptions, Handle } from './contract.js';
import type { Kernel } from './kernel.js';
import type { ActorState } from './draft/actor-state.js';
import type { Requests } from './requests.js';

/** Which actor a child is, and what it is created with. */
export interface DurableInput<Input = Json> {
  /** Attach to this actor, or create it under this id. Default: a new id. */
  readonly id?: string;
  /** Input for its creation. */
  readonly input?: Input;
}

/** What `onSnapshot` and `getSnapshot()` of such a child show. */
export type DurableSnapshot<View = Json, Output = Json> = Snapshot<Output> & {
  /** As it was given. */
  readonly input: DurableInput<unknown>;
  /** Of the durable actor. */
  readonly id: string;
  /** The actor's last committed view; null until it is attached. */
  readonly view: View | null;
};

type Inward =
  | { readonly type: 'troupe.view'; readonly view: ActorView; readonly done: boolean; readonly output: Json }
  | { readonly type: 'troupe.failed'; readonly error: unknown };

/** When such a child is done, and with what. */
export interface AsActorOptions<View = Record<string, Json>, Output = Json, Actor = ActorView> {
  /**
   * When is the child done? Default: when its machine has ended. A session is never at its end: say
   * `({status}) => status === 'idle'`.
   */
  readonly done?: (view: View, actor: Actor) => boolean;
  /** What `onDone` gets. Default: the view. */
  readonly output?: (view: View, actor: Actor) => Output;
}

// This system is what XState's own logic creators answer; with anything narrower, setup({actors})
// would refuse it.
/**
 * A durable Troupe actor as XState logic: a host's own machine can `invoke` or `spawn` it like any child and
 * gets its done, error and snapshot events. The durable actor outlives the host; with the same `id` in the
 * input (or in a restored snapshot) the child attaches to it again instead of creating another.
 *
 *
 * Where the actor cannot be created or has failed, the child gets its error event; nothing throws.
 * @example
 *   const count = asActor(supervisor, 'counter', { done: (view) => view.total > 9 });
 *   setup({ actors: { count } }).createMachine({
 *     initial: 'counting',
 *     states: { counting: { invoke: { src: 'count', input: { id: 'c1' }, onDone: 'full' } }, full: {} },
 *   });
 */
export function asActor<
  Kinds extends AnyKinds,
  const Name extends Kinds[number]['kind'],
  Output = ViewOf<KindNamed<Kinds, Name>>,
>(
  supervisor: Supervisor<Kinds>,
  kind: Name,
  options?: AsActorOptions<ViewOf<KindNamed<Kinds, Name>>, Output, ActorViewOf<KindNamed<Kinds, Name>>>,
): ActorLogic<
  DurableSnapshot<ViewOf<KindNamed<Kinds, Name>>, Output>,
  EventOf<KindNamed<Kinds, Name>>,
  DurableInput<InputOf<KindNamed<Kinds, Name>>>,
  AnyActorRef['system']
>;
export function asActor(
  supervisor: Supervisor,
  kind: string,
  options: AsActorOptions = {},
): ActorLogic<DurableSnapshot, XStateEvent, DurableInput, AnyActorRef['system']> {
  const attached = new WeakMap<AnyActorRef, () => void>();
  return {
    getInitialSnapshot: (_scope, input) =>
      ({
        status: 'active',
        output: undefined,
        error: undefined,
        input: input ?? {},
        id: input?.id ?? supervisor.environment.ids.next(),
        view: null,
      }) as DurableSnapshot,
    transition(snapshot, event, scope) {
      if (snapshot.status !== 'active') return snapshot;
      if (event.type === 'xstate.stop') {
        attached.get(scope.self)?.();
        return { ...snapshot, status: 'stopped', output: undefined, error: undefined };
      }
      const inward = event as Inward;
      if (inward.type === 'troupe.failed')
        return { ...snapshot, status: 'error', output: undefined, error: inward.error };
      if (inward.type === 'troupe.view') {
        return inward.done
          ? { ...snapshot, view: inward.view.view, status: 'done', output: inward.output, error: undefined }
          : { ...snapshot, view: inward.view.view };
      }
      scope.defer(() => supervisor.handle(kind, snapshot.id).send(event as EventObject));
      return snapshot;
    },
    start(snapshot, scope) {
      if (snapshot.status !== 'active') return;
      let stopped = false;
      let rev = 0;
      let detach: (() => void) | undefined;
      const send = (event: Inward): void => {
        if (!stopped) scope.self.send(event as never);
      };
      const check = (actor: ActorView): void => {
        if (actor.revision < rev) return; // an older look that took longer
        rev = actor.revision;
        if (actor.status === 'error') {
          detach?.();
          return send({ type: 'troupe.failed', error: errorOf(supervisor, actor) });
        }
        const view = actor.view as Record<string, Json>;
        const done = options.done?.(view, actor) ?? actor.status === 'done';
        if (done) detach?.();
        send({ type: 'troupe.view', view: actor, done, output: options.output?.(view, actor) ?? actor.view });
      };
      attached.set(scope.self, () => {
        stopped = true;
        detach?.();
      });
      void attach(supervisor, kind, snapshot, check)
        .then((unsubscribe) => {
          detach = unsubscribe;
          if (stopped) unsubscribe();
        })
        .catch((error: unknown) => send({ type: 'troupe.failed', error }));
    },
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (snapshot) => snapshot as DurableSnapshot,
  };
}

/**
 * Create or find the durable actor, then follow its commits. Ends by itself with the actor or the supervisor.
 */
async function attach(
  supervisor: Supervisor,
  kind: string,
  { id, input }: DurableSnapshot,
  check: (actor: ActorView) => void,
): Promise<() => void> {
  const known = await supervisor.get(kind, id);
  const first =
    known ??
    (await supervisor.spawn(kind, {
      id,
      ...(input.input === undefined ? {} : { input: input.input as Json }),
    }));
  // Another host may have been quicker
  if (isRefusal(first) && first.code !== 'EXISTS') throw new Error(first.message, { cause: first });
  // Listen, then look: what is committed in between is seen by one of the two.
  const checkAgain = (): void => {
    void supervisor.get(kind, id).then(
      (actor) => {
        if (actor !== undefined) check(actor);
      },
      () => undefined,
    );
  }; // a supervisor that has stopped tells nothing more
  const subscription = supervisor.handle(kind, id).subscribe({ next: checkAgain, error: checkAgain });
  checkAgain();
  return () => subscription.unsubscribe();
}

/** The error that ended an actor, where this process has seen it. */
function errorOf(supervisor: Supervisor, { kind, id }: ActorView): Error {
  const { error } = (supervisor.handle(kind, id).getSnapshot() ?? {}) as { error?: { message?: unknown } };
  return new Error(
    typeof error?.message === 'string' ? error.message : `the ${kind} ${id} ended with an error`,
    { cause: error },
  );
}

/**
 * A durable actor in the shape of an XState actor reference: `useSelector`, `waitFor` and `toPromise` work on
 * it. `getSnapshot()` is the last commit; a handle that is subscribed to keeps its actor awake.
 */
type Observer = { next?(snapshot: unknown): void; error?(error: unknown): void; complete?(): void };

export class ActorHandle implements Handle {
  constructor(
    private readonly kernel: Kernel,
    private readonly requests: Requests,
    readonly kind: string,
    readonly id: string,
  ) {
    kernel.kinds.of(kind); // else its `send` would be lost without a word
    this.send = this.send.bind(this);
  }

  /** Fire and forget; what is refused is seen as a `refusal` frame. Never throws. */
  send(event: EventObject): void {
    this.requests.ask(this.kind, this.id, event).catch((error: unknown) => {
      this.kernel.fault(`"${event.type}" for ${this.kind} ${this.id} failed`, error);
    });
  }

  ask(event: EventObject, options?: AskOptions): Promise<ActorView | Refusal> {
    return this.requests.ask(this.kind, this.id, event, options);
  }

  /** The last commit of an awake actor; undefined while it sleeps (await `wake()` first). */
  getSnapshot(): AnyMachineSnapshot | undefined {
    return this.kernel.cells.find(this.kind, this.id)?.state?.snapshot;
  }

  /** Load the actor; its snapshot, or a refusal when there is none. */
  async wake(): Promise<AnyMachineSnapshot | Refusal<'NOT_FOUND' | 'DRAINING'>> {
    if (this.kernel.cells.isClosed) return refuse('DRAINING');
    const state = await this.kernel.cells.wake(this.kind, this.id);
    return state === undefined ? refuse('NOT_FOUND', { kind: this.kind, id: this.id }) : state.snapshot;
  }

  /**
   * As XState's own: called at every change from now on; an actor that has ended completes at once. One that
   * sleeps is woken, and what is found is told.
   */
  subscribe(observer: ((snapshot: unknown) => void) | Observer): { unsubscribe(): void } {
    const given: Observer = typeof observer === 'function' ? { next: observer } : observer;
    let listening = true;
    let rev = 0;
    const hear = (state: ActorState | undefined): void => {
      if (!listening || state === undefined || state.revision <= rev) return;
      rev = state.revision;
      this.notify(given, state);
    };
    const ignore = this.kernel.cells.listen(this.kind, this.id, hear);
    const cell = this.kernel.cells.find(this.kind, this.id);
    if (cell?.loaded !== true && !this.kernel.cells.isClosed)
      this.kernel.cells.wake(this.kind, this.id).then(hear, (error: unknown) => {
        this.kernel.fault(`${this.kind} ${this.id} could not be woken`, error);
      });
    else if (cell?.state !== undefined && cell.state.snapshot.status !== 'active')
      this.notify({ ...given, next: () => undefined }, cell.state);
    return {
      unsubscribe: () => {
        listening = false;
        ignore();
      },
    };
  }

  private notify(observer: Observer, state: ActorState | undefined): void {
    if (state === undefined) return;
    try {
      observer.next?.(state.snapshot);
      if (state.snapshot.status === 'done' || state.snapshot.status === 'stopped') observer.complete?.();
      if (state.snapshot.status === 'error') observer.error?.(state.snapshot.error);
    } catch (error) {
      this.kernel.fault(`an observer of ${this.kind} ${this.id} threw`, error);
    }
  }
}
