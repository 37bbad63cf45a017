import type { Signal } from '@preact/signals';
import { ask } from '../../page/ask.js';
import type { Loaded } from '../../page/loaded.js';
import { useLoaded } from './live.js';
import type { MachineAnswer } from '../answers.js';

/** The machine of a kind, as data. */
export const useMachine = (kind: string): Signal<Loaded<MachineAnswer>> =>
  useLoaded(kind, (signal) =>
    ask<MachineAnswer>(`/api/inspect/machines/${encodeURIComponent(kind)}`, { signal }),
  );
