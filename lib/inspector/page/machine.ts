import type { Signal } from '@preact/signals';
import { ask } from './ask.js';
import { useLoaded, type Loaded } from './loaded.js';
import type { MachineAnswer } from '../answers.js';

/** The machine of a kind, as data. */
export const useMachine = (kind: string): Signal<Loaded<MachineAnswer>> =>
  useLoaded(kind, (signal) =>
    ask<MachineAnswer>(`/api/inspect/machines/${encodeURIComponent(kind)}`, { signal }),
  );
