import { readdir, readFile } from 'node:fs/promises';
import { outputOf, ProgramError } from '../../start-program.js';
import { spawnMark } from './environment.js';

/**
 * What runs on this machine, as far as the end of a child needs it: is a process still the one that we
 * started, who is in its group, and which processes carry our mark wherever they hid. Zombies count as gone:
 * they run nothing, and where no init reaps them they would never go away.
 */
export interface ProcessTable {
  /**
   * When the process began, in words that no later process with the same pid can share; undefined when it is
   * gone.
   */
  startTime(pid: number): Promise<string | undefined>;
  /** Living processes of a group. */
  members(groupId: number): Promise<readonly number[]>;
  /**
   * Living processes that carry this spawn id, or one below it (`a.1` is below `a`), in their environment,
   * whatever their group.
   */
  marked(spawnId: string): Promise<readonly number[]>;
}

/** The table of this platform: /proc where there is one, `ps` elsewhere. */
export const processTable = (): ProcessTable => (process.platform === 'linux' ? procTable : psTable);

interface Stat {
  readonly state: string;
  readonly groupId: number;
  readonly startTicks: string;
}

export const procTable: ProcessTable = {
  async startTime(pid) {
    const stat = await readStat(pid);
    if (stat === undefined || isGone(stat.state)) return undefined;
    return `${await bootId()}:${stat.startTicks}`;
  },
  async members(groupId) {
    const found: number[] = [];
    for (const pid of await pids()) {
      const stat = await readStat(pid);
      if (stat !== undefined && stat.groupId === groupId && !isGone(stat.state)) found.push(pid);
    }
    return found;
  },
  async marked(spawnId) {
    const found: number[] = [];
    for (const pid of await pids()) {
      if (pid === process.pid || !(await carries(pid, spawnId))) continue;
      const stat = await readStat(pid);
      if (stat !== undefined && !isGone(stat.state)) found.push(pid);
    }
    return found;
  },
};

const isGone = (state: string): boolean => state.startsWith('Z') || state.startsWith('X');

async function pids(): Promise<readonly number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/**
 * The name of a program may hold spaces and brackets, so fields are counted from the last bracket: state is
 * field 3.
 */
async function readStat(pid: number): Promise<Stat | undefined> {
  const text = await readOfProcess(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, groupId, startTicks] = [fields[0], fields[5 - 3], fields[22 - 3]];
  if (state === undefined || groupId === undefined || startTicks === undefined) return undefined;
  return { state, groupId: Number(groupId), startTicks };
}

/** Processes of this machine that carry the mark of any agent, as far as `/proc` shows them to us. */
export async function markedProcesses(): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await pids().catch((): readonly number[] => [])) {
    const environment = await readOfProcess(`/proc/${pid}/environ`).catch(() => '');
    if (pid !== process.pid && environment.split('\0').some((entry) => entry.startsWith(`${spawnMark}=`)))
      found.push(pid);
  }
  return found;
}

async function carries(pid: number, spawnId: string): Promise<boolean> {
  const environment = await readOfProcess(`/proc/${pid}/environ`);
  return environment.split('\0').some((entry) => isMark(entry, spawnId));
}

const isMark = (entry: string, spawnId: string): boolean =>
  entry === `${spawnMark}=${spawnId}` || entry.startsWith(`${spawnMark}=${spawnId}.`);

/**
 * Empty for a process that is gone or someone else's. Any other failure (no file handles left) must not look
 * like "gone".
 */
async function readOfProcess(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return '';
    throw error;
  }
}

/** Resident memory of a process of this machine; null where the system does not say it in `/proc`, or it is gone. */
export async function residentBytes(pid: number): Promise<number | null> {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(await readOfProcess(`/proc/${pid}/status`))?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1_024;
}

let boot: Promise<string> | undefined;
/** Ticks count from boot, so without the boot's own id a process of an earlier boot could look like ours. */
function bootId(): Promise<string> {
  boot ??= readFile('/proc/sys/kernel/random/boot_id', 'latin1').then(
    (text) => text.trim(),
    () => 'boot',
  );
  return boot;
}

export const psTable: ProcessTable = {
  async startTime(pid) {
    const [line] = await ps(['-o', 'stat=,lstart=', '-p', String(pid)]);
    const match = /^(\S+)\s+(.+)$/.exec(line ?? '');
    return match === null || isGone(match[1] ?? '') ? undefined : match[2];
  },
  async members(groupId) {
    const rows = (await ps(['-A', '-o', 'pid=,pgid=,stat='])).map((line) => line.split(/\s+/));
    return rows
      .filter(([, group, state]) => Number(group) === groupId && !isGone(state ?? 'Z'))
      .map(([pid]) => Number(pid));
  },
  async marked(spawnId) {
    const lines = (await ps(['axeww', '-o', 'pid=,stat=,command='])).map((line) => line.split(/\s+/));
    return lines
      .filter(
        ([pid, state, ...words]) =>
          Number(pid) !== process.pid && !isGone(state ?? 'Z') && words.some((word) => isMark(word, spawnId)),
      )
      .map(([pid]) => Number(pid));
  },
};

async function ps(args: readonly string[]): Promise<readonly string[]> {
  const stdout = await outputOf('ps', args, {
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    timeoutMs: 60_000,
    bytesMax: 64 * 1024 * 1024,
  }).catch((error: unknown) => {
    // It exits with 1 when nothing matches, which is an answer; one that could not run must not look like "gone"
    if (error instanceof ProgramError && error.exitCode === 1) return '';
    throw error;
  });
  return stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
