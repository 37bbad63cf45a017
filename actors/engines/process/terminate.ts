import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessTable } from './table.js';

/**
 * Ending a child for good: signals go to its whole group and to every process that carries its mark, first
 * the polite ones, and it is over only when nothing of it is left. A child that forked away from its group is
 * found by the mark.
 */
export interface Graces {
  /** From SIGINT to SIGTERM, from SIGTERM to SIGKILL, and from the beginning to giving up. */
  readonly interruptMs: number;
  readonly terminateMs: number;
  readonly confirmMs: number;
}

export const defaultGraces: Graces = { interruptMs: 3_000, terminateMs: 3_000, confirmMs: 10_000 };

export interface Termination {
  readonly table: ProcessTable;
  readonly graces: Graces;
  /** SIGINT lets an agent write down its half of an answer; leftovers of an ended one start at SIGTERM. */
  readonly from: 'SIGINT' | 'SIGTERM';
}

/** What to end: the group, when it is known to be ours, and all that carry the mark. */
export interface Target {
  readonly groupId: number | undefined;
  readonly spawnId: string;
}

/** Signal until nothing is left. Answers the pids that could not be ended in time; empty when all is gone. */
export async function terminate(
  target: Target,
  { table, graces, from }: Termination,
): Promise<readonly number[]> {
  const began = performance.now();
  const steps: readonly (readonly [signal: NodeJS.Signals, graceMs: number])[] = [
    ...(from === 'SIGINT' ? [['SIGINT', graces.interruptMs] as const] : []),
    ['SIGTERM', graces.terminateMs],
  ];
  if ((await living(target, table)).length === 0) return [];
  for (const [signal, graceMs] of steps) {
    await send(target, signal, table);
    if (await goneWithin(target, graceMs, table)) return [];
  }
  // a child may fork while it is being killed, so SIGKILL is repeated until the time is up
  for (;;) {
    await send(target, 'SIGKILL', table);
    const leftMs = graces.confirmMs - (performance.now() - began);
    if (await goneWithin(target, Math.max(50, Math.min(250, leftMs)), table)) return [];
    if (leftMs <= 0) return living(target, table);
  }
}

async function goneWithin(target: Target, limitMs: number, table: ProcessTable): Promise<boolean> {
  const until = performance.now() + limitMs;
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 2, 100)) {
    // twice: a process that forks while the table is read can hide its child from one look
    if ((await living(target, table)).length === 0 && (await living(target, table)).length === 0) return true;
    const leftMs = until - performance.now();
    if (leftMs <= 0) return false;
    await delay(Math.min(waitMs, leftMs));
  }
}

/** The cheap question first: a group that answers ESRCH is gone and needs no look through the table. */
async function living(target: Target, table: ProcessTable): Promise<readonly number[]> {
  const members =
    target.groupId !== undefined && groupAnswers(target.groupId) ? await table.members(target.groupId) : [];
  return members.length > 0 ? members : table.marked(target.spawnId);
}

function groupAnswers(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function send(target: Target, signal: NodeJS.Signals, table: ProcessTable): Promise<void> {
  if (target.groupId !== undefined) signalQuietly(-target.groupId, signal);
  const marked = await table.marked(target.spawnId);
  // members of the group have had it already; a second SIGINT makes some agents drop what they were writing
  // down
  const members =
    marked.length === 0 || target.groupId === undefined ? [] : await table.members(target.groupId);
  for (const pid of marked) if (!members.includes(pid)) signalQuietly(pid, signal);
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone in between, or not ours to signal: the confirmation tells
  }
}
