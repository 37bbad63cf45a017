import type { RunStatus } from './step-run.js';

/** The chart's state in the API's word: a run that waits for room is shown as running, and queued. */
export const runStatus = (state: unknown): RunStatus =>
  state === 'queued' ? 'running' : (state as RunStatus);

export const isOver = (status: RunStatus): boolean => status !== 'running' && status !== 'parked';
