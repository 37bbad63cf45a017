import { readNote } from '../../actors/engines/process/reap.js';
import { machineName } from '../../actors/engines/process/machine.js';
import { processTable, residentBytes } from '../../actors/engines/process/table.js';
import type { Supervisor } from '../supervisor/contract.js';
import type { ActorKey, Json } from '../../machines/outputs.js';
import type { Work } from './answers.js';
import type { Workers } from '../worker/workers.js';
import { pulseOf } from './pulse.js';

/**
 * How it goes with the effects of an actor at this moment: what they said last, whether the processes that they noted
 * still live, and of a session where its turn runs and its place in the queue.
 */
export async function work(
  supervisor: Supervisor,
  actor: ActorKey,
  { placeInQueue, workers }: { readonly placeInQueue?: PlaceInQueue; readonly workers?: Listed },
): Promise<Work> {
  const notes = await supervisor.inspection.checkpoints(actor);
  const processes = await Promise.all(notes.map(processOf));
  const sessionId = actor.kind === 'session' ? actor.id : undefined;
  return {
    said: pulseOf(supervisor).said(actor) ?? null,
    place: (sessionId !== undefined && placeInQueue?.(sessionId)) || null,
    worker: sessionId === undefined ? null : await workerOf(sessionId, workers),
    processes: processes.flatMap((process) => process ?? []),
  };
}

type PlaceInQueue = (sessionId: string) => number | undefined;
type Listed = { readonly local?: Pick<Workers, 'list'> };

async function workerOf(sessionId: string, workers: Listed | undefined): Promise<Work['worker']> {
  for (const { name, state, pid, startedAt, turns } of (await workers?.local?.list()) ?? []) {
    const turn = turns.find((one) => one.sessionId === sessionId);
    if (turn === undefined) continue;
    const memoryBytes = await residentBytes(pid);
    return { name, state, pid, startedAt, since: turn.beganAt, memoryBytes };
  }
  return null;
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
