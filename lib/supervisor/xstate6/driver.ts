import type { AnyEventObject } from 'xstate';
import type { Json, Persisted } from '../../../actors/contracts.js';
import {
  actionCallPrefix,
  parentTarget,
  selfTarget,
  type Action,
  type DrivenKind,
  type Driver,
  type Step,
} from '../../../actors/driver.js';
import { carried } from '../draft/codec.js';
import { assertUnchanged, explained, freezeMembers, freezes } from '../draft/actor-state.js';
import { bound } from '../draft/step.js';
import { nameOfAction } from './effects.js';
import type {
  DurableExecution,
  Effect6,
  Machine6,
  Node6,
  Snapshot6,
  TaggedEffect,
  Timer6,
  XState6,
} from './library.js';

/**
 * The only file that knows how XState 6 steps: over `createDurable`, whose transitions are pure and whose effects
 * come back as data. The kernel is the host: it keeps the clock of logical timers, runs what is invoked, and
 * delivers what is sent. Children are handles by address, in memory as after a sleep: the state of each is its
 * own durable actor's.
 */
export function driver6(xstate: XState6): Driver<Machine6, Snapshot6> {
  const executions = new WeakMap<Machine6, DurableExecution>();
  const executionOf = (machine: Machine6): DurableExecution => {
    const known = executions.get(machine);
    if (known !== undefined) return known;
    const made = xstate.createDurable(withParent(machine), adapter);
    bound(machine);
    executions.set(machine, made);
    return made;
  };
  return {
    major: 6,
    begin(machine, input) {
      const [first, effects] = executionOf(machine).initialTransition(input);
      if (freezes) freezeMembers(first.context);
      return stepOf(machine, first, effects, true);
    },
    step(machine, snapshot, event) {
      const from = event.type === timerEvent ? stampedTimer(machine, snapshot, event) : snapshot;
      const { context } = from;
      const copy = freezes ? { ...context } : undefined;
      try {
        const [next, effects] = executionOf(machine).transition(from, event);
        if (copy !== undefined) {
          assertUnchanged(context, copy);
          if (next.context !== context) freezeMembers(next.context, context);
        }
        return stepOf(machine, next, effects, next !== from || effects.some(isTaken));
      } catch (error) {
        if (copy !== undefined) assertUnchanged(context, copy);
        throw explained(error);
      }
    },
    takes: (_machine, snapshot, event) => snapshot.can(event),
    events: ({ nodes }) => nodes.flatMap(({ ownEvents }) => ownEvents),
    persist,
    restore,
    problems: problemsOf,
  };
}

/** How XState 6 is notified that a logical timer is due. */
const timerEvent = 'xstate.timer';

/** Nothing is executed through it: effects are taken as data. */
const adapter = {
  executeAction: () => undefined,
  waitForEvent: () => Promise.reject(new Error('the kernel delivers events')),
};

/**
 * The same logic for an actor that has a parent: `parent` in transitions is a reference whose messages the kernel
 * delivers to the actor's own parent, or drops where it has none.
 */
const withParent = (machine: Machine6): object =>
  Object.create(machine, {
    initialTransition: {
      value: (input: unknown, scope: object) => machine.initialTransition(input, below(scope)),
    },
    transition: {
      value: (snapshot: Snapshot6, event: { readonly type: string }, scope: object) =>
        machine.transition(snapshot, event, below(scope)),
    },
  }) as object;

const below = (scope: object): object => Object.defineProperty(scope, '_parent', { value: parent });
const nothing = (): void => undefined;
const parent: Record<string, unknown> = {
  id: parentTarget,
  address: parentTarget,
  sessionId: parentTarget,
  send: nothing,
  getSnapshot: nothing,
};
parent['ref'] = parent;

/** An event that was turned away at the border of the machine was not taken. */
const isTaken = ({ effect }: TaggedEffect): boolean => effect.type !== '@xstate.deadLetter';

function stepOf(
  machine: Machine6,
  snapshot: Snapshot6,
  effects: readonly TaggedEffect[],
  taken: boolean,
): Step<Snapshot6> {
  const actions = effects.flatMap(({ effect }) => actionOf(machine, effect) ?? []);
  // A child that was just created is an inert actor; from now on it is a handle by its address
  const created = effects.some(({ effect }) => effect.type === '@xstate.spawn');
  return { snapshot: created ? copied(machine, snapshot) : snapshot, actions, taken };
}

function actionOf(machine: Machine6, effect: Effect6): Action | undefined {
  if (effect.kind === 'emit') return { type: 'emit', event: effect.event as AnyEventObject };
  if (effect.kind === 'action') {
    const { args = [] } = effect.params ?? {};
    return {
      type: 'start',
      id: undefined,
      src: nameOfAction(machine, effect),
      input: args,
      systemId: undefined,
    };
  }
  switch (effect.type) {
    case '@xstate.spawn': {
      const { id, src, registryKey } = effect.actor as NonNullable<Effect6['actor']>;
      if (typeof src !== 'string')
        throw new TypeError(
          'an inline actor cannot be stored: name it in setup({ actors }) and use the name',
        );
      return { type: 'start', id, src, input: effect.input, systemId: registryKey };
    }
    case '@xstate.stop':
      return { type: 'stop', id: String(effect.actor?.id) };
    case '@xstate.cancel':
      return { type: 'cancel', id: String(effect.id) };
    case '@xstate.raise':
    case '@xstate.sendTo':
      if (effect.delay !== undefined) return timerOf(String(effect.id), effect.delay);
      if (effect.type === '@xstate.raise') return undefined; // applied already
      return { type: 'send', target: targetOf(effect), event: effect.event as AnyEventObject };
    default: // starts and ends, which the kernel sees for itself
      return undefined;
  }
}

const timerOf = (id: string, delayMs: number): Action => ({
  type: 'timer',
  id,
  event: { type: timerEvent, id },
  delayMs,
  target: selfTarget,
});

function targetOf({ source, target }: Pick<Effect6, 'source' | 'target'>): string {
  if (target === source) return selfTarget;
  return typeof target === 'string' ? target : String(target?.id);
}

/** What a timer raises is stamped as any event: it carries the time at which it fired. */
function stampedTimer(machine: Machine6, snapshot: Snapshot6, event: AnyEventObject): Snapshot6 {
  const { type: _type, id, ...stamp } = event as AnyEventObject & { readonly id: string };
  if (snapshot.timers?.[id] === undefined) return snapshot;
  const copy = copied(machine, snapshot);
  Object.assign(copy.timers?.[id]?.event ?? {}, stamp);
  return copy;
}

/** As it would be after a sleep. */
const copied = (machine: Machine6, snapshot: Snapshot6): Snapshot6 =>
  restore(
    machine,
    structuredClone(persist(machine, snapshot)),
    Object.fromEntries(Object.entries(snapshot.children).map(([id, { src }]) => [id, String(src)])),
  );

interface StoredTimer extends Omit<Timer6, 'target'> {
  readonly target: string;
}

/** What XState persists, without the children, which the kernel keeps, and with timers by the ids of targets. */
function persist(machine: Machine6, snapshot: Snapshot6): Persisted {
  const all = machine.getPersistedSnapshot({ ...snapshot, timers: {} }, { embedChildren: false });
  const { value, context, status, output, historyValue, ...rest } = all;
  for (const kept of ['children', 'timers', 'error']) delete rest[kept];
  const stored = Object.entries(snapshot.timers ?? {}).map(([id, timer]) => [id, storedTimer(timer)]);
  const extra = {
    ...(stored.length === 0 ? {} : { timers: Object.fromEntries(stored) as Record<string, Json> }),
    ...rest,
  };
  return {
    value: value as Json,
    context: context as Persisted['context'],
    ...(status === 'active' ? {} : { status: status as 'done' | 'error' }),
    ...(output === undefined ? {} : { output: output as Json }),
    ...(Object.keys(historyValue as object).length === 0 ? {} : { historyValue: historyValue as Json }),
    extra: carried(extra, 'a timer'),
  };
}

function storedTimer({ id, delay, type, event, target }: Timer6): StoredTimer {
  const { sessionId: _incarnation, ...plain } = event as typeof event & { readonly sessionId?: string };
  return { id, delay, type, event: plain, target: typeof target === 'string' ? target : target.id };
}

function restore(
  machine: Machine6,
  { value, context, status = 'active', output, historyValue = {}, extra }: Persisted,
  sources: Readonly<Record<string, string>>,
): Snapshot6 {
  const { timers = {}, ...rest } = (extra ?? {}) as {
    readonly timers?: Readonly<Record<string, StoredTimer>>;
  };
  const children = Object.entries(sources)
    .filter(([id]) => !id.startsWith(actionCallPrefix))
    .map(([id, src]) => [id, { address: `${machine.id}/${encodeURIComponent(id)}`, remote: true, src }]);
  const snapshot = machine.restoreSnapshot({
    output: undefined,
    error: undefined,
    ...rest,
    value,
    context,
    status,
    ...(output === undefined ? {} : { output }),
    historyValue,
    children: Object.fromEntries(children) as object,
    timers: {},
  });
  const set = Object.entries(timers).map(([id, timer]): [string, Timer6] => [
    id,
    { ...timer, target: referenceOf(snapshot, timer.target) },
  ]);
  Object.assign(snapshot, { timers: Object.fromEntries(set) });
  if (freezes) freezeMembers(snapshot.context);
  return snapshot;
}

/** A child that is gone keeps its name: what is sent to it later reaches nothing. */
const referenceOf = ({ children }: Snapshot6, target: string): Timer6['target'] =>
  target === 'self' ? target : target === parentTarget ? (parent as never) : (children[target] ?? target);

/** What is wrong with a kind whose machine is one of XState 6. */
export function* problemsOf(kind: DrivenKind<Machine6>, node: Node6 = kind.machine.root): Generator<string> {
  const where = node.path.length === 0 ? 'the root' : `state "${node.path.join('.')}"`;
  for (const { id, src } of node.invoke) {
    if (typeof src !== 'string' || src.startsWith('xstate.invoke.'))
      yield `${where} invokes inline logic: name it in setup({ actors })`;
    else if (kind.machine.sources.actors?.[src] === undefined)
      yield `${where} invokes "${src}", which setup({ actors }) does not define`;
    else if (kind.effects?.[src] === undefined && kind.childKinds?.[src] === undefined)
      yield `${where} invokes "${src}" (${id}), which is neither async logic, nor an effect, nor a child kind`;
  }
  for (const child of Object.values(node.states)) yield* problemsOf(kind, child);
}
