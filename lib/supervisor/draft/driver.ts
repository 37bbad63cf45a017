import {
  createActor,
  initialTransition,
  raise,
  sendParent,
  setup,
  transition,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from 'xstate';
import type { Driver } from '../../../actors/driver.js';
import { effect } from '../../../machines/outputs.js';
import { assertUnchanged, explained, freezeMembers, freezes } from './actor-state.js';
import { asked, begin, bound, events, parent, persist, restore, step, storedForm, takes } from './step.js';

/** XState 5 by its actor scope: two to three times as fast as by its public functions. */
export const scopedXState5: Driver = { major: 5, begin, step, takes, events, persist, restore };

/**
 * XState 5 by its public functions, for a version whose actor scope is not the one that step.ts knows. Two to three
 * times as slow: each of them makes an actor.
 */
export const publicXState5: Driver = {
  major: 5,
  begin(machine, input) {
    bound(machine);
    const [snapshot, executable] = initialTransition(logicOf(machine), new Beginning(input));
    if (snapshot.status === 'error') throw explained(snapshot.error);
    if (freezes) freezeMembers(snapshot.context as Context);
    return { snapshot, actions: asked(machine, executable), taken: true };
  },
  step(machine, snapshot, event) {
    bound(machine);
    const context = snapshot.context as Context;
    const copy = freezes ? { ...context } : undefined;
    try {
      const taken = takes(machine, snapshot, event);
      const [next, executable] = transition(logicOf(machine), snapshot, event);
      if (copy !== undefined) {
        assertUnchanged(context, copy);
        if (next.context !== context) freezeMembers(next.context as Context, context);
      }
      return {
        snapshot: next,
        actions: asked(machine, executable),
        taken: taken || next.status !== snapshot.status,
      };
    } catch (error) {
      if (copy !== undefined) assertUnchanged(context, copy);
      throw explained(error);
    }
  },
  takes,
  events,
  persist,
  restore(machine, persisted, children) {
    const snapshot = createActor(machine, {
      snapshot: storedForm(persisted, children),
    }).getSnapshot() as AnyMachineSnapshot;
    if (snapshot.value === undefined) throw snapshot.error;
    if (freezes) freezeMembers(snapshot.context as Context);
    return snapshot;
  },
};

type Context = Readonly<Record<string, unknown>>;

const logics = new WeakMap<AnyStateMachine, AnyStateMachine>();
function logicOf(machine: AnyStateMachine): AnyStateMachine {
  let logic = logics.get(machine);
  if (logic === undefined) logics.set(machine, (logic = withParent(machine)));
  return logic;
}

/**
 * The same logic for an actor that has a parent, whose messages the kernel delivers. XState's pure functions make an
 * actor of it at each call, whose first snapshot is nothing that the machine should compute: only an input that is
 * marked as `Beginning` does.
 */
function withParent(machine: AnyStateMachine): AnyStateMachine {
  const below = (inert: { self: { _parent?: unknown } }): never => {
    inert.self._parent = parent;
    return inert as never;
  };
  return Object.create(machine, {
    getInitialSnapshot: {
      value: (inert: never, given: unknown) =>
        given instanceof Beginning ? machine.getInitialSnapshot(below(inert), given.input) : unbegun,
    },
    transition: {
      value: (snapshot: AnyMachineSnapshot, event: AnyEventObject, inert: never) =>
        machine.transition(snapshot, event, below(inert)),
    },
  }) as AnyStateMachine;
}

class Beginning {
  constructor(readonly input: unknown) {}
}
const unbegun = { status: 'active', output: undefined, error: undefined };

/** The scope is not public: the installed version is asked once whether it is still what step.ts takes it for. */
const chosen = driverFor(scopedXState5);
/** What steps the machine of a kind that names no driver of its own. */
export const xstate5 = chosen.driver;
/** Why it goes by the public functions; undefined where it goes by the scope. */
export const scopeFault = chosen.fault;

/** The fast way where it comes to the same as the public one, else the public one, and why. */
export function driverFor(fast: Driver): { readonly driver: Driver; readonly fault?: string } {
  try {
    if (transcript(fast) === transcript(publicXState5)) return { driver: fast };
    return { driver: publicXState5, fault: 'its actor scope comes to something else' };
  } catch (error) {
    return { driver: publicXState5, fault: `its actor scope fails: ${(error as Error).message}` };
  }
}

/** What a few steps come to that use all that the actor scope must answer for. */
function transcript(driver: Driver): string {
  const machine = setup({ actors: { work: effect<null, null>() } }).createMachine({
    id: 'probe',
    context: { n: 0 },
    initial: 'idle',
    states: {
      idle: { on: { go: { target: 'busy', actions: sendParent({ type: 'going' }) } } },
      busy: {
        entry: raise({ type: 'late' }, { id: 'late', delay: 5 }),
        invoke: { id: 'work', src: 'work', input: null, onDone: 'idle' },
        after: { 10: 'idle' },
      },
    },
  });
  const first = driver.begin(machine, {});
  const busy = driver.step(machine, first.snapshot, { type: 'go' });
  const awake = driver.restore(machine, structuredClone(driver.persist(machine, busy.snapshot)), {
    work: 'work',
  });
  const ended = driver.step(machine, awake, {
    type: 'xstate.done.actor.work',
    actorId: 'work',
    output: null,
  });
  const unknown = driver.step(machine, ended.snapshot, { type: 'unknown' });
  return JSON.stringify(
    [first, busy, ended, unknown].map(({ snapshot, actions, taken }): unknown[] => [
      snapshot.value,
      actions,
      taken,
    ]),
  );
}
