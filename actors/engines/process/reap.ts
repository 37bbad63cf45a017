import type { Json } from '../../../machines/outputs.js';
import { defaultGraces, terminate, type Graces } from './terminate.js';
import { bootName, machineName } from './machine.js';
import { processTable, type ProcessTable } from './table.js';

/**
 * What is written down about a child before and right after it is started; enough to find it after a crash of
 * ours.
 */
export interface SpawnNote {
  readonly spawnId: string;
  readonly tokenHash: string | null;
  readonly pid?: number;
  readonly startTime?: string;
  /** Where it runs; absent in notes from before homes could move. */
  readonly machine?: string;
  readonly boot?: string;
}

export type Reaped =
  | { readonly gone: true }
  | {
      readonly gone: false;
      readonly pid: number;
      /** Where only that machine can tell. */ readonly machine?: string;
    };

/** The note of a child on this machine. */
export const noteHere = (note: Omit<SpawnNote, 'machine' | 'boot'>): SpawnNote => ({
  ...note,
  machine: machineName(),
  boot: bootName(),
});

/**
 * After a crash of the gateway: end what a dead gateway left running, by its note, and confirm that it is
 * gone.
 *
 * Nothing is signalled that is not proved to be ours: the pid must have the noted start time *and* carry the
 * spawn id; a reused pid is left alone. Without a pid (we died between intent and note) the mark alone finds
 * the process. Of a child on another machine nothing is known here, least of all that it is gone.
 *
 * @example await reap({spawnId: 'a1', tokenHash: null, pid: 4711, startTime: 'b:99'}) // {gone: true}
 */
export async function reap(
  note: Json | undefined,
  options: { readonly table?: ProcessTable; readonly graces?: Graces } = {},
): Promise<Reaped> {
  const parsed = readNote(note);
  if (parsed === undefined) return { gone: true }; // the note comes before the spawn: nothing was started
  if (parsed.machine !== undefined && parsed.machine !== machineName())
    return { gone: false, pid: parsed.pid ?? 0, machine: parsed.machine };
  const table = options.table ?? processTable();
  const marked = await table.marked(parsed.spawnId);
  const groupId = await ownGroup(parsed, marked, table);
  const left = await terminate(
    { groupId, spawnId: parsed.spawnId },
    { table, graces: options.graces ?? defaultGraces, from: 'SIGTERM' },
  );
  if (left[0] !== undefined) return { gone: false, pid: left[0] };
  return (await isUnproved(parsed, table)) && parsed.pid !== undefined
    ? { gone: false, pid: parsed.pid }
    : { gone: true };
}

export function readNote(note: Json | undefined): SpawnNote | undefined {
  if (typeof note !== 'object' || note === null || Array.isArray(note)) return undefined;
  const { spawnId, tokenHash, pid, startTime, machine, boot } = note as {
    readonly [member: string]: Json | undefined;
  };
  if (typeof spawnId !== 'string' || spawnId === '') return undefined;
  return {
    spawnId,
    tokenHash: typeof tokenHash === 'string' ? tokenHash : null,
    ...(typeof pid === 'number' && Number.isInteger(pid) && pid > 1 ? { pid } : {}),
    ...(typeof startTime === 'string' ? { startTime } : {}),
    ...(typeof machine === 'string' ? { machine } : {}),
    ...(typeof boot === 'string' ? { boot } : {}),
  };
}

/** The noted group is ours when its leader is proved, or when one of its living members carries the mark. */
async function ownGroup(
  note: SpawnNote,
  marked: readonly number[],
  table: ProcessTable,
): Promise<number | undefined> {
  const { pid, startTime } = note;
  if (pid === undefined) return undefined;
  const now = await table.startTime(pid);
  if (now !== undefined) return now === startTime && marked.includes(pid) ? pid : undefined;
  const members = await table.members(pid);
  return members.some((member) => marked.includes(member)) ? pid : undefined;
}

/**
 * Same pid, same start, but without the mark: most likely ours with an overwritten environment. A person must
 * look.
 */
async function isUnproved(note: SpawnNote, table: ProcessTable): Promise<boolean> {
  return (
    note.pid !== undefined &&
    note.startTime !== undefined &&
    (await table.startTime(note.pid)) === note.startTime
  );
}
