import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Json, Persisted } from '../../../actors/contracts.js';
import { parentTarget, selfTarget, type Action, type Step } from '../../../actors/driver.js';
import { assertUnchanged, explained, freezeMembers, freezes } from './actor-state.js';
import { setOwn } from './codec.js';

/**
 * The only file that touches XState's actor-scope API. It calls the machine's public pure methods with a
 * scope of its own, so that a step computes and never acts: every action lands in a list that the kernel
 * interprets.
 *
 * The members of the stub system that begin with an underscore are internal to XState; its version is pinned
 * and spec/lib/supervisor/draft/step.spec.ts guards what is relied on here.
 */

/**
 * Microsteps of one step at most, on either major, where the machine's own `options.maxIterations` sets no other
 * bound. Ten thousand take a third of a second. XState 6 ends a step at 1,000 by itself, whatever is set.
 */
export const microstepsMax = 10_000;

/** First snapshot of a machine. Throws what the machine's context factory or entry actions throw. */
export function begin(machine: AnyStateMachine, input: unknown): Step {
  const outer = enter(machine);
  try {
    const snapshot = machine.getInitialSnapshot(scope as never, input) as AnyMachineSnapshot;
    if (snapshot.status === 'error') throw explained(snapshot.error);
    if (freezes) freezeMembers(snapshot.context as Context);
    return { snapshot: lean(shaped(snapshot)), actions: sink, taken: true };
  } finally {
    leave(outer);
  }
}

/** One macrostep. Throws what guards and assigners throw; the snapshot given is never changed. */
export function step(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: AnyEventObject): Step {
  const outer = enter(machine);
  const context = snapshot.context as Context;
  const copy = freezes ? { ...context } : undefined;
  try {
    const next = machine.transition(snapshot, event, scope as never) as AnyMachineSnapshot;
    if (copy !== undefined) {
      assertUnchanged(context, copy);
      if (next.context !== context) freezeMembers(next.context as Context, context);
    }
    return {
      snapshot: lean(next.context === snapshot.context ? next : shaped(next)),
      actions: sink,
      taken: transitions > 0 || next.status !== snapshot.status,
    };
  } catch (error) {
    if (copy !== undefined) assertUnchanged(context, copy);
    throw explained(error);
  } finally {
    leave(outer);
  }
}

/** Whether any state takes the event now, without stepping. Throws what guards throw. */
export const takes = (
  machine: AnyStateMachine,
  snapshot: AnyMachineSnapshot,
  event: AnyEventObject,
): boolean => machine.getTransitionData(snapshot, event).length > 0;

/** The events that its states name now. */
export const events = ({ _nodes }: AnyMachineSnapshot): readonly string[] =>
  (_nodes as readonly { readonly ownEvents: readonly string[] }[]).flatMap(({ ownEvents }) => ownEvents);

/** The same snapshot, in less memory: it may be kept for a long time, and there may be many. */
function lean(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
  // 150 bytes, and few machines have any
  if (snapshot.tags.size === 0) (snapshot as { tags: ReadonlySet<string> }).tags = noTags;
  return snapshot;
}

type Context = Readonly<Record<string, unknown>>;

const noTags: ReadonlySet<string> = new Set();

/**
 * The same snapshot, its context laid out again. XState's `assign` copies into `{}`, and V8 keeps an object
 * that grew so beyond a dozen members as a hash table: five times the memory, and slow in everything that
 * reads it. A spread of an object that is well laid out stays well laid out, and storing to members that are
 * there changes no layout.
 */
function shaped(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
  const context = snapshot.context as Record<string, unknown>;
  const members = Object.keys(context);
  if (members.length <= 12) return snapshot;
  let mould = moulds
    .get(members.length)
    ?.find((known) => known.members.every((member, n) => member === members[n]));
  if (mould === undefined) {
    mould = {
      members,
      empty: JSON.parse(`{${members.map((member) => `${JSON.stringify(member)}:null`).join()}}`) as Record<
        string,
        unknown
      >,
    };
    moulds.set(members.length, [mould, ...(moulds.get(members.length) ?? [])].slice(0, mouldsMax));
  }
  const copy: Record<string, unknown> = { ...mould.empty };
  for (const member of members) copy[member] = context[member];
  (snapshot as { context: unknown }).context = copy; // of this step's own making: no one else has seen it
  return snapshot;
}

interface Mould {
  readonly members: readonly string[];
  readonly empty: Record<string, unknown>;
}
/** By number of members; a few of each. */
const moulds = new Map<number, readonly Mould[]>();
const mouldsMax = 32;

/** A snapshot as plain data, ready for the codec. The context is shared with the snapshot, not copied. */
export function persist(machine: AnyStateMachine, snapshot: AnyMachineSnapshot): Persisted {
  const plain =
    isEmpty(snapshot.children as object) && isEmpty(snapshot.historyValue)
      ? { context: snapshot.context as Persisted['context'], historyValue: null }
      : (machine.getPersistedSnapshot(snapshot) as unknown as Pick<Persisted, 'context'> & {
          historyValue: Json;
        }); // XState types a persisted snapshot as opaque
  return {
    value: snapshot.value as Persisted['value'],
    context: plain.context,
    ...(snapshot.status === 'active' ? {} : { status: snapshot.status as 'done' | 'error' }),
    ...(snapshot.output === undefined ? {} : { output: snapshot.output as Json }),
    ...(isEmpty(snapshot.historyValue) ? {} : { historyValue: plain.historyValue }),
  };
}

/**
 * Back to a living snapshot. `persisted` must be the caller's own copy: XState revives references in place.
 * Throws on unknown states.
 */
export function restore(
  machine: AnyStateMachine,
  persisted: Persisted,
  children: Readonly<Record<string, string>>,
): AnyMachineSnapshot {
  const restored = machine.restoreSnapshot(
    storedForm(persisted, children),
    scope as never,
  ) as AnyMachineSnapshot;
  if (freezes) freezeMembers(restored.context as Context);
  return lean(restored);
}

/** What XState itself would have stored; children are placeholders that run nothing. */
export function storedForm(persisted: Persisted, children: Readonly<Record<string, string>>): never {
  const inert: Record<string, object> = {};
  for (const [id, src] of Object.entries(children)) {
    setOwn(inert, id, {
      src,
      syncSnapshot: false,
      snapshot: { status: 'active', output: undefined, error: undefined, input: undefined },
    });
  }
  return {
    status: 'active',
    output: undefined,
    error: undefined,
    historyValue: {},
    ...persisted,
    children: inert,
  } as never; // XState types a persisted snapshot as opaque
}
// One scope serves every step. A step is synchronous, but another may run inside it: an assigner or a guard that
// calls back into the supervisor steps other actors before its own step is over.
let sink: Action[] = [];
let transitions = 0;

interface Outer {
  readonly sink: Action[];
  readonly transitions: number;
}

/** Collect for a new step, and keep what the step around it has collected so far. */
function enter(machine: AnyStateMachine): Outer {
  const outer = { sink, transitions };
  bound(machine);
  sink = [];
  transitions = 0;
  return outer;
}

/** Set the bound of microsteps where the machine sets none. */
export function bound(machine: { readonly options: { maxIterations?: number } }): void {
  // By default XState turns in a circle of transitions for ever, and the process with it
  if (machine.options.maxIterations === Infinity) machine.options.maxIterations = microstepsMax;
}

/** The actions that XState's own pure functions hand out, as those of a step. */
export function asked(
  machine: AnyStateMachine,
  executable: readonly {
    readonly type: string;
    readonly params: unknown;
    readonly info: { readonly self: unknown };
  }[],
): readonly Action[] {
  const outer = enter(machine);
  try {
    for (const { type, params, info } of executable) {
      const { to } = (params ?? {}) as { readonly to?: unknown };
      record(type, to !== undefined && to === info.self ? { ...(params as object), to: selfTarget } : params);
    }
    return sink;
  } finally {
    leave(outer);
  }
}

function leave(outer: Outer): void {
  ({ sink, transitions } = outer);
}

const nothing = (): void => undefined;
const system = {
  _bookId: () => 'troupe',
  _register: nothing,
  _unregister: nothing,
  _set: nothing,
  _relay: nothing,
  _reverseKeyedActors: new Map(),
  get: nothing,
  getAll: () => ({}),
  inspect: nothing,
  _clock: { setTimeout: nothing, clearTimeout: nothing },
  _logger: nothing,
  scheduler: { schedule: nothing, cancel: nothing, cancelAll: nothing },
  getSnapshot: () => ({ _scheduledEvents: {} }),
  start: nothing,
  _sendInspectionEvent(event: { type: string; _transitions?: readonly unknown[] }) {
    if (event.type === '@xstate.microstep' && event._transitions !== undefined)
      transitions += event._transitions.length;
  },
};
const reference = (id: string): Record<string, unknown> => {
  const actor: Record<string, unknown> = {
    id,
    sessionId: id,
    system,
    send: nothing,
    getSnapshot: nothing,
    subscribe: nothing,
    on: nothing,
    _send: nothing,
  };
  actor['ref'] = actor;
  return actor;
};
/** Who stands above every actor here. */
export const parent = reference(parentTarget);
const self = { ...reference(selfTarget), _parent: parent };
const scope = {
  self,
  id: selfTarget,
  sessionId: selfTarget,
  system,
  logger: nothing,
  defer: nothing,
  stopChild: nothing,
  emit: nothing,
  actionExecutor: (action: { type: string; params: unknown }) => record(action.type, action.params),
};

function record(type: string, params: unknown): void {
  const given = params as Record<string, unknown>;
  switch (type) {
    case 'xstate.spawnChild': {
      const { src, id, input, systemId } = given;
      // Its id is resolved, the one in the parameters is not
      const child = given['actorRef'] as { readonly id: string } | undefined;
      if (typeof src !== 'string')
        throw new TypeError('an inline actor cannot be stored: name it in setup({actors}) and use the name');
      if (child === undefined) throw new TypeError(`setup({actors}) does not define "${src}"`);
      if (id === undefined)
        throw new TypeError(`the child "${src}" needs an id: a generated id does not survive a restart`);
      sink.push({ type: 'start', id: child.id, src, input, systemId: systemId as string | undefined });
      return;
    }
    case 'xstate.stopChild':
      if (params !== undefined) sink.push({ type: 'stop', id: String(given['id']) });
      return;
    case 'xstate.raise':
      // Without a delay XState has applied it already and lists it for information only.
      if (given['delay'] !== undefined) {
        sink.push({
          type: 'timer',
          id: nameOf(given['id']),
          event: given['event'] as AnyEventObject,
          delayMs: Number(given['delay']),
          target: selfTarget,
        });
      }
      return;
    case 'xstate.cancel':
      sink.push({
        type: 'cancel',
        id: String(typeof params === 'string' ? params : (given['sendId'] ?? given['id'])),
      });
      return;
    case 'xstate.sendTo': {
      const to = given['to'] as { id?: string } | string | undefined;
      const target = typeof to === 'string' ? to : String(to?.id ?? given['targetId']);
      const event = given['event'] as AnyEventObject;
      if (given['delay'] === undefined) sink.push({ type: 'send', target, event });
      else
        sink.push({ type: 'timer', id: nameOf(given['id']), event, delayMs: Number(given['delay']), target });
      return;
    }
    case 'xstate.emit':
      sink.push({ type: 'emit', event: given['event'] as AnyEventObject });
      return;
    case 'xstate.log':
      return;
    default:
      if (!type.startsWith('xstate.'))
        throw new TypeError(
          `the machine runs a custom action "${type}": machines decide, effects do; invoke an effect instead`,
        );
  }
}

const nameOf = (id: unknown): string | undefined => (id === undefined ? undefined : String(id));

function isEmpty(object: object | undefined): boolean {
  for (const _ in object) return false;
  return true;
}
