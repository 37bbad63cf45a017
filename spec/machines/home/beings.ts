import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import { homeMachine, homePolicy, type HomeEvent } from '../../../machines/home/machine.js';
import { Life } from '../step.js';

/** Homes for specs. */
export const fresh = () =>
  new Life(homeMachine, { id: 'home' }, (_: SnapshotFrom<typeof homeMachine>, event: HomeEvent) =>
    homePolicy(event, authorityOf(event)),
  );
