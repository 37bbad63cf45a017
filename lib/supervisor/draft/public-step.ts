import {
  createActor,
  initialTransition,
  transition,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from 'xstate';
import type { Driver } from '../../../actors/driver.js';
import { assertUnchanged, explained, freezeMembers, freezes } from './actor-state.js';
import { asked, bound, events, parent, persist, storedForm, takes } from './step.js';

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
