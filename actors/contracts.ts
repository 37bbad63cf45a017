import type { AnyStateMachine, EventFromLogic, InputFrom, SnapshotFrom } from 'xstate';
import type { Authority } from '../machines/caller.js';
import type { ActorKey, Json, Stamp } from '../machines/outputs.js';
import type { NotInState, Refusal, RefusalCode, RefusalMeaning } from '../machines/refusals.js';
import type { Shape } from '../machines/shape.js';
import type { Waiting } from '../machines/waiting.js';
import type { Driver, Persisted } from './driver.js';
import type { Panel } from './panel.js';
import type { Supervision } from '../machines/supervisor/supervise.js';

/**
 * The contracts between a kind (a machine, its hands, its rules) and the kernel that runs it.
 * Interfaces and prose only; the kernel in lib/supervisor keeps every promise written here.
 */

/** What the kernel knows about an actor beside its snapshot. Times are epoch milliseconds. */
export interface Meta extends ActorKey {
  /** Grows by one with every committed event; 1 after creation. */
  readonly revision: number;
  /** When it was created. */
  readonly createdAt: number;
  /** When its last event was committed. */
  readonly updatedAt: number;
  /** Under whom it was created; null for one of its own. */
  readonly parent: ActorKey | null;
  /** Since when (`at`) and for which `reason` it takes no events: it failed too often, and a person may resume it. */
  readonly halted: { readonly at: number; readonly reason: string } | null;
}

/**
 * One list row: `index` is a list's name, `key` sorts within it (see `sortable`), `row` is what the list
 * shows.
 */
export interface IndexRow {
  /** Name of the list: `list(kind, { index })`. */
  readonly index: string;
  /** Place within the list, by its bytes; the same key may stand there for several actors. */
  readonly key: string;
  /** What `list` shows of the actor. Absent: null, only the place counts. */
  readonly row?: Json;
}

/** An event that might come next: whole, as a caller would send it. */
export interface CandidateMove {
  readonly event: { readonly type: string } & Readonly<Record<string, Json | undefined>>;
  /** The state it leads to, where the event alone says so. */
  readonly to?: string;
  /** Members that a caller must still fill in, e.g. `note`. */
  readonly needs?: readonly string[];
}

/** What the world looks like to `facts`: immutable values that a reload swaps whole. */
export type Facts = Readonly<Record<string, unknown>>;

/**
 * A kind of actor. Made with `defineKind`, which checks it and names each fault.
 *
 * The kernel's promise for one event: it stamps `at` and `by`, calls `facts`, then `policy` (who may), then lets
 * the machine step (when it may). A refusal of either is returned to the asker and nothing is written.
 * Otherwise record, rows, effects, messages and frames are written in one atomic, fsynced batch before any of
 * them becomes visible.
 */
export interface Kind<
  M extends AnyStateMachine = AnyStateMachine,
  View = Json,
  Name extends string = string,
  List extends IndexRow = IndexRow,
  Code extends string = string,
> {
  /** `[a-z][a-z0-9-]*` */
  readonly kind: Name;
  /** Version of machine and context; grows when either changes shape. From 1. */
  readonly version: number;
  /** The XState machine, made by `setup(…).createMachine(…)`: pure, with placeholders as actors. */
  readonly machine: M;
  /** What steps the machine, where that is not XState 5: see `troupe/xstate6`. */
  readonly driver?: Driver;
  /**
   * Version of `index` and `totals`, where they change and the kind's own version does not. Whenever one of the
   * two versions grows, all actors of the kind are listed and counted again, in the background.
   */
  readonly indexVersion?: number;
  /** Effects by the `src` under which the machine invokes them. */
  readonly effects?: Readonly<Record<string, Effect>>;
  /** `src` names that the machine invokes or spawns as durable child actors: src → kind. */
  readonly childKinds?: Readonly<Record<string, string>>;
  /**
   * Who may do this, and does what the event carries fit? Pure; asked once per event, before the step.
   * `undefined` = yes. In which states it may happen is the machine's to say, see `notInState`.
   */
  policy?(
    snapshot: SnapshotFrom<M>,
    event: EventFromLogic<M> & Stamp,
    authority: Authority,
  ): Refusal<RefusalCode | Code> | undefined;
  /**
   * Checked before the policy, refused with the path: schemas of zod, valibot, arktype or any other library of
   * the Standard Schema, synchronous. `schemas: { events: { add: z.object({ n: z.number() }) } }`
   */
  readonly schemas?: {
    /** Of the input as a caller gives it, without id and stamp. */
    readonly input?: StandardSchema;
    /** Of the members of events by type, without `type` and stamp. An event without one is not checked. */
    readonly events?: { readonly [Type in EventFromLogic<M>['type']]?: StandardSchema };
  };
  /** What codes of your own mean, beside the kernel's: `{ INSUFFICIENT: { status: 409, message: 'Not enough.' } }`. */
  readonly refusals?: Readonly<Record<string, RefusalMeaning>>;
  /**
   * Of an event that the policy allows and no state takes now: what it would have done, for the kernel's refusal,
   * which names the states that take it. A whole refusal stands in its place.
   */
  notInState?(
    snapshot: SnapshotFrom<M>,
    event: EventFromLogic<M> & Stamp,
  ): Refusal<RefusalCode | Code> | NotInState<RefusalCode | Code> | undefined;
  /** May an actor be created with this input (the machine's, stamp included)? Pure. */
  validateInput?(
    input: GivenInput<M> & Stamp & { readonly id: string },
  ): Refusal<RefusalCode | Code> | undefined;
  /**
   * What a decision must know of the world, as JSON; carried in `event.facts` and logged. `snapshot` is
   * absent at creation.
   */
  facts?(snapshot: SnapshotFrom<M> | undefined, event: { readonly type: string }, world: Facts): Json;
  /** What callers see. */
  view(snapshot: SnapshotFrom<M>, meta: Meta): View;
  /**
   * Small views of this actor as data, for its page in the inspector. Pure; asked when the page is looked at, and a
   * fault in it costs the page these panels and no more.
   */
  panels?(snapshot: SnapshotFrom<M>, meta: Meta): readonly Panel[];
  /** The lists that this actor appears in. Pure; diffed by the kernel at every commit. */
  index?(snapshot: SnapshotFrom<M>, meta: Meta): readonly List[];
  /**
   * What this actor cannot go on without, and on whom it waits. Pure; the kernel keeps one row for each in the
   * same commit, and `GET /api/attention` reads nothing else.
   */
  waitingFor?(snapshot: SnapshotFrom<M>, meta: Meta): readonly Waiting[];
  /**
   * Names under which this actor counts one each: totals without reading lists. Few names for many actors.
   * Pure; kept by the kernel in the same commit.
   */
  totals?(snapshot: SnapshotFrom<M>, meta: Meta): readonly string[];
  /**
   * Events that a caller might send now, for `why`: each is judged by `policy` as it stands. Without it `why`
   * judges bare event names.
   */
  moves?(snapshot: SnapshotFrom<M>, stamp: Stamp): readonly CandidateMove[];
  /** Who or what this actor waits for, as far as its kind knows; shown by `why`. */
  awaits?(snapshot: SnapshotFrom<M>, facts: Json | undefined): Json;
  /**
   * Members of events and inputs (by name, at any depth) whose text is kept out of the log and stands there
   * as hash and length.
   */
  readonly redacted?: readonly string[];
  /**
   * Members of events, input and context (by name, at any depth) that stay as they are in a bug bundle: words of
   * the machine (`status`, `decision`) and ids, without which a replay decides otherwise. Every other text is
   * blanked out.
   */
  readonly keptInBundles?: readonly string[];
  /**
   * Called on restore: what is wrong with this context, or undefined. Guards against snapshots of another
   * shape.
   */
  validateContext?(context: unknown): string | undefined;
  /**
   * Events that a person may send by hand from the inspector, with the members that each takes (`?`: may be
   * absent). Judged by `policy` like any other; without it none.
   */
  readonly operatorEvents?: { readonly [Type in EventFromLogic<M>['type']]?: Shape };
  /**
   * Events that begin new work: refused while the disk is almost full, when everything else still goes on.
   */
  readonly startsWork?: readonly EventFromLogic<M>['type'][];
  /**
   * Ended actors are removed from the store this long after their end, and only their log tells of them. For
   * kinds that have no rows of their own and whose ids never return. Without it they stay for ever.
   */
  readonly forgetAfterMs?: number;
  /** `migrate[v]` turns a version v snapshot into version v+1. */
  readonly migrate?: Readonly<Record<number, (persisted: Persisted) => Persisted>>;
  /** How failures of this kind's actors are met. Default: one_for_one, transient, 5 in 60 s. */
  readonly supervision?: Partial<Supervision>;
}

/** The part of https://standardschema.dev that is needed to check a value. */
export interface StandardSchema {
  /** How every such library is called: `vendor` names it, `validate` answers the value or the issues. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>;
  };
}

type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** What a machine is created with, as far as it says so. */
type GivenInput<M extends AnyStateMachine> = 0 extends 1 & InputFrom<M>
  ? any // oxlint-disable-line typescript/no-explicit-any -- of whatever machine
  : unknown extends InputFrom<M>
    ? Readonly<Record<string, unknown>>
    : InputFrom<M>;

/**
 * Where a machine's placeholder of `setup({ actors })` meets the world: it gets the `input` of the invoke, and what
 * it resolves with is the `output` of `onDone`. Rejections arrive as `onError` with `{name, message, code?}`.
 *
 * `Rows` are the rows of the actor by collection and `Event` the events that it takes: `defineKind` reads them off
 * the machine (`RowsOf`, `EventOf`), so that an effect written in its place has them already.
 * @example
 *   const probe: Effect<{ url: string }, { status: number }> = {
 *     guarantee: 'at-least-once',
 *     run: async ({ url }, { signal }) => ({ status: (await fetch(url, { signal })).status }),
 *   };
 */
// A record of effects mixes them: In and Out are unknown there, Rows and Event `any`; each effect states its own
// oxlint-disable typescript/no-explicit-any
export type Effect<In = unknown, Out = unknown, Rows = any, Event = any> =
  | AtLeastOnceEffect<In, Out, Rows, Event>
  | AtMostOnceEffect<In, Out, Rows, Event>;

/** Rows by collection of a machine that does not say which it writes: any collection. */
export type AnyRows = Readonly<Record<string, Json>>;
/** An event of whatever machine. */
type AnyEvent = { readonly type: string } & Readonly<Record<string, Json | undefined>>;
/** `any` stands for an effect of whatever machine: what it reads is JSON. */
type Otherwise<Given, Default> = 0 extends 1 & Given ? Default : Given;
/** Each event of a union without what the kernel stamps; as it is where it has none of that. */
export type Unstamped<Event, More extends PropertyKey = never> = Event extends unknown
  ? [Extract<keyof Event, keyof Stamp | More>] extends [never]
    ? Event
    : { [Member in keyof Event as Member extends keyof Stamp | More ? never : Member]: Event[Member] }
  : never;

/**
 * May run again after a crash, with the same `context.key`: the far side must be idempotent in it.
 * @example
 *   const charge: AtLeastOnceEffect<{ cents: number }, null> = {
 *     guarantee: 'at-least-once',
 *     run: ({ cents }, { key }) => bank.charge(cents, { idempotencyKey: key }),
 *   };
 */
export interface AtLeastOnceEffect<In = unknown, Out = unknown, Rows = any, Event = any> {
  /** Declares that a crash may run it a second time. */
  readonly guarantee: 'at-least-once';
  /** Again from the start after a crash. Must settle once `context.signal` has aborted. */
  run(input: In, context: EffectContext<Rows, Event>): Promise<Out>;
}

/**
 * Must never run twice (an engine's turn, a chat message). It awaits `context.checkpoint(data)` before it acts:
 * from then on, when the process dies, `recover` is called instead of `run`, with the last checkpoint, to clean up
 * and answer the honest outcome. An effect that died before its first checkpoint never acted and is simply run.
 * @example
 *   const send: AtMostOnceEffect<{ text: string }, 'sent' | 'unknown'> = {
 *     guarantee: 'at-most-once',
 *     run: async ({ text }, context) => {
 *       await context.checkpoint({});
 *       await chat.post(text);
 *       return 'sent';
 *     },
 *     recover: async () => 'unknown',
 *   };
 */
export interface AtMostOnceEffect<In = unknown, Out = unknown, Rows = any, Event = any> {
  /** Declares that a crash never runs it a second time: `recover` settles it. */
  readonly guarantee: 'at-most-once';
  /** Acts, once. Call `context.checkpoint` before the first thing that cannot be undone. */
  run(input: In, context: EffectContext<Rows, Event>): Promise<Out>;
  /**
   * Also called when the state was left while a dead process held the effect; then its outcome is only
   * logged.
   */
  recover(input: In, checkpoint: Json, context: EffectContext<Rows, Event>): Promise<Out>;
}

/**
 * What a running effect may use.
 * @example
 *   async function run({ prompt }: { prompt: string }, { signal, progress, rows }: EffectContext) {
 *     const said = await rows('messages', { last: 20 });
 *     return answerOf(prompt, said, { signal, onWord: (word) => progress('word', { word }) });
 *   }
 */
export interface EffectContext<Rows = any, Event = any> {
  /** Stable across restarts: `<kind>/<id>/<revision>.<index>`. The idempotency key for the outside. */
  readonly key: string;
  /** Kind and id of the actor that runs the effect. */
  readonly actor: ActorKey;
  /**
   * Aborts when the machine leaves the invoking state or the supervisor stops. The promise must still settle.
   */
  readonly signal: AbortSignal;
  /**
   * Why the signal aborted: `left` (state left), `stopping` (supervisor drains), `restarting` (the actor is
   * restarted) or `lost` (another process owns the home, and the effect: end what runs, write nothing).
   */
  readonly reason: () => 'left' | 'stopping' | 'restarting' | 'lost' | undefined;
  /** Send a durable event to the own actor; resolves once committed or refused, rejects where the actor failed at it. */
  send(event: Unstamped<Otherwise<Event, AnyEvent>>): Promise<void>;
  /**
   * Replace the durable checkpoint of the effect (pid, start time …); resolves after its commit. While the store cannot
   * write (a full disk, a repair) it waits; `rows` and `step` do so, too.
   */
  checkpoint(data: Json): Promise<void>;
  /** The last checkpoint of a run that a crash or a restart cut off; undefined where there was none. */
  readonly checkpointed: Json | undefined;
  /**
   * Of an at-least-once effect: run a part of it whose outcome is stored under this name (1 to 200 characters, one
   * meaning each) before it is answered. An effect that runs again after a crash is given the stored outcome, its
   * error too; a step that the crash cut off is run again. `await context.step('charge', () => charge(input))`
   *
   * Rejects with what the step threw, with a TypeError in an at-most-once effect or for what is not JSON.
   */
  step<Output extends Json | undefined | void>(
    name: string,
    run: () => Output | PromiseLike<Output>,
  ): Promise<Output>;
  /**
   * What an at-most-once effect began goes on without this process, which stops: its outcome here is dropped, and
   * `recover` is called at the next start with the last checkpoint. Nothing where the supervisor does not stop.
   */
  detach(): void;
  /** An ephemeral frame for watchers (`seq: null`): streaming deltas. Never stored, never replayed. */
  progress(event: string, payload: Json): void;
  /** Events that the machine sends to this effect while it runs (`sendTo('turn', …)`). Not durable. */
  onEvent(listener: (event: { readonly type: string }) => void): void;
  /** The youngest rows of a collection of the own actor, of those that `where` takes, oldest first. */
  rows<Collection extends keyof Otherwise<Rows, AnyRows> & string>(
    collection: Collection,
    options?: {
      /** At most so many, the youngest. */
      readonly last?: number;
      readonly where?: (row: Otherwise<Rows, AnyRows>[Collection]) => boolean;
    },
  ): Promise<readonly Otherwise<Rows, AnyRows>[Collection][]>;
}

/** Identity functions that check: see define-kind.ts for the checks of a kind. */
export type { ActorKey, Json, Stamp } from '../machines/outputs.js';
export type { Persisted } from './driver.js';
