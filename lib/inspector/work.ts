import { readNote } from '../../actors/engines/process/reap.js';
import { machineName } from '../../actors/engines/process/machine.js';
import { processTable } from '../../actors/engines/process/table.js';
import type { Supervisor } from '../supervisor/contract.js';
import type { ActorKey, Json } from '../../machines/outputs.js';
import type { Work } from './answers.js';
import { pulseOf } from './pulse.js';

/**
 * How it goes with the effects of an actor at this moment: what they said last, and whether the processes that
 * they noted still live.
 */
export async function work(
  supervisor: Supervisor,
  actor: ActorKey,
  placeInQueue: number | undefined,
): Promise<Work> {
  const notes = await supervisor.inspection.checkpoints(actor);
  const processes = await Promise.all(notes.map(processOf));
  return {
    said: pulseOf(supervisor).said(actor) ?? null,
    place: placeInQueue ?? null,
    processes: processes.flatMap((process) => process ?? []),
  };
}

/** Of another machine nothing is known here. */
async function processOf(note: Json): Promise<Work['processes'][number] | undefined> {
  const { pid, startTime, machine } = readNote(note) ?? {};
  if (pid === undefined) return undefined;
  if (machine !== undefined && machine !== machineName()) return { pid, isAlive: null, machine };
  const now = await processTable()
    .startTime(pid)
    .catch(() => null);
  return {
    pid,
    isAlive: now === null ? null : now !== undefined && (startTime === undefined || now === startTime),
    machine: null,
  };
}
