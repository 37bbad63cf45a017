import { readdir, readFile, readlink, stat } from 'node:fs/promises';

/**
 * Counts what runs in a namespace of processes, where the system does not bound it: the superuser has no limit of
 * processes. Beyond the bound the first process of the namespace is killed, and the kernel ends all others with it,
 * however fast they multiply.
 */
export interface ProcessWatch {
  close(): void;
}

const everyMs = 250;

/** `watchProcesses(child.pid, 512, () => end('processes'))`: `pid` is the parent of the namespace's first process. */
export function watchProcesses(pid: number, processesMax: number, onMore: () => void): ProcessWatch {
  let isClosed = false;
  let timer: NodeJS.Timeout;
  const poll = async (): Promise<void> => {
    const first = await firstWithin(pid);
    const isOver = first !== undefined && (await countOf(first, processesMax)) > processesMax;
    if (isClosed) return;
    if (!isOver) return arm();
    kill(first);
    onMore();
  };
  const arm = (): void => {
    timer = setTimeout(() => void poll().catch(arm), everyMs);
  };
  arm();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

async function firstWithin(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  const [first] = children.trim().split(' ').filter(Boolean).map(Number);
  return first;
}

/** Threads, as the system's own limit counts them; counting ends where processes alone are too many. */
async function countOf(first: number, processesMax: number): Promise<number> {
  const within = `/proc/${first}/root/proc`;
  // until the sandbox is made this is the machine's own table, which knows us
  const isOurs = await readlink(`${within}/self`).then(
    () => true,
    () => false,
  );
  if (isOurs) return 0;
  const all = (await readdir(within).catch(() => [])).filter((name) => /^\d+$/.test(name));
  if (all.length > processesMax) return all.length;
  const threads = await Promise.all(
    all.map((name) =>
      stat(`${within}/${name}/task`).then(
        ({ nlink }) => nlink - 2,
        () => 0,
      ),
    ),
  );
  return threads.reduce((sum, count) => sum + count, 0);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone in between
  }
}
