import { raise, sendParent, setup } from 'xstate';
import type { Driver } from '../../../actors/driver.js';
import { effect } from '../../../machines/outputs.js';
import { publicXState5 } from './public-step.js';
import { begin, events, persist, restore, step, takes } from './step.js';

/** XState 5 by its actor scope: two to three times as fast as by its public functions. */
export const scopedXState5: Driver = { major: 5, begin, step, takes, events, persist, restore };

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
