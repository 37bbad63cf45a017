import { processTable } from '../../actors/engines/process/table.js';

/**
 * Does this process still run? A zombie does not: an ended agent whose gateway has ended too stays in the
 * table of processes until process 1 reaps it, which in some containers takes a moment, and answers signal 0
 * until then.
 */
export const isAlive = async (pid: number): Promise<boolean> =>
  (await processTable().startTime(pid)) !== undefined;
