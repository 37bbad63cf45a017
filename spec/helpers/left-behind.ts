import { readdir, readFile } from 'node:fs/promises';

/**
 * Living processes of this machine that were started for a session, whatever group they made for themselves.
 * Zombies do not count.
 */
export async function leftBehind(sessionId: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ') Z');
    if (environment.includes(`SVC_SESSION_ID=${sessionId}\0`) && !/\) [ZX]/.test(stat))
      found.push(Number(pid));
  }
  return found;
}
