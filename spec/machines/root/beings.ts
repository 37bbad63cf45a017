import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import { rootMachine, rootPolicy, type RootEvent } from '../../../machines/root/machine.js';
import { Life } from '../step.js';

/** Root systems for specs. */
export const born = () =>
  new Life(rootMachine, {}, (_: SnapshotFrom<typeof rootMachine>, event: RootEvent) =>
    rootPolicy(event, authorityOf(event)),
  );
