import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What a process and its home weigh, and how long it did not answer. */
export interface Vitals {
  readonly rssMb: number;
  readonly diskMb: number;
  readonly files: number;
}

export async function vitalsOf(pid: number, home: string): Promise<Vitals> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const found = await readdir(home, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const each of found)
    if (each.isFile())
      bytes += await stat(join(each.parentPath, each.name)).then(
        ({ size }) => size,
        () => 0,
      );
  return {
    rssMb: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024),
    diskMb: Math.round(bytes / 2 ** 20),
    files: found.length,
  };
}

/** Asks `/healthz` ten times a second; what it waits for is what every client waits for. */
export class Pulse {
  readonly waitsMs: number[] = [];
  private timer: NodeJS.Timeout | undefined;

  begin(url: string): void {
    this.end();
    let isAsking = false;
    this.timer = setInterval(() => {
      if (isAsking) return;
      isAsking = true;
      const began = performance.now();
      fetch(`${url}/healthz`, { signal: AbortSignal.timeout(60_000) })
        .then((answer) => answer.arrayBuffer())
        .then(() => this.waitsMs.push(performance.now() - began))
        .catch(() => undefined) // it was killed
        .finally(() => (isAsking = false));
    }, 100);
  }

  end(): void {
    clearInterval(this.timer);
  }
}
